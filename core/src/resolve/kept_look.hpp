#pragma once
// What was read of a wheel's file is not read again while the file stays: an install judges 130 MB that pip reads
// anyway.

#include "resolve/traits.hpp"

#include <optional>
#include <string>

namespace sagekit {

/// One wheel here, looked into for one machine.
class KeptLook {
 public:
  /// Everything that decides what a look finds: this sagekit, the file, the checksums and attestations beside it, what
  /// is known of it before, the plugins and the machine's torch.
  KeptLook(const Candidate& candidate, const Traits& before, const Target& target, const ResolveOptions& options);

  /// What was found the last time; nothing when anything of it is another now.
  std::optional<Traits> find() const;
  /// A store that is not there is not begun, and one that takes nothing keeps nothing.
  void keep(const Traits& after) const;

 private:
  std::filesystem::path m_file;  ///< empty = nothing is kept
  std::string m_key;
  WheelName m_name;
  bool m_has_cases = false;
};

}  // namespace sagekit
