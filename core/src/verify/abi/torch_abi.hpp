#pragma once
// What a module uses of torch: the C functions that keep their ABI, or the C++ that does not.

#include "verify/subject.hpp"

#include <sagekit/version_number.hpp>

#include <optional>
#include <string>
#include <vector>

namespace sagekit {

struct TorchUse {
  std::vector<std::string> stable;     ///< C functions of the stable interface, sorted
  std::vector<std::string> unstable;   ///< symbols of c10, at, torch and caffe2, and of torch's Python library, sorted
  std::optional<VersionNumber> since;  ///< the first torch that has all of `stable`
  std::string newest;                  ///< one of `stable` that needs that torch
  bool any() const { return !stable.empty() || !unstable.empty(); }
  /// Built with the stable ABI alone: it runs with every torch from `since` on.
  bool is_stable() const { return !stable.empty() && unstable.empty(); }
};

/// Symbols that other libraries of the wheel bring are left out, and weak ones.
TorchUse torch_use(const Subject& subject, const MemberFacts& member);

/// Does any module use what torch may change with each minor release? Only then a Requires-Dist must pin it.
bool needs_torch_pin(const Subject& subject);

/// std::string as GCC's C++ library had it before 5 ("Ss"), and since ("std::__cxx11"), in symbols of torch.
bool wants_old_strings(const std::string& symbol);
bool wants_new_strings(const std::string& symbol);

/// Which known torch releases have all of `symbols`; nothing when none of these tells them apart.
struct TorchFingerprint {
  std::vector<VersionNumber> fits;
  /// The symbol that a release lacks; nothing: it has all, or it is not known.
  std::optional<std::string> missing_in(const VersionNumber& release) const;
  std::vector<std::pair<VersionNumber, std::string>> lacks;  ///< the releases that do not fit, each with one symbol
};
std::optional<TorchFingerprint> torch_fingerprint(const std::vector<std::string>& symbols);

/// The oldest torch that the wheel says it is for: its pin, else the lower bound of Requires-Dist.
std::optional<VersionNumber> oldest_torch(const Subject& subject);

}  // namespace sagekit
