#pragma once
// Makes a small Windows module (PE32+, or PE32 for machine 0x14c) with imports, exports and a GPU section.

#include "support/byte_writer.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sagekit::test {

inline constexpr std::uint32_t k_data_at = 0x1000;  // virtual address of the first section

/// DLLs with what is imported from them: names, or "#12" by number.
using PeImports = std::vector<std::pair<std::string, std::vector<std::string>>>;

struct PeBuilder {
  std::uint16_t machine = 0x8664;
  PeImports imports = {{"python312.dll", {"PyModule_Create2", "#7"}}};
  PeImports delayed = {};  ///< loaded when first called
  std::vector<std::string> exports = {"PyInit__tiny"};
  std::string gpu;
  std::uint16_t characteristics = 0x160;  ///< HIGH_ENTROPY_VA, DYNAMIC_BASE, NX_COMPAT
  std::string debug_path;                 ///< of the .pdb; "" = no debug directory

  /// One data section (imports, then exports), and a GPU section; file offset 0x400 for the first.
  std::string build() const {
    const auto loaded = table(imports, k_data_at, false);
    const auto delayed_at = static_cast<std::uint32_t>(k_data_at + loaded.size());
    const auto late = table(delayed, delayed_at, true);
    const auto exports_at = static_cast<std::uint32_t>(delayed_at + late.size());
    ByteWriter data;
    data.text(loaded).text(late).text(export_table(exports_at));
    const auto debug_at = data.size();
    if (!debug_path.empty())
      data.u32(0)
          .u32(0)
          .u32(0)
          .u32(2)
          .u32(25 + debug_path.size())
          .u32(k_data_at + debug_at + 28)
          .u32(0x400 + debug_at + 28)
          .text("RSDS")
          .zeros(20)
          .text(debug_path + '\0');
    data.align(512);
    ByteWriter out;
    out.text("MZ").zeros(58).u32(64).text(std::string("PE\0\0", 4));
    const std::size_t directories = narrow() ? 96 : 112;
    out.u16(machine).u16(2).u32(0).u32(0).u32(0).u16(directories + 16 * 8).u16(0x2022);
    out.u16(narrow() ? 0x10b : 0x20b).zeros(68).u16(characteristics).zeros(directories - 76).u32(16);
    out.u32(exports.empty() ? 0 : exports_at).u32(40).u32(imports.empty() ? 0 : k_data_at).u32(40).zeros(4 * 8);
    out.u32(debug_path.empty() ? 0 : k_data_at + debug_at).u32(28).zeros(6 * 8);
    out.u32(delayed.empty() ? 0 : delayed_at).u32(40).zeros(2 * 8);
    const auto section = [&](const std::string& name, std::uint32_t address, std::size_t size, std::size_t offset) {
      out.text(name).zeros(8 - name.size()).u32(size).u32(address).u32((size + 511) & ~511u).u32(offset).zeros(16);
    };
    section(".rdata", k_data_at, data.size(), 0x400);
    section(".nv_fatb", 0x10000, gpu.size(), 0x400 + data.size());
    out.zeros(0x400 - out.size()).text(data.bytes()).text(gpu).align(512);
    return out.bytes();
  }

 private:
  bool narrow() const { return machine == 0x14c; }

  /// The directory, the lists of imports, and their texts.
  std::string table(const PeImports& libraries, std::uint32_t at, bool late) const {
    const std::size_t entry = late ? 32 : 20;
    std::size_t lists_at = entry * (libraries.size() + 1);
    lists_at = (lists_at + 7) & ~std::size_t{7};
    std::size_t texts_at = lists_at;
    const std::size_t word = narrow() ? 4 : 8;
    for (const auto& [library, names] : libraries) texts_at += word * (names.size() + 1);
    ByteWriter directory, lists, texts;
    const auto add_text = [&](const std::string& text, bool hint) {
      const std::size_t where = at + texts_at + texts.size();
      texts.text((hint ? std::string("\0\0", 2) : std::string()) + text + '\0');
      return where;
    };
    for (const auto& [library, names] : libraries) {
      const std::size_t list = at + lists_at + lists.size();
      const std::size_t name = add_text(library, false);
      if (late)
        directory.u32(1).u32(name).u32(0).u32(0).u32(list).u32(0).u32(0).u32(0);
      else
        directory.u32(list).u32(0).u32(0).u32(name).u32(0);
      const auto add = [&](std::uint64_t value) { narrow() ? lists.u32(value) : lists.u64(value); };
      for (const auto& one : names)
        add(one.starts_with('#') ? (std::uint64_t{1} << (8 * word - 1)) | std::stoul(one.substr(1))
                                 : add_text(one, true));
      add(0);
    }
    directory.zeros(entry);
    directory.zeros(lists_at - directory.size());
    ByteWriter all;
    all.text(directory.bytes()).text(lists.bytes()).text(texts.bytes()).align(8);
    return all.bytes();
  }

  std::string export_table(std::uint32_t at) const {
    ByteWriter out, texts;
    out.u32(0).u32(0).u32(0).u32(0).u32(1).u32(exports.size()).u32(exports.size()).u32(0).u32(at + 40).u32(0);
    for (const auto& name : exports) {
      out.u32(at + 40 + 4 * exports.size() + texts.size());
      texts.text(name + '\0');
    }
    return out.text(texts.bytes()).bytes();
  }
};

/// One that imports from python312.dll and exports PyInit__tiny.
inline std::string sample_pe(const std::string& gpu, std::uint16_t machine = 0x8664) {
  PeBuilder pe;
  pe.machine = machine;
  pe.gpu = gpu;
  return pe.build();
}

}  // namespace sagekit::test
