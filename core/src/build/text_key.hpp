#pragma once
// Keys of what compilers make of a preprocessed text: equal text through equal programs with equal words is an equal
// result, whatever arch list, header or torch made the text.

#include "build/nvcc_commands.hpp"
#include "build/symbols.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sagekit {

/// Of the GPU code that these commands make in `folder`. `nvcc`: its symbol.
std::string device_text_key(const SymbolTable& symbols, const std::string& nvcc, const DeviceCommands& device,
                            const std::filesystem::path& folder);

/// Of the assembly that `compile` makes of the host's text. `cxx`: the compiler's symbol. `places`: folders of this run
/// and machine, and what is said for them.
using Places = std::vector<std::pair<std::filesystem::path, std::string>>;
std::string host_text_key(const SymbolTable& symbols, const std::string& cxx, const CommandLine& compile,
                          std::string_view text, const Places& places);

}  // namespace sagekit
