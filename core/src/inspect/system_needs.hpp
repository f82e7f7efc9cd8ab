#pragma once
// What modules want of the system's libraries, and the oldest manylinux tag that has it.

#include <sagekit/inspect.hpp>
#include <sagekit/version_number.hpp>

#include <optional>
#include <string>
#include <vector>

namespace sagekit {

/// A symbol version that a module wants of the system's libraries.
struct SystemNeed {
  std::string version;                  ///< "GLIBC_2.17", "CXXABI_TM_1"
  std::optional<VersionNumber> number;  ///< of "GLIBC_2.17"; nothing of names
  std::optional<VersionNumber> level;   ///< the glibc of the oldest manylinux tag that has it; nothing = none has
  std::string symbol;                   ///< one that wants it; "" = the module does not say which
  std::string module, machine;

  bool is_glibc() const { return version.starts_with("GLIBC_"); }
  /// "GLIBC_2.32 for __libc_single_threaded"
  std::string text() const;
  /// Does it keep modules from more systems than `other`?
  bool is_stricter_than(const SystemNeed& other) const;
};

/// All versions of the system's libraries that modules want. The loader's own are the C library's, and those of
/// libraries that lie among the members are satisfied there.
std::vector<SystemNeed> system_needs(const std::vector<MemberFacts>& members);

/// The need that decides the tag; of equal ones glibc's, then the first. Null: there is none.
const SystemNeed* strictest(const std::vector<SystemNeed>& needs);

}  // namespace sagekit
