#pragma once
// Makes zip archives, right ones and ones that are wrong in a single chosen place. DEFLATE data is written as stored
// blocks, so that no compressor is needed.

#include "support/byte_writer.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sagekit::test {

inline std::uint32_t crc32_slow(std::string_view bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0u);
  }
  return ~crc;
}

inline std::string deflate_stored(std::string_view bytes) {
  ByteWriter out;
  do {
    const std::string_view block = bytes.substr(0, 0xffff);
    bytes.remove_prefix(block.size());
    out.u8(bytes.empty() ? 1 : 0).u16(block.size()).u16(~block.size()).text(block);
  } while (!bytes.empty());
  return out.bytes();
}

/// One member; what is unset is right. `local_*` differ from the central directory only when set.
struct ZipEntry {
  std::string name = {}, content = {};
  std::uint16_t method = 8, flags = 0;
  std::uint32_t mode = 0100644;
  std::string central_extra = {}, local_extra = {}, comment = {};
  std::uint16_t disk = 0, date = 0x21;
  bool descriptor = false;
  std::string gap_before = {};  ///< bytes of no member
  std::optional<std::string> data = {}, local_name = {};
  std::optional<std::uint32_t> crc = {}, local_crc = {}, size = {}, local_size = {}, compressed_size = {},
                               local_compressed_size = {}, local_offset = {}, local_signature = {};
  std::optional<std::uint16_t> local_method = {}, local_flags = {};
};

struct ZipBuilder {
  std::vector<ZipEntry> entries;
  std::string prefix, suffix, comment, before_directory, before_end;
  std::optional<std::uint32_t> directory_offset, directory_size;
  std::optional<std::uint16_t> entry_count, disk, central_signature_of_first;
  bool zip64 = false;
  std::uint64_t zip64_length = 44;
  std::optional<std::uint64_t> zip64_entries;

  ZipEntry& add(std::string name, std::string content) {
    entries.push_back({});
    entries.back().name = std::move(name);
    entries.back().content = std::move(content);
    return entries.back();
  }
  ZipEntry& at(std::string_view name_end) {
    return *std::find_if(entries.begin(), entries.end(), [&](const ZipEntry& e) { return e.name.ends_with(name_end); });
  }

  std::string build() const {
    ByteWriter out;
    ByteWriter directory;
    out.text(prefix);
    for (const ZipEntry& entry : entries) {
      const std::uint32_t crc = entry.crc.value_or(crc32_slow(entry.content));
      const std::string data = entry.data.value_or(entry.method == 8 ? deflate_stored(entry.content) : entry.content);
      const auto size = entry.size.value_or(static_cast<std::uint32_t>(entry.content.size()));
      const auto compressed = entry.compressed_size.value_or(static_cast<std::uint32_t>(data.size()));
      const std::uint16_t flags = static_cast<std::uint16_t>(entry.flags | (entry.descriptor ? 8 : 0));
      const std::string& name = entry.local_name.value_or(entry.name);
      out.text(entry.gap_before);
      const std::size_t offset = out.size() - prefix.size();
      out.u32(entry.local_signature.value_or(0x04034b50)).u16(20).u16(entry.local_flags.value_or(flags));
      out.u16(entry.local_method.value_or(entry.method)).u16(0).u16(entry.date);
      out.u32(entry.descriptor ? 0 : entry.local_crc.value_or(crc));
      out.u32(entry.descriptor ? 0 : entry.local_compressed_size.value_or(compressed));
      out.u32(entry.descriptor ? 0 : entry.local_size.value_or(size));
      out.u16(name.size()).u16(entry.local_extra.size()).text(name).text(entry.local_extra).text(data);
      if (entry.descriptor) out.u32(0x08074b50).u32(crc).u32(compressed).u32(size);

      directory.u32(0x02014b50).u16(0x0314).u16(20).u16(flags).u16(entry.method).u16(0).u16(entry.date);
      directory.u32(crc).u32(compressed).u32(size).u16(entry.name.size()).u16(entry.central_extra.size());
      directory.u16(entry.comment.size()).u16(entry.disk).u16(0).u32(std::uint64_t{entry.mode} << 16);
      directory.u32(entry.local_offset.value_or(static_cast<std::uint32_t>(offset)));
      directory.text(entry.name).text(entry.central_extra).text(entry.comment);
    }
    out.text(before_directory);
    const std::size_t directory_at = out.size() - prefix.size();
    if (central_signature_of_first) directory.patch(0, *central_signature_of_first, 2);
    out.text(directory.bytes()).text(before_end);
    const std::uint64_t count = entries.size();
    if (zip64) {
      const std::size_t record_at = out.size();
      out.u32(0x06064b50).u64(zip64_length).u16(45).u16(45).u32(0).u32(0);
      out.u64(zip64_entries.value_or(count)).u64(zip64_entries.value_or(count));
      out.u64(directory.size()).u64(directory_at);
      out.u32(0x07064b50).u32(0).u64(record_at).u32(1);
    }
    out.u32(0x06054b50).u16(disk.value_or(0)).u16(disk.value_or(0));
    out.u16(entry_count.value_or(static_cast<std::uint16_t>(count)));
    out.u16(entry_count.value_or(static_cast<std::uint16_t>(count)));
    out.u32(directory_size.value_or(static_cast<std::uint32_t>(directory.size())));
    out.u32(directory_offset.value_or(static_cast<std::uint32_t>(directory_at)));
    out.u16(comment.size()).text(comment).text(suffix);
    return out.bytes();
  }
};

}  // namespace sagekit::test
