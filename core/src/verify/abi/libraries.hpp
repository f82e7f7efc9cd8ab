#pragma once
// Shared libraries that a Linux module may name: who brings them.

#include "verify/subject.hpp"

#include <string_view>

namespace sagekit {

std::string_view base_name(std::string_view path);

/// Every Linux with this C library has it: libc.so.6, libstdc++.so.6, ...
bool is_system_library(std::string_view name);
/// One of torch's own: libtorch*, libc10*.
bool is_torch_library(std::string_view name);
/// The member of the wheel that the loader takes for it; null when there is none.
const MemberFacts* library_of_wheel(const Subject& subject, std::string_view name);

}  // namespace sagekit
