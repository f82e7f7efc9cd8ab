#include "index/remote_wheel.hpp"

#include "archive/wheel_archive.hpp"
#include "archive/zip_format.hpp"
#include "support/format.hpp"
#include "support/parallel.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>
#include <mutex>

namespace sagekit {

namespace {

using zip::printable;

constexpr std::uint64_t k_tail = 64 * 1024;                          // holds the end records and small directories
constexpr std::uint64_t k_max_directory = std::uint64_t{256} << 20;  // torch's is 1.2 MB
constexpr std::uint64_t k_piece = 8 << 20, k_gap = 64 * 1024;
constexpr std::uint64_t k_max_extracted = 256 << 20, k_alone = 64 << 20;  // nvcc's largest program has 72 MiB
// A header's name and extra field, and a data descriptor behind the data, are no longer than this.
constexpr std::uint64_t k_max_framing = zip::k_local_size + 2 * 0xffff + 24;

/// Members whose bytes come in one request.
struct Group {
  std::uint64_t begin = 0, end = 0;
  std::vector<const ZipMember*> members;
};

std::unexpected<Error> refused(std::string why, std::string hint = {}) {
  return fail(ErrorKind::failed, "IDX020", "the wheel is not read: " + std::move(why), std::move(hint));
}

}  // namespace

Result<RemoteWheel> RemoteWheel::open(std::unique_ptr<RandomAccess> file, std::stop_token stop) {
  RemoteWheel wheel(std::move(file));
  TRY(wheel.read_directory(stop));
  TRY(wheel.read_record_rows(stop));
  return wheel;
}

Status RemoteWheel::read_directory(std::stop_token stop) {
  const std::uint64_t size = m_file->size();
  const std::uint64_t tail_at = size - std::min(size, k_tail);
  TRY_ASSIGN(const std::string tail, m_file->read(tail_at, size - tail_at, stop));
  Problems problems("the wheel");
  const auto refuse = [&] {
    const Diagnostic& why = problems.list().front();
    return refused(fmt::format("{} ({})", why.message, why.code), why.hint);
  };
  const auto directory = zip::find_directory(Bytes(tail), size, problems);
  if (!directory || problems.has_errors()) return refuse();
  if (directory->size > k_max_directory)
    return refused(fmt::format("its central directory has {} bytes", directory->size));

  std::string table;
  if (directory->offset < tail_at) {
    const std::uint64_t end = std::min(directory->offset + directory->size, tail_at);
    TRY_ASSIGN(table, read_pieces(directory->offset, end, stop));
  }
  const std::uint64_t have = directory->offset + table.size();
  if (table.size() < directory->size) table += tail.substr(have - tail_at, directory->size - table.size());
  m_directory_sha256 = sha256_hex(table);
  m_members = read_zip_directory(Bytes(table), *directory, size, problems);
  if (problems.has_errors()) return refuse();

  for (const ZipMember& member : m_members) m_boundaries.push_back(member.header_offset);
  m_boundaries.push_back(directory->offset);
  std::sort(m_boundaries.begin(), m_boundaries.end());
  if (m_boundaries.front() != 0 && !m_members.empty()) return refused("it does not begin with its first member");
  if (std::ranges::adjacent_find(m_boundaries) != m_boundaries.end()) return refused("two of its members share bytes");
  for (const ZipMember& member : m_members) {
    const std::uint64_t room = end_of(member) - member.header_offset;
    const std::uint64_t header = zip::k_local_size + member.name.size();
    if (member.compressed_size > room || header > room - member.compressed_size)
      return refused(printable(member.name) + " shares bytes with what follows it");
    if (room - member.compressed_size > k_max_framing)
      return refused("bytes that belong to no member follow " + printable(member.name));
  }
  std::sort(m_members.begin(), m_members.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return {};
}

Status RemoteWheel::read_record_rows(std::stop_token stop) {
  const ZipMember* record = nullptr;
  for (const ZipMember& member : m_members) {
    if (!member.name.ends_with(".dist-info/RECORD") || count_of(member.name, "/") != 1) continue;
    if (record != nullptr) return refused("it has two RECORD files");
    record = &member;
  }
  if (record == nullptr) return refused("it has no RECORD, so nothing in it can be checked");
  if (record->size > k_alone) return refused(fmt::format("its RECORD has {} bytes", record->size));
  m_dist_info = record->name.substr(0, record->name.find('/'));
  TRY_ASSIGN(const std::string bytes, read_pieces(record->header_offset, end_of(*record), stop));
  TRY_ASSIGN(m_record, unpack(*record, bytes, record->header_offset));
  m_record_sha256 = sha256_hex(m_record);
  RecordText text = read_record(m_record);
  if (!text.faults.empty()) return refused("its RECORD is damaged: " + text.faults.front());
  for (RecordRow& row : text.rows) {
    std::string path = row.path;
    if (!m_rows.emplace(path, std::move(row)).second)
      return refused(fmt::format("its RECORD lists {} twice", printable(path)));
  }
  // A directory that was altered could hide a member, and nobody would miss it.
  for (const auto& [path, row] : m_rows)
    if (find(path) == nullptr) return refused(fmt::format("its RECORD lists {}, which is not in it", printable(path)));
  return {};
}

const ZipMember* RemoteWheel::find(std::string_view name) const {
  const auto found = std::lower_bound(m_members.begin(), m_members.end(), name,
                                      [](const ZipMember& member, std::string_view key) { return member.name < key; });
  return found == m_members.end() || found->name != name ? nullptr : &*found;
}

std::uint64_t RemoteWheel::end_of(const ZipMember& member) const {
  const auto next = std::upper_bound(m_boundaries.begin(), m_boundaries.end(), member.header_offset);
  return next == m_boundaries.end() ? member.header_offset : *next;
}

std::optional<std::string> RemoteWheel::recorded_sha256(std::string_view name) const {
  const auto row = m_rows.find(name);
  return row == m_rows.end() ? std::nullopt : sha256_of_record(row->second.hash);
}

Result<std::string> RemoteWheel::read_pieces(std::uint64_t offset, std::uint64_t end, std::stop_token stop) {
  std::string bytes;
  while (offset < end) {
    TRY_ASSIGN(const std::string piece, m_file->read(offset, std::min(end - offset, k_piece), stop));
    bytes += piece;
    offset += piece.size();
    if (piece.empty()) return fail(ErrorKind::bug, "IDX018", "a read of a wheel gave no bytes");
  }
  return bytes;
}

Result<std::string> RemoteWheel::unpack(const ZipMember& member, std::string_view bytes, std::uint64_t offset) const {
  const std::uint64_t at = member.header_offset - offset;
  const std::uint64_t end = end_of(member) - offset;
  ZipMember own = member;
  Problems problems("the wheel");
  const auto mine = Bytes(bytes).slice(at, end - at);
  read_own_header(mine.value_or(Bytes()), end_of(member), own, problems);
  if (problems.has_errors() || !own.readable)
    return fail(ErrorKind::failed, "IDX023",
                fmt::format("{} is not in the wheel as its central directory says{}", printable(member.name),
                            problems.list().empty() ? "" : ": " + problems.list().front().message),
                "the wheel was altered or replaced: fetch it again");
  // A data descriptor (12 to 24 bytes) may follow; nothing else.
  const std::uint64_t gap = end_of(member) - own.data_offset - own.compressed_size;
  if (gap != 0 && ((own.flags & 8) == 0 || gap > 24))
    return fail(ErrorKind::failed, "IDX023",
                fmt::format("{} bytes that belong to no member follow {} in the wheel", gap, printable(member.name)),
                "the wheel was altered or replaced: fetch it again");
  own.data_offset -= offset;
  auto content = read_zip_member(Bytes(bytes), own);
  if (content) return content;
  return fail(ErrorKind::failed, "IDX023", content.error().message + " (" + content.error().code + ")",
              "the wheel was altered or replaced: fetch it again", printable(member.name));
}

Status RemoteWheel::check_record(const ZipMember& member, const std::string& content) const {
  const auto wrong = [&](std::string_view what) {
    return fail(ErrorKind::failed, "IDX021", fmt::format("{} {}", printable(member.name), what),
                "the wheel was altered or is damaged: do not use it", m_dist_info + "/RECORD");
  };
  if (member.name == m_dist_info + "/RECORD")
    return content == m_record ? Status() : wrong("changed while the wheel was read");
  const auto row = m_rows.find(member.name);
  if (row == m_rows.end()) return wrong("is not listed in RECORD, so its content cannot be checked");
  if (row->second.hash.empty()) return wrong("has no hash in RECORD, so its content cannot be checked");
  if (row->second.size != std::to_string(content.size()))
    return wrong(fmt::format("has {} bytes, RECORD says {}", content.size(), printable(row->second.size)));
  if (row->second.hash != sha256_record(content)) return wrong("does not have the hash that RECORD says");
  return {};
}

Result<std::string> RemoteWheel::read(std::string_view name, std::stop_token stop) {
  const ZipMember* const member = find(name);
  if (member == nullptr)
    return fail(ErrorKind::no_match, "IDX022", fmt::format("the wheel has no member {}", printable(name)), {},
                m_dist_info);
  TRY_ASSIGN(const std::string bytes, read_pieces(member->header_offset, end_of(*member), stop));
  TRY_ASSIGN(std::string content, unpack(*member, bytes, member->header_offset));
  TRY(check_record(*member, content));
  return content;
}

Status RemoteWheel::extract(const std::vector<const ZipMember*>& wanted, std::size_t parallel,
                            const std::function<Status(const ZipMember&, std::string)>& sink, std::stop_token stop) {
  std::vector<const ZipMember*> order;
  for (const ZipMember* const member : wanted) {
    if (member->is_folder()) continue;
    if (member->size > k_max_extracted || member->compressed_size > k_max_extracted)
      return fail(
          ErrorKind::failed, "IDX024",
          fmt::format("{} has {} bytes, too many to be read with others", printable(member->name), member->size));
    order.push_back(member);
  }
  const auto place = [](const ZipMember* member) { return member->header_offset; };
  std::ranges::sort(order, {}, place);
  order.erase(std::ranges::unique(order).begin(), order.end());
  std::vector<Group> groups;
  for (const ZipMember* const member : order) {
    const std::uint64_t end = end_of(*member);
    const bool fits =
        !groups.empty() && member->header_offset - groups.back().end < k_gap && end - groups.back().begin <= k_piece;
    if (!fits) groups.push_back({member->header_offset, end, {}});
    groups.back().end = end;
    groups.back().members.push_back(member);
  }

  std::stop_source ended;
  const std::stop_callback forward(stop, [&] { ended.request_stop(); });
  std::mutex mutex;  // of the two below, and of the sink
  Status status;
  const auto give_up = [&](Error error) {
    const std::scoped_lock lock(mutex);
    if (status) status = std::unexpected(std::move(error));
    ended.request_stop();
  };
  std::mutex large;  // one large member at a time, so that memory stays bounded whatever `parallel` is
  const auto read_group = [&](const Group& group) -> Status {
    std::unique_lock<std::mutex> alone;
    const auto is_large = [](const ZipMember* member) {
      return std::max(member->size, member->compressed_size) > k_alone;
    };
    if (std::ranges::any_of(group.members, is_large)) alone = std::unique_lock(large);
    TRY_ASSIGN(const std::string bytes, read_pieces(group.begin, group.end, ended.get_token()));
    for (const ZipMember* const member : group.members) {
      TRY_ASSIGN(std::string content, unpack(*member, bytes, group.begin));
      TRY(check_record(*member, content));
      const std::scoped_lock lock(mutex);
      if (!status) return {};  // another one failed
      TRY(sink(*member, std::move(content)));
    }
    return {};
  };
  run_in_parallel(groups.size(), static_cast<unsigned>(std::min<std::size_t>(parallel, groups.size())),
                  [&](std::size_t i) {
                    if (ended.stop_requested()) return;
                    if (Status done = read_group(groups[i]); !done) give_up(std::move(done).error());
                  });
  if (status && stop.stop_requested()) return fail(ErrorKind::interrupted, "IDX016", "stopped while reading a wheel");
  return status;
}

Result<std::string> RemoteWheel::read_compressed(const ZipMember& member, std::uint64_t offset, std::uint64_t length,
                                                 std::stop_token stop) {
  if (offset > member.compressed_size || length > member.compressed_size - offset)
    return fail(ErrorKind::bug, "IDX018", "a read beyond the data of " + printable(member.name));
  std::uint64_t data = 0;
  {
    const std::scoped_lock lock(m_data_offsets->mutex);
    const auto known = m_data_offsets->by_header.find(member.header_offset);
    if (known != m_data_offsets->by_header.end()) data = known->second;
  }
  if (data == 0) {
    // The extra field's length is not known before the header is read; it is nearly always short.
    const std::uint64_t room = end_of(member) - member.header_offset;
    ZipMember own = member;
    for (const std::uint64_t extra : {std::uint64_t{256}, std::uint64_t{0x10000}}) {
      const std::uint64_t header = std::min(room, zip::k_local_size + member.name.size() + extra);
      TRY_ASSIGN(const std::string bytes, m_file->read(member.header_offset, header, stop));
      Problems problems("the wheel");
      own = member;
      read_own_header(Bytes(bytes), end_of(member), own, problems);
      if (!problems.has_errors() && own.readable) break;
      own.readable = false;
    }
    if (!own.readable)
      return fail(ErrorKind::failed, "IDX023",
                  printable(member.name) + " is not in the wheel as its central directory says",
                  "the wheel was altered or replaced: fetch it again");
    data = own.data_offset;
    const std::scoped_lock lock(m_data_offsets->mutex);
    m_data_offsets->by_header.emplace(member.header_offset, data);
  }
  return read_pieces(data + offset, data + offset + length, stop);
}

}  // namespace sagekit
