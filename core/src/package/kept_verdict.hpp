#pragma once
// What was judged is not judged again: a build keeps, beside its record, the wheel that was made of it and the report.

#include <sagekit/package.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace sagekit {

struct KeptVerdict {
  std::string wheel;   ///< file name
  std::string sha256;  ///< of its bytes
  std::uint64_t size_bytes = 0;
  std::string stamp;  ///< of the file, when it got its name
  WheelReport report;
};

/// All that a verdict depends on but the build's own record: this sagekit, the plugin, the revision, the naming scheme,
/// the Pythons and torches that it is judged with, and the environment of those Pythons. Nothing when there is
/// something that no key can hold: what the GPU of this machine says, or a sagekit whose own file cannot be found.
std::optional<std::string> verdict_key(std::string_view plugin_sha256, const Revision& revision,
                                       const PackageOptions& options);

/// Nothing when there is none, it is of another key, or it cannot be read.
std::optional<KeptVerdict> find_verdict(const CellBuild& build, const std::string& key);

/// A store that takes nothing keeps nothing.
void keep_verdict(const CellBuild& build, const std::string& key, const KeptVerdict& kept);

}  // namespace sagekit
