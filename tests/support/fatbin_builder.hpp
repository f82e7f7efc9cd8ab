#pragma once
// Makes cubins and fatbins. Compressed images are written as literal LZ4 and raw zstd blocks, so that no compressor is
// needed and every size is known.

#include "support/elf_builder.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sagekit::test {

/// Instructions as ptxas writes them for 9.0 and newer; those without a distance are the same from 7.0 on.
namespace sass {
using Instruction = std::pair<std::uint64_t, std::uint64_t>;
inline constexpr Instruction set_stack{0x00000a00ff017b82, 0x000fe20000000800}, exit{0x794d, 0x000fea0003800000},
    exit_if{0x894d, 0x000fea0003800000}, trap{0x000000040000795c, 0x000fe20000300000},
    endless{0xfffffffc00fc7947, 0x000fc0000383ffff}, padding{0x7918, 0x000fc00000000000},
    store{0x0000000502007986, 0x001fe2000c101904}, skip_one_if{0x0000000000048947, 0x000fea0003800000},
    old_skip_one_if{0x0000001000008947, 0x000fea0003800000}, call{0x0000000002007343, 0x007fea0003c00000},
    store_local_16{0x0000000801007387, 0x0043e80000100c00}, load_local_4{0x0000000001087983, 0x000ea80000100800},
    multiply{0x0000000405027825, 0x001fcc00078e0202}, jump_by_register{0x0000000002007949, 0x000fea0003800000},
    shuffle{0x0c401f0000057f89, 0x000fe200000e0000}, hmma{0x000000040808723c, 0x004fee00000018ff},
    qmma{0x0000000c0810727a, 0x004ff60000000c10}, call_second_next{0x0000001000008944, 0x004fe20003c00000},
    come_back{0x0000000002007950, 0x000fea0003c3ffff};
}  // namespace sass

/// A kernel with a section of its own and what the cubin records of it.
struct CubinKernel {
  std::string name = "_Z5scalePf";
  std::vector<sass::Instruction> code = {sass::set_stack, sass::store, sass::exit, sass::endless, sass::padding};
  std::uint32_t registers = 12, stack = 0;
  std::size_t shared = 0, constants = 0x210;  ///< sizes of their sections; `shared` with what the driver keeps
  std::uint8_t binding = 1;                   ///< 0 local, 1 global, 2 weak
  bool registers_in_section = false;          ///< as up to CUDA 9, not in a record
};

struct CubinBuilder {
  unsigned sm = 90, toolkit = 130;
  std::string options = "-arch sm_90a -m 64";  ///< "" = no tool note
  bool accelerated = true;
  bool new_abi = true;  ///< CUDA 13's header layout, else the one up to 12
  std::vector<std::string> kernels = {"_Z5scalePf"};
  std::vector<std::string> functions = {"_Z6helperv"};
  std::vector<CubinKernel> bodies = {};
  std::optional<unsigned> virtual_sm = {};  ///< compute_NN it was made from; else `sm`

  std::string build() const {
    ElfBuilder elf;
    elf.type = 2;
    elf.machine = 190;
    elf.stack_flags = {};
    elf.os_abi = new_abi ? 0x41 : 0x33;
    elf.abi_version = new_abi ? 8 : 7;
    elf.flags = new_abi ? 0x6000002 | sm << 8 : virtual_sm.value_or(sm) << 16 | sm | (accelerated ? 0x800 : 0);
    NameTable names;
    ByteWriter symbols;
    symbols.zeros(24);
    const auto symbol = [&](const std::string& name, std::uint8_t other) {
      symbols.u32(names.add(name)).u8(0x12).u8(other).u16(1).u64(0).u64(0);
    };
    for (const auto& name : kernels) symbol(name, 0x10);
    for (const auto& name : functions) symbol(name, 0);
    std::vector<ElfBuilder::Section> kernel_sections;
    ByteWriter infos;
    for (const auto& kernel : bodies) {
      const auto at = static_cast<std::uint16_t>(3 + kernel_sections.size());
      const auto number = static_cast<std::uint32_t>(symbols.size() / 24);
      symbols.u32(names.add(kernel.name)).u8(std::uint64_t{kernel.binding} << 4 | 2).u8(0x10).u16(at).u64(0).u64(0);
      ByteWriter code;
      for (const auto& [low, high] : kernel.code) code.u64(low).u64(high);
      const std::uint32_t info = kernel.registers_in_section ? kernel.registers << 24 | number : number;
      kernel_sections.push_back({".text." + kernel.name, code.bytes(), 1, 0, info});
      kernel_sections.push_back({".nv.constant0." + kernel.name, std::string(kernel.constants, '\0'), 1, 0, at});
      if (kernel.shared > 0)
        kernel_sections.push_back({".nv.shared." + kernel.name, std::string(kernel.shared, '\0'), 8, 0, at});
      if (!kernel.registers_in_section) infos.u8(4).u8(0x2f).u16(8).u32(number).u32(kernel.registers);
      infos.u8(4).u8(0x12).u16(8).u32(number).u32(kernel.stack);
    }
    elf.sections = {{".strtab", names.text(), 3, 0}, {".symtab", symbols.bytes(), 2, 1}};
    elf.sections.insert(elf.sections.end(), kernel_sections.begin(), kernel_sections.end());
    if (!bodies.empty()) elf.sections.push_back({".nv.info", infos.bytes(), 0x70000000, 0});
    if (new_abi) {
      elf.sections.push_back(
          {".note.nv.cuinfo", note(1000, ByteWriter().u16(2).u16(virtual_sm.value_or(sm)).u32(toolkit).bytes()), 7, 0});
      elf.sections.push_back({".nv.compat", ByteWriter().u8(2).u8(9).u8(accelerated).u8(0).bytes(), 0x70000086, 0});
    } else {
      elf.sections.push_back({".nv.info.k", ByteWriter().u8(4).u8(0x37).u16(4).u32(toolkit).bytes(), 0x70000000, 0});
    }
    if (!options.empty()) elf.sections.push_back({".note.nv.tkinfo", note(2000, tool_note()), 7, 0});
    return elf.build();
  }

