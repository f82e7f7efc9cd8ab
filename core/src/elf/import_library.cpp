#include "elf/import_library.hpp"

#include "support/byte_writer.hpp"
#include "support/format.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace sagekit {

namespace {

constexpr std::uint64_t k_archive_header = 8, k_member_header = 60;

void add_big(std::string& bytes, std::uint64_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
}

/// Of a name: its thunk and what __declspec(dllimport) asks for.
std::string short_import(std::string_view name, std::string_view library) {
  constexpr std::uint32_t k_x86_64 = 0x8664, k_code_by_name = 1 << 2;
  ByteWriter out;  // no date, no hint
  out.u16(0).u16(0xffff).u16(0).u16(k_x86_64).u32(0).u32(name.size() + library.size() + 2).u16(0).u16(k_code_by_name);
  return out.text(name, name.size() + 1).text(library, library.size() + 1).bytes();
}

/// Members begin at even places.
void add_member(std::string& archive, std::string_view name, std::string_view content) {
  archive += fmt::format("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", name, 0, 0, 0, 0, content.size());
  archive += content;
  if (content.size() % 2 != 0) archive += '\n';
}

}  // namespace

std::string import_library(const DllExports& exports) {
  std::vector<std::string> members;
  std::string names;
  for (const auto& name : exports.names) {
    members.push_back(short_import(name, exports.name));
    names.append("__imp_").append(name).append(1, '\0').append(name).append(1, '\0');
  }
  const std::uint64_t count = 2 * members.size(), index_bytes = 4 + 4 * count + names.size();
  auto place = k_archive_header + k_member_header + index_bytes + index_bytes % 2;
  std::string index;
  add_big(index, count);
  for (const auto& member : members) {
    add_big(index, place);
    add_big(index, place);
    place += k_member_header + member.size() + member.size() % 2;
  }
  std::string archive = "!<arch>\n";
  add_member(archive, "/", index + names);
  for (std::size_t i = 0; i < members.size(); ++i) add_member(archive, fmt::format("{}/", i), members[i]);
  return archive;
}

}  // namespace sagekit
