#include "archive/zip_writer.hpp"

#include "archive/zip_library.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sys/stat.h>

#include <charconv>
#include <memory>

namespace sagekit {

namespace {

constexpr zip_uint32_t k_level = 9;

std::unexpected<Error> failed(const std::string& what, const char* why) {
  return fail(ErrorKind::machine, "PKG002", fmt::format("{} cannot be written: {}", what, why),
              "look at the space left and at the folder's permissions");
}

/// An archive that is thrown away unless it is closed.
class Archive {
 public:
  Archive(const ZipLibrary& library, zip_t* zip, std::string what)
      : m_lib(library), m_zip(zip), m_what(std::move(what)) {}
  ~Archive() {
    if (m_zip != nullptr) m_lib.discard(m_zip);
  }
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  Status add(const ZipEntry& entry, DosTime time) {
    zip_source_t* source = m_lib.source_buffer(m_zip, entry.bytes.data(), entry.bytes.size(), 0);
    if (source == nullptr) return error();
    const zip_int64_t added = m_lib.file_add(m_zip, entry.name.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (added < 0) {
      m_lib.source_free(source);
      return error();
    }
    const auto index = static_cast<zip_uint64_t>(added);
    const zip_uint32_t mode = (S_IFREG | 0644u) << 16;
    if (m_lib.set_file_compression(m_zip, index, ZIP_CM_DEFLATE, k_level) != 0 ||
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

Status write_zip(const std::filesystem::path& file, const std::vector<ZipEntry>& entries, DosTime time) {
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
  Archive archive(zip, opened, file.string());
  for (const auto& entry : entries) TRY(archive.add(entry, time));
  return archive.close();
}

Result<std::uint64_t> deflated_size(std::string_view bytes) {
  TRY_ASSIGN(const ZipLibrary* const library, zip_library());
  const ZipLibrary& zip = *library;
  constexpr std::string_view k_what = "an archive in memory";
  zip_error_t error;
  zip.error_init(&error);
  zip_source_t* target = zip.source_buffer_create(nullptr, 0, 0, &error);
  zip_t* const opened = target == nullptr ? nullptr : zip.open_from_source(target, ZIP_TRUNCATE, &error);
  if (opened == nullptr) {
    const std::string why = zip.error_strerror(&error);
    zip.error_fini(&error);
    if (target != nullptr) zip.source_free(target);
    return failed(std::string(k_what), why.c_str());
  }
  zip.error_fini(&error);
  zip.source_keep(target);
  const std::unique_ptr<zip_source_t, decltype(&::zip_source_free)> keep(target, zip.source_free);
  {
    Archive archive(zip, opened, std::string(k_what));
    TRY(archive.add({"x", bytes}, {}));
    TRY(archive.close());
  }
  // The archive holds one member of a one-letter name: two headers, the name twice, the end record.
  constexpr std::uint64_t k_framing = 30 + 46 + 2 + 22;
  zip_stat_t stat;
  zip.stat_init(&stat);
  if (zip.source_stat(target, &stat) != 0 || (stat.valid & ZIP_STAT_SIZE) == 0 || stat.size < k_framing)
    return failed(std::string(k_what), "its size is not known");
  return stat.size - k_framing;
}

}  // namespace sagekit
