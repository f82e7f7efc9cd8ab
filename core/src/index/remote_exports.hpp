#pragma once
// What a library inside a remote wheel exports, read from stretches at both of its ends.

#include "archive/deflate_tail.hpp"
#include "elf/dll_exports.hpp"
#include "elf/exports.hpp"
#include "index/remote_wheel.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace sagekit {

/// The content of one large member by offset. What is near its beginning is inflated from there, what is near its end
/// from a place found by InflatedTail; both grow as needed, within limits. Nothing here is checked against RECORD.
class MemberEnds {
 public:
  MemberEnds(RemoteWheel& wheel, const ZipMember& member) : m_wheel(wheel), m_member(member) {}

  /// Bytes [offset, offset + length) of the content. Nothing when they cannot be had this way: too far from both ends,
  /// no place to begin found, unknown bytes among them, damaged data. Errors are those of reading.
  Result<std::optional<std::string>> read(std::uint64_t offset, std::uint64_t length, std::stop_token stop);

 private:
  Result<std::optional<std::string>> read_beginning(std::uint64_t offset, std::uint64_t length, std::stop_token stop);
  Result<std::optional<std::string>> read_end(std::uint64_t offset, std::uint64_t length, std::stop_token stop);

  RemoteWheel& m_wheel;
  const ZipMember& m_member;
  PrefixInflater m_beginning;
  std::uint64_t m_fed = 0;             ///< compressed bytes from the beginning
  std::string m_end;                   ///< compressed bytes of the end
  std::optional<InflatedTail> m_tail;  ///< of them
};

/// From a library inside a wheel without its hundreds of megabytes: its first bytes, the start of the compressed data
/// up to the end of .dynsym, and the end of the compressed data, re-synchronised at a deflate block (where patchelf put
/// .dynstr). Self-checked: every name must hash into .gnu.hash, every hashed symbol must have its name. Where that does
/// not work out the whole member is read instead, and checked against RECORD. What is read in part cannot be checked
/// against RECORD: the names are self-checked, types and sizes rest on the transport and on the lock of `export_text`.
Result<ExportList> read_exports(RemoteWheel& wheel, const ZipMember& library, std::stop_token stop = {});

/// The same of a Windows library, whose linker put the export directory near the end. The directory is sorted and holds
/// all its names, which is what is checked of it.
Result<DllExports> read_dll_exports(RemoteWheel& wheel, const ZipMember& library, std::stop_token stop = {});

}  // namespace sagekit
