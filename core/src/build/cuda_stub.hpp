#pragma once
// A libcuda.so to link against where there is no driver: its SONAME and the names of the driver API, no code.

#include "build/store.hpp"

#include <sagekit/command.hpp>
#include <sagekit/environment.hpp>
#include <sagekit/error.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace sagekit {

/// C++ text that defines every driver function that `cuda_header` (the text of cuda.h) names, sorted. cuda.h maps names
/// to versioned ones by macros, so both are there; linking takes only the names that are used.
std::string cuda_stub_text(std::string_view cuda_header);

/// The folder in the store that holds the stub; made when it is not there yet. BLD005 when it cannot be.
Result<std::filesystem::path> make_cuda_stub(const Nvcc& nvcc, const HostCompiler& compiler, const Store& store,
                                             CommandRunner& runner,
                                             const std::map<std::string, std::string>& child_environment);

}  // namespace sagekit
