#include "archive/zip_writer.hpp"

#include "archive/inflate.hpp"
#include "archive/zip_library.hpp"
#include "support/format.hpp"
#include "support/parallel.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>

namespace sagekit {

namespace {

std::unexpected<Error> failed(const std::string& what, const char* why) {
  return fail(ErrorKind::machine, "PKG002", fmt::format("{} cannot be written: {}", what, why),
              "look at the space left and at the folder's permissions");
}

/// A member's stream, made before libzip is asked to write it.
struct ReadyStream {
  std::string made;
  std::string_view bytes;  ///< of `made`, or of the archive that it is copied from
  std::uint64_t size = 0;  ///< of the content
  std::uint32_t crc = 0;   ///< of the content
  zip_uint16_t method = ZIP_CM_DEFLATE;
  std::size_t read = 0;
};

/// The streams of all members, made side by side. What a member becomes depends on no other and on no thread.
std::vector<ReadyStream> deflate_all(const std::vector<ZipEntry>& entries, unsigned threads, CompressedParts* kept) {
  std::vector<ReadyStream> streams(entries.size());
  std::vector<std::uint64_t> costs;
  for (const auto& entry : entries) costs.push_back(entry.copied ? 0 : entry.bytes.size());
  run_with_workers(costs, UINT64_MAX, threads, [&] {
    return [&, deflater = std::make_shared<Deflater>()](std::size_t i) {
      const auto content = entries[i].bytes;
      ReadyStream& stream = streams[i];
      if (const auto& copied = entries[i].copied) {
        stream = {{}, content, copied->size, copied->crc32, copied->method, 0};
      } else {
        stream = {deflate_in_parts(content, entries[i].cuts, *deflater, kept),
                  {},
                  content.size(),
                  crc32_of(content),
                  ZIP_CM_DEFLATE,
                  0};
        stream.bytes = stream.made;
      }
    };
  });
  return streams;
}

zip_int64_t describe(const ReadyStream& stream, void* data, zip_uint64_t size) {
  if (size < sizeof(zip_stat_t)) return -1;
  auto& stat = *static_cast<zip_stat_t*>(data);
  stat.valid |= ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_CRC | ZIP_STAT_COMP_METHOD;
  stat.size = stream.size;
  stat.comp_size = stream.bytes.size();
  stat.crc = stream.crc;
  stat.comp_method = stream.method;
  return sizeof(zip_stat_t);
}

/// libzip's view of a stream: it says that it has its method already, so libzip copies it as it is.
zip_int64_t serve(void* state, void* data, zip_uint64_t size, zip_source_cmd_t command) {
  auto& stream = *static_cast<ReadyStream*>(state);
  switch (command) {
    case ZIP_SOURCE_OPEN: stream.read = 0; return 0;
    case ZIP_SOURCE_READ: {
      const auto count = std::min<std::uint64_t>(size, stream.bytes.size() - stream.read);
      if (count != 0) std::memcpy(data, stream.bytes.data() + stream.read, count);
      stream.read += count;
      return static_cast<zip_int64_t>(count);
    }
    case ZIP_SOURCE_STAT: return describe(stream, data, size);
    case ZIP_SOURCE_SUPPORTS: return ZIP_SOURCE_SUPPORTS_READABLE;
    case ZIP_SOURCE_ERROR:  // reading memory does not fail
      if (size < 2 * sizeof(int)) return -1;
      std::memset(data, 0, 2 * sizeof(int));
      return 2 * sizeof(int);
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE: return 0;
    default: return -1;
  }
}

/// An archive that is thrown away unless it is closed.
class NewArchive {
 public:
  NewArchive(const ZipLibrary& library, zip_t* zip, std::string what)
      : m_lib(library), m_zip(zip), m_what(std::move(what)) {}
  ~NewArchive() {
    if (m_zip != nullptr) m_lib.discard(m_zip);
  }
  NewArchive(const NewArchive&) = delete;
  NewArchive& operator=(const NewArchive&) = delete;

  /// `stream` must stay until the archive is closed.
  Status add(const ZipEntry& entry, ReadyStream& stream, DosTime time) {
    zip_source_t* source = m_lib.source_function(m_zip, serve, &stream);
    if (source == nullptr) return error();
    const zip_int64_t added = m_lib.file_add(m_zip, entry.name.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (added < 0) {
      m_lib.source_free(source);
      return error();
    }
    const auto index = static_cast<zip_uint64_t>(added);
    if (entry.copied) time = entry.copied->time;
    const zip_uint32_t own_mode = entry.copied ? entry.copied->mode & 07777u : 0;
    const zip_uint32_t mode = (S_IFREG | (own_mode != 0 ? own_mode : 0644u)) << 16;
    if (m_lib.set_file_compression(m_zip, index, stream.method, 0) != 0 ||
        m_lib.file_set_dostime(m_zip, index, time.time, time.date, 0) != 0 ||
        m_lib.file_set_external_attributes(m_zip, index, 0, ZIP_OPSYS_UNIX, mode) != 0)
      return error();
    return {};
  }

  Status close() {
    if (m_lib.close(m_zip) != 0) return error();
    m_zip = nullptr;
    return {};
  }

 private:
  std::unexpected<Error> error() { return failed(m_what, m_lib.strerror(m_zip)); }

  const ZipLibrary& m_lib;
  zip_t* m_zip;
  std::string m_what;
};

/// The number at `at`, `digits` long; -1 when it is none.
int number(std::string_view text, std::size_t at, std::size_t digits) {
  if (at + digits > text.size() || !is_digits(text.substr(at, digits))) return -1;
  int value = -1;
  std::from_chars(text.data() + at, text.data() + at + digits, value);
  return value;
}

}  // namespace

DosTime dos_time(std::string_view text) {
  const int year = number(text, 0, 4), month = number(text, 5, 2), day = number(text, 8, 2);
  const int hour = number(text, 11, 2), minute = number(text, 14, 2), second = number(text, 17, 2);
  if (year < 1980 || year > 2107 || month < 1 || month > 12 || day < 1 || day > 31) return {};
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) return {};
  return {static_cast<std::uint16_t>((year - 1980) << 9 | month << 5 | day),
          static_cast<std::uint16_t>(hour << 11 | minute << 5 | std::min(second, 59) / 2)};
}

Status write_zip(const std::filesystem::path& file, const std::vector<ZipEntry>& entries, DosTime time,
                 unsigned threads, CompressedParts* kept) {
  TRY_ASSIGN(const ZipLibrary* const library, zip_library());
  const ZipLibrary& zip = *library;
  int code = 0;
  zip_t* const opened = zip.open(file.c_str(), ZIP_CREATE | ZIP_EXCL, &code);
  if (opened == nullptr) {
    zip_error_t error;
    zip.error_init_with_code(&error, code);
    const std::string why = zip.error_strerror(&error);
    zip.error_fini(&error);
    return failed(file.string(), why.c_str());
  }
  auto streams = deflate_all(entries, threads, kept);  // outlive the archive, which reads them when it is closed
  NewArchive archive(zip, opened, file.string());
  for (std::size_t i = 0; i < entries.size(); ++i) TRY(archive.add(entries[i], streams[i], time));
  return archive.close();
}

}  // namespace sagekit
