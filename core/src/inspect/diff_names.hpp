#pragma once
// Names as two builds of one source have them in common.

#include <string>
#include <string_view>

namespace sagekit {

/// A mangled name with every anonymous namespace written as g++ writes it ("12_GLOBAL__N_1"): nvcc puts a hash of the
/// compilation into it ("53_GLOBAL__N__2d2f4b3a_8_fused_cu_9cb4bc2d_1234").
std::string without_unique_parts(std::string_view mangled);

}  // namespace sagekit
