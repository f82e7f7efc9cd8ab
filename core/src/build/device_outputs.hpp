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

/// What cicc wrote and says, once host and GPU code were found to agree.
struct DeviceTexts {
  std::string ptx, stub, kernels;
};
/// All of it is known before ptxas, which takes most of the time, begins. `launches`: of a stub that is compiled.
/// Errors: BLD009 (failed), they do not agree, or a text is not as cicc writes it.
Result<DeviceTexts> read_device_texts(const DeviceCommands& device, bool launches);

/// Takes what these commands made into the store. `module_id`: "" = no name has it.
Result<std::vector<RecordedOutput>> keep_outputs(const Store& store, const DeviceCommands& device,
                                                 const DeviceTexts& texts, const std::string& module_id);

}  // namespace sagekit
