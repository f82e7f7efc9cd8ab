#pragma once
// A wheel read over ranges: its central directory, then the members that are wanted, in few merged requests.

#include "support/random_access.hpp"
#include "pypa/metadata_reader.hpp"
#include "archive/zip_reader.hpp"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// Holds the RandomAccess it reads from. Every read is checked against the wheel's RECORD (sha256 and size of the row):
/// a member without a row, or with another content, is an error (IDX021), whatever the archive's own CRC says.
class RemoteWheel {
 public:
  /// Reads end record, central directory and RECORD. IDX020 (failed) when it is no wheel or its framing is refused.
  static Result<RemoteWheel> open(std::unique_ptr<RandomAccess> file, std::stop_token stop = {});

  const std::vector<ZipMember>& members() const { return m_members; }  ///< sorted by name
  const ZipMember* find(std::string_view name) const;
  const std::string& dist_info() const { return m_dist_info; }  ///< "torch-2.11.0.dist-info"
  std::uint64_t size() const { return m_file->size(); }
  std::uint64_t bytes_read() const { return m_file->bytes_read(); }
  std::uint64_t requests() const { return m_file->requests(); }
  const std::string& record() const { return m_record; }               ///< RECORD's text
  std::string record_sha256() const { return m_record_sha256; }        ///< of RECORD's bytes, hex
  std::string directory_sha256() const { return m_directory_sha256; }  ///< of the central directory's bytes, hex
  /// The row's sha256 in hex; nothing when RECORD has none for that member.
  std::optional<std::string> recorded_sha256(std::string_view name) const;

  /// One member of any size up to `k_max_member_bytes`. IDX022 (no_match) when there is none of that name, IDX023
  /// (failed) when its own header or data are not what the central directory says.
  Result<std::string> read(std::string_view name, std::stop_token stop = {});

  /// Reads many members: ranges closer than 64 KiB are one request, at most 8 MiB each, up to `parallel` at a time.
  /// `sink(member, content)` is called once per member, in any order, one call at a time; its error ends it.
  /// Folders are passed over. Members above 64 MiB are inflated one at a time; one above 256 MiB is refused before
  /// anything is read (IDX024): `read` it alone.
  Status extract(const std::vector<const ZipMember*>& wanted, std::size_t parallel,
                 const std::function<Status(const ZipMember&, std::string)>& sink, std::stop_token stop = {});

  /// The compressed bytes [offset, offset + length) of a member's data, unchecked: for readers that check themselves.
  Result<std::string> read_compressed(const ZipMember& member, std::uint64_t offset, std::uint64_t length,
                                      std::stop_token stop = {});

 private:
  explicit RemoteWheel(std::unique_ptr<RandomAccess> file) : m_file(std::move(file)) {}
  Status read_directory(std::stop_token stop);
  Status read_record_rows(std::stop_token stop);
  /// Where the bytes of a member, header and data, end: the next member or the directory begins there.
  std::uint64_t end_of(const ZipMember& member) const;
  Result<std::string> read_pieces(std::uint64_t offset, std::uint64_t end, std::stop_token stop);
  /// A member out of bytes that begin at `offset` in the archive; inflated, not yet checked against RECORD.
  Result<std::string> unpack(const ZipMember& member, std::string_view bytes, std::uint64_t offset) const;
  Status check_record(const ZipMember& member, const std::string& content) const;

  /// What was learnt from members' own headers, so that reading a member piece by piece asks for its header once.
  struct DataOffsets {
    std::mutex mutex;
    std::map<std::uint64_t, std::uint64_t> by_header;
  };

  std::unique_ptr<RandomAccess> m_file;
  std::unique_ptr<DataOffsets> m_data_offsets = std::make_unique<DataOffsets>();
  std::vector<ZipMember> m_members;
  std::vector<std::uint64_t> m_boundaries;  ///< where members begin, and the central directory; sorted
  std::map<std::string, RecordRow, std::less<>> m_rows;
  std::string m_dist_info, m_record, m_record_sha256, m_directory_sha256;
};

}  // namespace sagekit
