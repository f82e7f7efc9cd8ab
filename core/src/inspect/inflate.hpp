#pragma once
// DEFLATE and CRC-32; the one place that includes libdeflate.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sagekit {

std::uint32_t crc32_of(std::string_view bytes);

/// Inflates one raw DEFLATE stream that must use all of `compressed` and give exactly `size` bytes.
/// Nothing when it does neither. The caller bounds `size`: that much is allocated.
std::optional<std::string> inflate_exactly(std::string_view compressed, std::uint64_t size);

}  // namespace sagekit
