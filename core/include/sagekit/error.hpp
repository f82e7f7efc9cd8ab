#pragma once
// Errors are values. `Result<T>` says "could not be done"; `Diagnostics` (diagnostic.hpp) say what is wrong with the
// user's input or artifact. Nothing throws out of core.

#include <expected>
#include <string>
#include <utility>

namespace sagekit {

/// What kind of failure this is. The host maps each to one documented exit code.
enum class ErrorKind {
  failed,       ///< the work failed: a step, a finding, an unreadable artifact (exit 1)
  usage,        ///< bad flag, config, spec, plugin, profile, arch list, wrong source (exit 2)
  machine,      ///< this machine cannot: toolchain missing or too old, no space (exit 3)
  no_match,     ///< a selection that matches nothing (exit 4)
  bug,          ///< a broken promise inside sagekit (exit 70)
  interrupted,  ///< stopped by the user (exit 130)
};

/// One failure in the four parts every message has: what, where, why (both in `message`), what to do (`hint`).
struct Error {
  ErrorKind kind = ErrorKind::failed;
  std::string code;     ///< stable, documented, such as "SRC003"
  std::string message;  ///< what failed, on what, and why; one sentence, no trailing period
  std::string where;    ///< file, cell or step it is about; may be empty
  std::string hint;     ///< what to do now; may be empty

  bool operator==(const Error&) const = default;
};

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

/// `return fail(ErrorKind::machine, "TCH002", "no nvcc 12.9 on this machine", "install ...");`
inline std::unexpected<Error> fail(ErrorKind kind, std::string code, std::string message, std::string hint = {},
                                   std::string where = {}) {
  return std::unexpected<Error>(Error{kind, std::move(code), std::move(message), std::move(where), std::move(hint)});
}

}  // namespace sagekit
