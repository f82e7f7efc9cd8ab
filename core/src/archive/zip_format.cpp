#include "archive/zip_format.hpp"

#include "archive/inflate.hpp"
#include "support/format.hpp"

#include <algorithm>

namespace sagekit::zip {

namespace {

constexpr std::uint16_t k_extra_zip64 = 0x0001, k_extra_unicode_path = 0x7075;
constexpr std::uint64_t k_max_comment = 0xffff;

/// Offset of the end record. The honest place is the last 22 bytes; others are found, used and reported.
std::optional<std::uint64_t> find_end(Bytes file, Problems& problems) {
  if (file.size() < k_end_size) return std::nullopt;
  const std::uint64_t last = file.size() - k_end_size;
  const std::uint64_t first = last > k_max_comment ? last - k_max_comment : 0;
  for (std::uint64_t at = last + 1; at-- > first;) {
    if (file.u32(at) != k_end) continue;
    const std::uint64_t comment = file.u16(at + 20);
    const std::uint64_t rest = file.size() - at - k_end_size;
    if (comment > rest) continue;  // these four bytes are part of something else
    if (comment != rest)
      problems.error("ZIP003", fmt::format("{} bytes follow the end of the archive", rest - comment));
    else if (file.from(at + k_end_size).view().find("PK\x05\x06") != std::string_view::npos)
      problems.error("ZIP003", "the archive's comment holds another end record");
    else if (comment != 0)
      problems.error("ZIP030", fmt::format("the archive has a comment of {} bytes", comment));
    return at;
  }
  return std::nullopt;
}

/// Values of a zip64 end record replace those that do not fit the old one; those that do must be equal.
/// Offsets are of `file`, which begins `base` bytes into the archive.
bool read_end64(Bytes file, std::uint64_t base, std::uint64_t locator_at, Directory& directory,
                std::uint64_t& directory_end, Problems& problems) {
  const auto wrong = [&](std::string_view what) {
    problems.error("ZIP005", fmt::format("the zip64 end record {}", what));
    return false;
  };
  const std::uint64_t record_at = locator_at >= k_end64_size ? locator_at - k_end64_size : 0;
  if (file.u32(record_at) != k_end64 || locator_at < k_end64_size) return wrong("is not where it must be");
  const Bytes record = file.from(record_at);
  if (record.u64(4) != k_end64_size - 12) return wrong("does not have the one allowed length");
  if (file.u32(locator_at + 4) != 0 || file.u32(locator_at + 16) != 1 || record.u32(16) != 0 || record.u32(20) != 0)
    return wrong("speaks of several disks");
  const std::uint64_t entries = record.u64(32);
  const std::uint64_t size = record.u64(40);
  const std::uint64_t offset = record.u64(48);
  const auto agrees = [](std::uint64_t old_value, std::uint64_t escape, std::uint64_t value) {
    return old_value == escape || old_value == value;
  };
  if (record.u64(24) != entries || !agrees(directory.entries, 0xffff, entries) ||
      !agrees(directory.size, k_in_extra, size) || !agrees(directory.offset, k_in_extra, offset))
    return wrong("and the plain one disagree");
  // The locator's offset misses bytes before the archive, as all offsets do; the shift is found from the directory.
  if (file.u64(locator_at + 8) > base + record_at) return wrong("is not where the locator says");
  directory = {offset, size, entries, 0};
  directory_end = base + record_at;
  return true;
}

bool read_zip64_extra(Bytes data, Header& header, bool central, Problems& problems) {
  const std::uint64_t length = data.size();
  const bool known = length == 0 || length == 8 || length == 16 || length == 24 || length == 28;
  std::uint64_t at = 0;
  bool good = known && (length != 8 || header.method == 0 || central);
  const auto take = [&](std::uint64_t& field) {
    if (field != k_in_extra) return;
    good = good && data.holds(at, 8);
    field = data.u64(at);
    at += 8;
  };
  take(header.size);
  take(header.compressed_size);
  if (central) take(header.local_offset);
  if (!good)
    problems.error("ZIP021",
                   fmt::format("the zip64 field of {} has a wrong length ({})", printable(header.name), length));
  return good;
}

void read_extra(Bytes extra, Header& header, bool central, Problems& problems) {
  bool zip64 = false;
  bool unicode_path = false;
  const auto wrong = [&](std::string_view what) {
    problems.error("ZIP021", fmt::format("the extra field of {} {}", printable(header.name), what));
  };
  for (std::uint64_t at = 0; at < extra.size();) {
    const auto data = extra.holds(at, 4) ? extra.slice(at + 4, extra.u16(at + 2)) : std::nullopt;
    if (!data) return wrong("is cut off");
    const std::uint16_t id = extra.u16(at);
    if (id == k_extra_zip64) {
      if (zip64) return wrong("has two zip64 parts");
      zip64 = true;
      if (!read_zip64_extra(*data, header, central, problems)) return;
    } else if (id == k_extra_unicode_path) {
      if (unicode_path) return wrong("has two names");
      unicode_path = true;
      if (data->u8(0) != 1 || data->u32(1) != crc32_of(header.name) || data->from(5).view() != header.name)
        problems.error("ZIP035", fmt::format("an extra field gives {} another name", printable(header.name)));
    }
    at += 4 + data->size();
  }
  if (!zip64 && (header.size == k_in_extra || header.compressed_size == k_in_extra ||
                 (central && header.local_offset == k_in_extra)))
    wrong("lacks the zip64 part that the header refers to");
}

}  // namespace

std::optional<Directory> find_directory(Bytes file, std::uint64_t file_size, Problems& problems) {
  const std::uint64_t base = file_size - std::min<std::uint64_t>(file.size(), file_size);
  const auto end_at = find_end(file, problems);
  if (!end_at) {
    problems.error("ZIP001", "this is no zip archive, or it is cut off: it has no end record",
                   "download it again, and compare its size with the original");
    return std::nullopt;
  }
  const Bytes end = file.from(*end_at);
  if (end.u16(4) != 0 || end.u16(6) != 0 || end.u16(8) != end.u16(10))
    problems.error("ZIP004", "the archive claims to be split over several disks");
  Directory directory{end.u32(16), end.u32(12), end.u16(10), 0};
  std::uint64_t directory_end = base + *end_at;
  const std::uint64_t locator_at = *end_at >= k_locator64_size ? *end_at - k_locator64_size : 0;
  if (*end_at >= k_locator64_size && file.u32(locator_at) == k_locator64) {
    if (!read_end64(file, base, locator_at, directory, directory_end, problems)) return std::nullopt;
  } else if (directory.entries == 0xffff || directory.size == k_in_extra || directory.offset == k_in_extra) {
    problems.error("ZIP005", "the end record refers to a zip64 record that is not there");
    return std::nullopt;
  }
  if (directory.size > directory_end || directory.offset > directory_end - directory.size) {
    problems.error("ZIP006", "the central directory does not fit between the members and the end record");
    return std::nullopt;
  }
  directory.shift = directory_end - directory.size - directory.offset;
  directory.offset += directory.shift;
  if (directory.shift == 0) return directory;
  // Either somebody put bytes before the archive, or between directory and end record; the signature tells.
  const bool here = directory.offset >= base && file.u32(directory.offset - base) == k_central;
  if (directory.size == 0 || here) {
    problems.error("ZIP002", fmt::format("{} bytes stand before the archive", directory.shift));
  } else {
    problems.error("ZIP006", "the central directory is not where the end record says");
    directory.offset -= directory.shift;
    directory.shift = 0;
  }
  return directory;
}

std::optional<Header> read_local(Bytes at, Problems& problems) {
  if (at.u32(0) != k_local || !at.holds(0, k_local_size)) return std::nullopt;
  Header header;
  header.flags = at.u16(6);
  header.method = at.u16(8);
  header.time = at.u16(10);
  header.date = at.u16(12);
  header.crc32 = at.u32(14);
  header.compressed_size = at.u32(18);
  header.size = at.u32(22);
  const std::uint64_t name_size = at.u16(26);
  const std::uint64_t extra_size = at.u16(28);
  header.length = k_local_size + name_size + extra_size;
  if (!at.holds(0, header.length)) return std::nullopt;
  header.name = at.view().substr(k_local_size, name_size);
  read_extra(at.slice(k_local_size + name_size, extra_size).value_or(Bytes()), header, false, problems);
  return header;
}

std::optional<Header> read_central(Bytes at, Problems& problems) {
  if (at.u32(0) != k_central || !at.holds(0, k_central_size)) return std::nullopt;
  Header header;
  header.flags = at.u16(8);
  header.method = at.u16(10);
  header.time = at.u16(12);
  header.date = at.u16(14);
  header.crc32 = at.u32(16);
  header.compressed_size = at.u32(20);
  header.size = at.u32(24);
  const std::uint64_t name_size = at.u16(28);
  const std::uint64_t extra_size = at.u16(30);
  header.comment_size = at.u16(32);
  header.disk = at.u16(34);
  header.attributes = at.u32(38);
  header.local_offset = at.u32(42);
  header.length = k_central_size + name_size + extra_size + header.comment_size;
  if (!at.holds(0, header.length)) return std::nullopt;
  header.name = at.view().substr(k_central_size, name_size);
  read_extra(at.slice(k_central_size + name_size, extra_size).value_or(Bytes()), header, true, problems);
  return header;
}

std::string printable(std::string_view name) {
  std::string text;
  for (const char c : name.substr(0, 300)) text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return text;
}

}  // namespace sagekit::zip
