#pragma once
// An open wheel: its members listed, any of them inflated on request and checked. Nothing is ever unpacked to disk.
//
// For judges: open once, then `read` what is wanted; `read_wheel` (wheel_reader.hpp) takes the same object, so one
// mapping and one framing pass serve both.

#include "archive/inflate.hpp"
#include "archive/zip_reader.hpp"
#include "support/file.hpp"

#include <sagekit/diagnostic.hpp>
#include <sagekit/error.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

class WheelArchive {
 public:
  /// Maps the file and reads its framing. Errors: FIL001 (usage, unreadable path), INS05x and ZIP001 and the like
  /// (failed: it is another file, or no central directory can be read). Everything else that is wrong is in `problems`.
  static Result<WheelArchive> open(const std::filesystem::path& path);
  /// The same of a file that is mapped already; `path` is its name in what is said of it.
  static Result<WheelArchive> from(const std::filesystem::path& path, MappedFile file);

  const std::filesystem::path& path() const { return m_path; }
  /// The whole file.
  std::string_view bytes() const { return m_file.bytes(); }
  const MappedFile& file() const { return m_file; }
  /// Sorted by name. Two members of one name are both here (and ZIP010 is in `problems`).
  const std::vector<ZipMember>& members() const { return m_members; }
  const Diagnostics& problems() const { return m_problems; }

  /// The member of exactly that name; null when there is none.
  const ZipMember* find(std::string_view name) const;
  /// Its dist-info folders, sorted: a right wheel has one.
  std::vector<std::string> dist_info_folders() const;

  /// A member's content, inflated; its size and CRC-32 are right. Thread-safe. Errors (failed): ZIP022 damaged data or
  /// a wrong size, ZIP023 wrong CRC, ZIP029 its framing was refused, so that it is not inflated.
  Result<std::string> read(const ZipMember& member) const;
  /// The same without a copy: a view into the file or into the inflater's memory, good until its next call.
  Result<Bytes> read(const ZipMember& member, Inflater& inflater) const;
  /// As above; INS003 (no_match) when there is no such member, with the nearest names.
  Result<std::string> read(std::string_view name) const;

 private:
  WheelArchive(std::filesystem::path path, MappedFile file) : m_path(std::move(path)), m_file(std::move(file)) {}

  std::filesystem::path m_path;
  MappedFile m_file;
  std::vector<ZipMember> m_members;
  Diagnostics m_problems;
};

/// The same check on bytes already in memory: what WheelArchive::read does after finding the member.
Result<std::string> read_zip_member(Bytes file, const ZipMember& member);
Result<Bytes> read_zip_member(Bytes file, const ZipMember& member, Inflater& inflater);

}  // namespace sagekit
