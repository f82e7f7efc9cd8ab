#pragma once
// Which wheel of a project's page a tree is made from.

#include "index/package_index.hpp"
#include "toolchain/lock.hpp"

#include <sagekit/naming.hpp>
#include <sagekit/version_number.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace sagekit {

/// A wheel of a page, its file name read.
struct WheelChoice {
  IndexFile file;
  WheelName name;
  VersionNumber version;  ///< the public part
  std::string local;      ///< "cu129" of "2.8.0+cu129"; "" = none
};

/// The wheels of a page that are for a platform ("linux_x86_64", "win_amd64") or for any, of released versions in
/// `range`, not yanked; best first: newest version, highest build number, plain CPython tags before free-threaded ones,
/// newest Python.
std::vector<WheelChoice> wheels_for(const std::vector<IndexFile>& page, std::string_view platform,
                                    const VersionRange& range);

/// The very file that the lock names, yanked or not. PRV006 when the page has none of that name.
Result<WheelChoice> pinned_wheel(const std::vector<IndexFile>& page, const LockedFile& pin);

/// "nvidia-cuda-nvcc==13.0.88.*; (sys_platform == ...) and extra == 'nvcc'" -> {"nvidia-cuda-nvcc", "==13.0.88.*"}:
/// the first requirement of the project; its marker is not looked at. Nothing when it is not pinned.
std::optional<VersionRange> pinned_version(const std::vector<std::string>& requires_dist, std::string_view project);

}  // namespace sagekit
