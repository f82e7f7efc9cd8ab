#pragma once
// Keys of what compilers make of a preprocessed text: equal text through equal programs with equal words is an equal
// result, whatever arch list, header or torch made the text.

#include "build/step_context.hpp"
#include "build/symbols.hpp"
#include "compile/nvcc_commands.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sagekit {

/// Folders of this run and machine, and what is said for them. What has one of them in it is nobody else's.
using Places = std::vector<std::pair<std::filesystem::path, std::string>>;
/// Those of every step: the folder of these commands, the work folder, the source, nvcc's own.
Places places_of(const StepContext& context, const NvccCommands& commands);
/// Adds the folders that -ffile-prefix-map gives another name: no result has their own.
void add_mapped_places(const CommandLine& argv, Places& places);
bool names_a_place(std::string_view text, const Places& places);

/// Of the GPU code that these commands make. `nvcc`: its symbol.
std::string device_text_key(const SymbolTable& symbols, const std::string& nvcc, const DeviceCommands& device,
                            const Places& places);

/// Of the assembly that `compile` makes of the host's text. `cxx`: the compiler's symbol.
std::string host_text_key(const SymbolTable& symbols, const std::string& cxx, const CommandLine& compile,
                          std::string_view text, const Places& places);

/// The same before cudafe++, by the text that it reads, its words and the host compiler's, and the stub that it lays
/// the launches beside. `argv`: the step's, all of whose tools and headers count here.
std::string host_source_key(const SymbolTable& symbols, const std::vector<std::string>& argv, const CommandLine& words,
                            std::string_view text, std::string_view stub, const Places& places);

}  // namespace sagekit
