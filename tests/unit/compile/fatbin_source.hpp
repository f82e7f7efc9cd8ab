#pragma once
// A .fatbin.c as nvcc's fatbinary writes it (13.0).

#include "support/format.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace sagekit::test {

/// `bytes`: a multiple of eight.
inline std::string fatbin_source(const std::string& bytes) {
  std::string text =
      "#define __CUDAFATBINSECTION  \".nvFatBinSegment\"\nasm(\n\".section .nv_fatbin, \\\"a\\\"\\n\"\n\".align "
      "8\\n\"\n"
      "\"fatbinData:\\n\"\n";
  constexpr std::size_t k_quad = 8, k_line = 4 * k_quad;
  for (std::size_t at = 0; at < bytes.size(); at += k_quad) {
    std::uint64_t quad = 0;
    for (std::size_t i = k_quad; i-- > 0;) quad = quad << 8 | static_cast<std::uint8_t>(bytes[at + i]);
    const bool ends = at + k_quad == bytes.size(), full = (at + k_quad) % k_line == 0;
    const bool last_line = at / k_line * k_line + k_line > bytes.size();
    text += fmt::format("{}0x{:016x}", at % k_line == 0 ? "\".quad " : last_line ? ", " : ",", quad);
    if (ends || full) text += "\\n\"\n";
  }
  return text + fmt::format(
                    "\".text\\n\");\nextern const unsigned long long fatbinData[{}];\n"
                    "static const __fatBinC_Wrapper_t __fatDeviceText = {{ 0x466243b1, 1, fatbinData, 0 }};\n",
                    bytes.size() / k_quad);
}

}  // namespace sagekit::test
