#pragma once
// CUDA's libraries to link against where the real ones are missing: the driver's on a machine without a driver, the
// runtime's for another CPU. Names, no code.

#include "elf/exports.hpp"
#include "store/store.hpp"

#include <sagekit/environment.hpp>
#include <sagekit/error.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace sagekit {

/// What libcuda.so.1 exports, by the text of cuda.h: every driver function named there. cuda.h maps names to versioned
/// ones by macros, so both are in it; linking takes only the names that are used. BLD005 (bug) for an unknown platform.
Result<ExportList> driver_exports(std::string_view cuda_header, std::string_view platform);

/// The folder in the store with a libcuda.so; made when it is not there yet. BLD005 (machine) when it cannot be.
Result<std::filesystem::path> make_driver_stub(const Nvcc& nvcc, const std::string& platform, const Store& store);

/// The folder in the store with a python3.dll of the stable ABI that this Python ("3.10") has.
Result<std::filesystem::path> make_python_stub(const std::string& python, const Store& store);

/// The libcudart.so.N of a tree, for this machine's CPU.
Result<std::filesystem::path> runtime_library(const Nvcc& nvcc);

/// The folder in the store with a libcudart.so for the platform's CPU: what the tree's own library exports, under the
/// same SONAME. BLD005.
Result<std::filesystem::path> make_runtime_stub(const Nvcc& nvcc, const std::string& platform, const Store& store);

}  // namespace sagekit
