#pragma once
// Makes a small Windows module (PE32+) with imports, exports and a GPU section.

#include "support/byte_writer.hpp"

#include <cstdint>
#include <string>

namespace sagekit::test {

inline constexpr std::uint32_t k_data_at = 0x1000;  // virtual address of the first section

/// A PE with one data section (imports and exports), GPU sections, and file offset 0x400 for the first.
inline std::string sample_pe(const std::string& gpu, std::uint16_t machine = 0x8664) {
  ByteWriter data;
  // Import directory at 0: two entries of 20 bytes (the last is zero); export directory at 40: 40 bytes; then text.
  const std::uint32_t import_name = 80;
  const std::uint32_t export_names = 96;
  const std::uint32_t export_text = 104;
  data.u32(0).u32(0).u32(0).u32(k_data_at + import_name).u32(0).zeros(20);
  data.u32(0).u32(0).u32(0).u32(0).u32(1).u32(1).u32(1).u32(0).u32(k_data_at + export_names).u32(0);
  data.text(std::string("python312.dll\0\0\0", 16))
      .u32(k_data_at + export_text)
      .u32(0)
      .text(std::string("PyInit__tiny\0", 13));
  data.align(512);
  ByteWriter out;
  out.text("MZ").zeros(58).u32(64).text(std::string("PE\0\0", 4));
  out.u16(machine).u16(2).u32(0).u32(0).u32(0).u16(112 + 16 * 8).u16(0x2022);
  out.u16(0x20b).zeros(106).u32(16);
  out.u32(k_data_at + 40).u32(40).u32(k_data_at).u32(40).zeros(14 * 8);
  const auto section = [&](const std::string& name, std::uint32_t address, std::size_t size, std::size_t offset) {
    out.text(name).zeros(8 - name.size()).u32(size).u32(address).u32((size + 511) & ~511u).u32(offset).zeros(16);
  };
  section(".rdata", k_data_at, data.size(), 0x400);
  section(".nv_fatb", 0x2000, gpu.size(), 0x400 + data.size());
  out.zeros(0x400 - out.size()).text(data.bytes()).text(gpu).align(512);
  return out.bytes();
}

}  // namespace sagekit::test
