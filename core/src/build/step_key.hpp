#pragma once
// What a step's result depends on and is known before it runs, part by part: together they are its key in the store.

#include "build/device_action.hpp"
#include "build/file_hashes.hpp"
#include "build/symbols.hpp"
#include "source/prepared_source.hpp"

#include <sagekit/error.hpp>
#include <sagekit/plan.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace sagekit {

/// (what it is, its value), both for people: "tool {cxx-linux_x86_64}", "input {source}/csrc/a.cu".
using KeyParts = std::vector<std::pair<std::string, std::string>>;

std::string key_of(const KeyParts& parts);
/// What of `now` has another value in `before`, is new, or is gone.
std::vector<std::string> changed_parts(const KeyParts& before, const KeyParts& now);

/// Makes keys. A compiler's reading of the clock is not in them: a record says whether it matters
/// (ActionRecord::epoch).
class StepKeys {
 public:
  /// `made`: the hash of an input that another step makes; nothing when none makes it.
  using MadeInput = std::function<std::optional<std::string>(const std::string& input)>;

  StepKeys(const SymbolTable& symbols, const PreparedSource& source, std::string epoch, FileHashes& files,
           std::function<std::filesystem::path(const std::string&)> real_path, MadeInput made)
      : m_symbols(symbols),
        m_source(source),
        m_epoch(std::move(epoch)),
        m_files(files),
        m_real_path(std::move(real_path)),
        m_made(std::move(made)) {}

  /// Of what `argv` makes. What the fallback argv would make has a key of its own, with both: an object of the lean
  /// headers depends on nothing that only the fallback reads. Errors: SRC008 (usage), an input is not in the source.
  Result<KeyParts> action(const Step& step, bool fallback) const;
  /// Of GPU code: of the source, of what nvcc is told, and of nothing that is the host CPU's or Python's. What is made
  /// for another CPU than `own_platform` has a key of its own: it may use what this machine's CPU made, not the other
  /// way.
  Result<KeyParts> device(const DeviceAction& action, const std::string& own_platform) const;

 private:
  Status add_inputs(KeyParts& parts, const Step& step) const;

  const SymbolTable& m_symbols;
  const PreparedSource& m_source;
  std::string m_epoch;
  FileHashes& m_files;
  std::function<std::filesystem::path(const std::string&)> m_real_path;
  MadeInput m_made;
};

}  // namespace sagekit