 private:
  std::string tool_note() const {
    ByteWriter text;
    text.u8(0).text("ptxas").u8(0);
    const std::size_t options_at = text.size();
    text.text(options).u8(0);
    return ByteWriter().u32(2).u32(0).u32(1).u32(1).u32(1).u32(options_at).text(text.bytes()).bytes();
  }
  static std::string note(std::uint32_t type, const std::string& description) {
    return ByteWriter().u32(12).u32(description.size()).u32(type).text("NVIDIA Corp").u8(0).text(description).bytes();
  }
};

inline std::string sample_ptx(const std::string& target = "sm_90") {
  return "//\n// .entry in_a_comment(\n//\n.version 9.0\n.target " + target +
         "\n.address_size 64\n.file 1 \".entry quoted\"\n.visible .entry _Z5scalePf(\n.param .u64 p\n)\n{\nret;\n}\n"
         "/* .entry gone( */\n.entry second\n{ ret; }\n";
}

inline std::string zstd_raw_frame(std::string_view bytes) {
  ByteWriter out;
  out.u32(0xfd2fb528).u8(0xe0).u64(bytes.size());
  do {
    const std::string_view block = bytes.substr(0, 0x10000);
    bytes.remove_prefix(block.size());
    const std::uint64_t header = block.size() << 3 | (bytes.empty() ? 1 : 0);
    out.u8(header & 255).u16(header >> 8).text(block);
  } while (!bytes.empty());
  return out.bytes();
}

inline std::string lz4_literal_block(std::string_view bytes) {
  ByteWriter out;
  if (bytes.size() < 15) return out.u8(bytes.size() << 4).text(bytes).bytes();
  out.u8(0xf0);
  std::size_t rest = bytes.size() - 15;
  for (; rest >= 255; rest -= 255) out.u8(255);
  return out.u8(rest).text(bytes).bytes();
}

struct FatbinEntry {
  std::uint16_t kind = 2, version = 0x0101;
  unsigned sm = 90;
  char suffix = 0;
  std::string image = {};
  char compression = 0;  ///< 'l' LZ4, 'z' zstd, 0 none
  std::uint32_t header_size = 64;
  std::uint64_t more_flags = 0;
  std::uint16_t isa_major = 9, isa_minor = 0;
  std::optional<std::uint64_t> payload_size = {}, flags = {}, decompressed_size = {};
  std::optional<std::uint32_t> compressed_size = {};
  std::size_t more_padding = 0;
};

struct FatbinBuilder {
  std::vector<FatbinEntry> entries;
  std::optional<std::uint64_t> size;
  std::uint32_t magic = 0xba55ed50;
  std::uint16_t version = 1;

  FatbinEntry& add(FatbinEntry entry) {
    entries.push_back(std::move(entry));
    return entries.back();
  }
  FatbinEntry& cubin(unsigned sm, char suffix, std::string image, char compression = 0) {
    return add({.sm = sm, .suffix = suffix, .image = std::move(image), .compression = compression});
  }
  FatbinEntry& ptx(unsigned sm, char suffix, std::string image, char compression = 0) {
    return add({.kind = 1, .sm = sm, .suffix = suffix, .image = std::move(image), .compression = compression});
  }

  std::string build() const {
    ByteWriter body;
    for (const FatbinEntry& entry : entries) {
      const std::string stored = entry.compression == 'z'   ? zstd_raw_frame(entry.image)
                                 : entry.compression == 'l' ? lz4_literal_block(entry.image)
                                                            : entry.image;
      const std::size_t padded = ((stored.size() + 7) & ~std::size_t{7}) + entry.more_padding;
      const bool packed = entry.compression != 0;
      const std::uint64_t flags = 0x11 | (entry.compression == 'z' ? 0x8000 : 0) |
                                  (entry.compression == 'l' ? 0x2000 : 0) | (entry.suffix == 'a' ? 0x100000 : 0) |
                                  (entry.suffix == 'f' ? 0x200000 : 0) | entry.more_flags;
      body.u16(entry.kind).u16(entry.version).u32(entry.header_size).u64(entry.payload_size.value_or(padded));
      body.u32(entry.compressed_size.value_or(packed ? static_cast<std::uint32_t>(stored.size()) : 0)).u32(0);
      body.u16(entry.isa_minor)
          .u16(entry.isa_major)
          .u32(entry.sm)
          .u32(0)
          .u32(0)
          .u64(entry.flags.value_or(flags))
          .u64(0);
      body.u64(entry.decompressed_size.value_or(packed ? entry.image.size() : 0));
      body.zeros(entry.header_size > 64 ? entry.header_size - 64 : 0).text(stored).zeros(padded - stored.size());
    }
    return ByteWriter().u32(magic).u16(version).u16(16).u64(size.value_or(body.size())).text(body.bytes()).bytes();
  }
};

}  // namespace sagekit::test
