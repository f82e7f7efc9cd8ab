#pragma once
// What is kept of an architecture's GPU code, by name: its stub, its kernels, a module id where names have one, images.

#include "compile/nvcc_commands.hpp"
#include "store/action_record.hpp"
#include "store/store.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

inline constexpr std::string_view k_stub = "stub", k_kernels = "kernels", k_module_id = "module id";

/// What a record calls an output, in the work folder as every one is.
std::string output_path(std::string_view name);

/// What a step made under this name: one of the above, an image's role. nullptr = nothing.
const StoredObject* output_of(const ActionRecord& record, std::string_view name);

/// Takes into the store what these commands made in `folder`, when host and GPU code agree; else `why` says how they
/// do not. `module_id`: "" = no name has it.
Result<std::vector<RecordedOutput>> keep_outputs(const Store& store, const DeviceCommands& device,
                                                 const std::filesystem::path& folder, const std::string& module_id,
                                                 std::string& why);

}  // namespace sagekit
