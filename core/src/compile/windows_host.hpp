#pragma once
// The host's code of a .cu for Windows, by clang: its command in three, the GPU code it embeds.

#include "compile/host_commands.hpp"

#include <sagekit/plan.hpp>
#include <sagekit/spec.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// Core's headers for Windows (core/data/windows), as the shim that plans name.
std::vector<Shim> windows_shims();

/// Does clang make the step's host code, around GPU code that nvcc makes by Step::device_argv?
bool is_windows_host(const Step& step);

/// Stands for the GPU code while clang compiles: a file whose text the assembly then has.
inline constexpr std::string_view k_fatbin_place = "sagekit-place-of-gpu-code", k_fatbin_place_file = "host.place";

/// clang's one command as .cu -> text -> assembly -> object. The first has all words and runs where the source is; the
/// others run in `folder` and name no other. Nothing for a command that is not as the plan writes it.
std::optional<HostCommands> take_apart_clang(const CommandLine& whole, const std::filesystem::path& folder);

/// The assembly with the fatbin of that file in place of the text. Nothing unless the text is there once.
std::optional<std::string> with_fatbin_file(std::string_view assembly, std::string_view file);

/// Says in each entry of a fatbin that its host is Windows, as fatbinary does there; nothing else of it differs.
/// Nothing for what is no fatbin.
std::optional<std::string> with_windows_host(std::string fatbin);

}  // namespace sagekit
