#pragma once
// A wheel read over ranges: its central directory, then the members that are wanted, in few merged requests.

#include "index/random_access.hpp"
#include "inspect/zip_reader.hpp"

#include <functional>
#include <memory>
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
  std::string record_sha256() const { return m_record_sha256; }        ///< of RECORD's bytes, hex
  std::string directory_sha256() const { return m_directory_sha256; }  ///< of the central directory's bytes, hex
  /// The row's sha256 in hex; nothing when RECORD has none for that member.
  std::optional<std::string> recorded_sha256(std::string_view name) const;

  Result<std::string> read(std::string_view name, std::stop_token stop = {});

  /// Reads many members: ranges closer than 64 KiB are one request, at most 8 MiB each, up to `parallel` at a time.
  /// `sink(member, content)` is called once per member, in any order, one call at a time; its error ends it.
  Status extract(const std::vector<const ZipMember*>& wanted, std::size_t parallel,
                 const std::function<Status(const ZipMember&, std::string)>& sink, std::stop_token stop = {});

  /// The compressed bytes [offset, offset + length) of a member's data, unchecked: for readers that check themselves.
  Result<std::string> read_compressed(const ZipMember& member, std::uint64_t offset, std::uint64_t length,
                                      std::stop_token stop = {});

 private:
  explicit RemoteWheel(std::unique_ptr<RandomAccess> file) : m_file(std::move(file)) {}
  std::unique_ptr<RandomAccess> m_file;
  std::vector<ZipMember> m_members;
  std::string m_dist_info, m_record, m_record_sha256, m_directory_sha256;
};

}  // namespace sagekit
