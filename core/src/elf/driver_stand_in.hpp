#pragma once
// Libraries that come with the NVIDIA driver, and what stands in for them where modules must be loaded without one.

#include <sagekit/inspect.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// "libcuda.so.1" and its like: installed with the driver, never by a wheel or a CUDA toolkit.
bool is_driver_library(std::string_view library);

/// Those that these files need.
std::vector<std::string> driver_libraries(const std::vector<MemberFacts>& members);

/// A library of that name with every symbol that the members leave open and that is the driver's by its name.
/// Each function returns the error that CUDA's own stub library returns. For the CPU of the members; "" =
/// none can be made (another CPU, no driver library).
std::string driver_stand_in(const std::vector<MemberFacts>& members, std::string_view library);

}  // namespace sagekit
