#include "archive/zip_reader.hpp"

#include "archive/zip_format.hpp"
#include "archive/zip_rules.hpp"
#include "support/format.hpp"

#include <algorithm>

namespace sagekit {

namespace {

using zip::printable;

/// The central directory's entries; stops at the first that is damaged.
std::vector<ZipMember> read_entries(Bytes table, const zip::Directory& directory, std::uint64_t file_size,
                                    Problems& problems) {
  std::vector<ZipMember> members;
  std::uint64_t at = 0;
  while (at < table.size()) {
    const auto header = zip::read_central(table.from(at), problems);
    if (!header) {
      problems.error("ZIP007", fmt::format("entry {} of the central directory is damaged", members.size() + 1));
      break;
    }
    ZipMember member;
    member.name = header->name;
    member.method = header->method;
    member.flags = header->flags;
    member.crc32 = header->crc32;
    member.compressed_size = header->compressed_size;
    member.size = header->size;
    member.mode = header->attributes >> 16;
    member.time = header->time;
    member.date = header->date;
    if (header->local_offset > file_size - directory.shift) {
      problems.error("ZIP008", fmt::format("{} begins beyond the end of the archive", printable(member.name)));
      member.readable = false;
    } else {
      member.header_offset = header->local_offset + directory.shift;
    }
    if (header->comment_size != 0) problems.error("ZIP020", fmt::format("{} has a comment", printable(member.name)));
    if (header->disk != 0)
      problems.error("ZIP004", fmt::format("{} claims to be on another disk", printable(member.name)));
    members.push_back(std::move(member));
    at += header->length;
  }
  if (members.size() != directory.entries)
    problems.error("ZIP006", fmt::format("the end record says {} members, the central directory has {}",
                                         directory.entries, members.size()));
  return members;
}

/// Members must lie one after the other from the first byte to the central directory: no shared bytes, no hidden ones.
void check_tiling(std::vector<ZipMember>& members, const zip::Directory& directory, Problems& problems) {
  std::vector<ZipMember*> order;
  for (ZipMember& member : members)
    if (member.data_offset != 0) order.push_back(&member);
  std::sort(order.begin(), order.end(),
            [](const ZipMember* a, const ZipMember* b) { return a->header_offset < b->header_offset; });
  std::uint64_t end = directory.shift;
  ZipMember* previous = nullptr;
  const auto gap_before = [&](std::uint64_t next) {
    if (next <= end) return;
    const std::uint64_t gap = next - end;
    const bool descriptor = previous != nullptr && (previous->flags & zip::k_flag_descriptor) != 0 &&
                            (gap == 12 || gap == 16 || gap == 20 || gap == 24);
    if (!descriptor) problems.error("ZIP019", fmt::format("{} bytes at offset {} belong to no member", gap, end));
  };
  for (ZipMember* const member : order) {
    if (member->header_offset < end) {
      problems.error("ZIP018", fmt::format("{} shares bytes with {}", printable(member->name),
                                           previous == nullptr ? "something else" : printable(previous->name)));
      member->readable = false;
      if (previous != nullptr) previous->readable = false;
    } else {
      gap_before(member->header_offset);
    }
    end = std::max(end, member->data_offset + member->compressed_size);
    previous = member;
  }
  gap_before(directory.offset);
}

}  // namespace

void read_own_header(Bytes at, std::uint64_t limit, ZipMember& member, Problems& problems) {
  const auto local = zip::read_local(at, problems);
  if (!local) {
    problems.error("ZIP008",
                   fmt::format("{} has no header of its own where the central directory says", printable(member.name)));
    member.readable = false;
    return;
  }
  const auto differs = [&](std::string_view what, std::string_view code = "ZIP009") {
    problems.error(code, fmt::format("the two headers of {} disagree about its {}", printable(member.name), what));
    member.readable = false;
  };
  if (local->name != member.name) differs("name");
  if (local->method != member.method) differs("method", "ZIP031");
  if (local->flags != member.flags) differs("flags", "ZIP031");
  // With a data descriptor the member's own header may leave these empty.
  const bool later = (member.flags & zip::k_flag_descriptor) != 0 && local->crc32 == 0 && local->size == 0 &&
                     local->compressed_size == 0;
  if (!later && local->crc32 != member.crc32) differs("CRC", "ZIP031");
  if (!later && (local->size != member.size || local->compressed_size != member.compressed_size)) differs("size");

  member.data_offset = member.header_offset + local->length;
  if (member.data_offset <= limit && member.compressed_size <= limit - member.data_offset) return;
  problems.error("ZIP008", fmt::format("the data of {} reaches into the central directory", printable(member.name)));
  member.readable = false;
}

std::vector<ZipMember> read_zip_directory(Bytes table, const zip::Directory& directory, std::uint64_t file_size,
                                          Problems& problems) {
  std::vector<ZipMember> members = read_entries(table, directory, file_size, problems);
  zip::check_members(members, problems);
  zip::check_names(members, problems);
  zip::check_growth(members, file_size, problems);
  zip::check_looks(members, problems);
  return members;
}

std::optional<std::vector<ZipMember>> read_zip(Bytes file, Problems& problems) {
  const auto directory = zip::find_directory(file, file.size(), problems);
  if (!directory) return std::nullopt;
  std::vector<ZipMember> members =
      read_entries(file.slice(directory->offset, directory->size).value_or(Bytes()), *directory, file.size(), problems);
  for (ZipMember& member : members)
    if (member.readable) read_own_header(file.from(member.header_offset), directory->offset, member, problems);
  check_tiling(members, *directory, problems);
  zip::check_members(members, problems);
  zip::check_names(members, problems);
  zip::check_growth(members, file.size(), problems);
  zip::check_looks(members, problems);
  zip::check_not_tar(file, problems);
  return members;
}

}  // namespace sagekit
