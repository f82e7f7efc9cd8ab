#pragma once
// The order of PEP 440 versions, and which of them a list of version specifiers allows.

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// A version taken apart, in PEP 440's order: "2.10.0.dev20251101+cu130" before "2.10.0", and that before
/// "2.10.0+cu130".
struct PythonRelease {
  std::vector<long long> release;  ///< without trailing zeros
  long long epoch = 0;
  int pre_phase = 3;                       ///< -1 a bare dev release, 0 alpha, 1 beta, 2 candidate, 3 none
  long long pre = 0, post = -1, dev = -1;  ///< -1 = none
  std::vector<std::string> local;

  /// Nothing for what is no PEP 440 version, or has a number beyond 18 digits.
  static std::optional<PythonRelease> parse(std::string_view text);
  bool is_prerelease() const { return pre_phase < 3 || dev >= 0; }
  PythonRelease without_local() const;
  std::strong_ordering operator<=>(const PythonRelease& other) const;
  bool operator==(const PythonRelease& other) const { return (*this <=> other) == std::strong_ordering::equal; }
};

/// Does "==2.11.*,!=2.11.1" allow a version that is installed? Pre-releases count, as for what is installed already
/// (packaging: `contains(version, prereleases=True)`). Nothing when either cannot be read.
std::optional<bool> specifiers_allow(std::string_view specifiers, std::string_view version);

/// The same of some release of a minor version "3.12", where which one is not known.
std::optional<bool> specifiers_allow_minor(std::string_view specifiers, const std::string& minor);

}  // namespace sagekit
