#pragma once
// The host compiler's command out of nvcc's dry run, taken apart once more: its text, its assembly, its object.

#include "compile/nvcc_commands.hpp"

#include <filesystem>
#include <optional>
#include <string_view>

namespace sagekit {

/// nvcc's one compile command in three: .cudafe1.cpp -> text -> assembly -> object. The first has all words, the others
/// those that are not the preprocessor's; they run in `folder` and name no other, so that no result does. Nothing when
/// the three would not make what the one does.
struct HostCommands {
  CommandLine preprocess, compile, assemble;
};
inline constexpr std::string_view k_host_unit = "host.cudafe1.cpp", k_host_stub = "host.cudafe1.stub.c",
                                  k_host_text = "host.ii", k_host_assembly = "host.s", k_host_fatbin = "host.fatbin";
std::optional<HostCommands> take_apart(const CommandLine& compile, const std::filesystem::path& folder);

/// Is the word for the preprocessor alone? Its effect is in the text. `separate`: its value is the next word.
bool is_for_preprocessor(std::string_view word, bool& separate);

/// The same commands with a unit and a stub that are not named after the last of the architectures.
NvccCommands with_host_names(NvccCommands commands);

}  // namespace sagekit
