#pragma once
// May GPU code that was made on Linux be launched by host code for Windows? Both compilers mangle a kernel's name by
// its types, and on Windows long has 4 bytes (LLP64): `long` has one name and two sizes, int64_t and size_t have one
// size and two names. What is not known to be the same is refused, by the kernel's name.

#include "compile/kernel_interface.hpp"

#include <sagekit/error.hpp>

#include <string>
#include <string_view>

namespace sagekit {

/// BLD013 (failed): a kernel whose name or parameters are, or could be, others on Windows. `module_id`: that of kernels
/// in unnamed namespaces, which nvcc and clang name differently; "" = there are none.
Status check_kernels_for_windows(const KernelInterface& kernels, std::string_view module_id);

/// Assertions, in C++, that the types which these kernels take by value have in the host's code the sizes that they
/// have in the GPU code.
std::string size_assertions(const KernelInterface& kernels);

/// What clang's assembly registers with CUDA's runtime. Nothing when a call is not as clang writes it.
std::optional<Registered> read_registrations(std::string_view assembly);

/// BLD014 (failed) unless that is what the GPU code has, kernel by kernel.
Status check_registrations(std::string_view assembly, const KernelInterface& kernels);

}  // namespace sagekit
