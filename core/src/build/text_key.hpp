#pragma once
// Keys of what compilers make of a preprocessed text: equal text through equal programs with equal words is an equal
// result, whatever arch list, header or torch made the text.

#include "build/symbols.hpp"
#include "compile/nvcc_commands.hpp"

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
/// The same before cudafe++, by the text that it reads, its words and the host compiler's, and the stub that it lays
/// the launches beside. `argv`: the step's, all of whose tools and headers count here.
std::string host_source_key(const SymbolTable& symbols, const std::vector<std::string>& argv, const CommandLine& words,
                            std::string_view text, std::string_view stub, const Places& places);
std::string host_text_key(const SymbolTable& symbols, const std::string& cxx, const CommandLine& compile,
                          std::string_view text, const Places& places);

}  // namespace sagekit
