#pragma once
// The records of a cubin's .nv.info sections: {u8 format, u8 attribute, u16 value or size} and, in the sized format,
// that many bytes, padded to 4.

#include "support/bytes.hpp"

#include <cstdint>

namespace sagekit {

/// Calls `see(attribute, bytes)` for every sized record.
template <class See>
void for_each_info(Bytes records, See see) {
  constexpr std::uint8_t sized = 4;
  for (std::uint64_t at = 0; records.holds(at, 4);) {
    const std::uint64_t size = records.u8(at) == sized ? records.u16(at + 2) : 0;
    if (records.u8(at) == sized)
      if (const auto value = records.slice(at + 4, size)) see(records.u8(at + 1), *value);
    at += 4 + aligned(size, 4).value_or(size);
  }
}

}  // namespace sagekit
