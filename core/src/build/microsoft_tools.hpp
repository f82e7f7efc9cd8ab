#pragma once
// What steps for Windows name where Microsoft's headers and libraries are used (docs/decisions/0038).

#include "store/store.hpp"

#include <sagekit/plan.hpp>
#include <sagekit/toolchain.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace sagekit {

/// Import libraries of the DLLs of that torch, of python3.dll as this Python's stable ABI has it, and of the driver: a
/// folder in the store, named by content. BLD005 (machine) when a DLL cannot be read.
Result<std::filesystem::path> make_import_libraries(const Toolchain& tools, const std::string& python,
                                                    const Store& store);

/// What a key says of the linker.
std::string linker_identity(const std::filesystem::path& linker);

}  // namespace sagekit
