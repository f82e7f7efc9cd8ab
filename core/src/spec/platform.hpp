#pragma once
// Platforms as matrices name them.

#include <string_view>

namespace sagekit {

/// The platform of wheels for Windows.
inline constexpr std::string_view k_windows_platform = "win_amd64";
/// Whose GPU code modules for Windows have, and where they are cross-built: the same CPU, by the nvcc that is at hand.
inline constexpr std::string_view k_windows_device = "linux_x86_64";

/// "x86_64" of "linux_x86_64"
inline std::string_view cpu_of_platform(std::string_view platform) { return platform.substr(platform.find('_') + 1); }

inline bool is_windows(std::string_view platform) { return platform.starts_with("win"); }

}  // namespace sagekit
