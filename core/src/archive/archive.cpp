#include "archive/archive.hpp"

#include "archive/archive_library.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/try.hpp"

#include <cstdint>
#include <fstream>
#include <memory>
#include <new>
#include <vector>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t k_most_bytes = std::uint64_t{4} << 30;
constexpr std::size_t k_most_entries = 200'000;
constexpr std::size_t k_block = 256 * 1024;

using Archive = std::unique_ptr<archive, decltype(&::archive_read_free)>;

Archive new_archive(const ArchiveLibrary& lib) {
  Archive made(lib.read_new(), lib.read_free);
  if (!made) throw std::bad_alloc();
  return made;
}

std::unexpected<Error> bad(const fs::path& archive, std::string_view why) {
  return fail(ErrorKind::usage, "SRC005", fmt::format("cannot unpack {}: {}", archive.string(), why),
              "give a .tar.gz, .tar.zst or .zip of the source tree, a folder, or a git repository");
}

std::string_view why(const ArchiveLibrary& lib, archive* a) {
  const char* text = lib.error_string(a);
  return text != nullptr ? text : "not an archive that is understood";
}

bool leaves(const fs::path& path) {
  if (path.empty() || path.is_absolute()) return true;
  for (const auto& part : path)
    if (part == "..") return true;
  return false;
}

// A link unpacked before must not lead a later member outside.
bool passes_link(const fs::path& into, const fs::path& relative) {
  fs::path at = into;
  std::error_code ignored;
  for (const auto& part : relative.parent_path()) {
    at /= part;
    if (fs::is_symlink(fs::symlink_status(at, ignored))) return true;
  }
  return false;
}

Status write_member(const ArchiveLibrary& lib, archive* a, const fs::path& archive, const fs::path& target,
                    std::uint64_t& total) {
  std::ofstream out(target, std::ios::binary | std::ios::trunc);
  std::vector<char> block(k_block);
  while (out) {
    const la_ssize_t n = lib.read_data(a, block.data(), block.size());
    if (n < 0) return bad(archive, why(lib, a));
    if (n == 0) break;
    total += static_cast<std::uint64_t>(n);
    if (total > k_most_bytes) return bad(archive, "it unpacks to more than 4 GiB");
    out.write(block.data(), n);
  }
  out.close();
  if (!out) return fail(ErrorKind::machine, "STO002", fmt::format("cannot write {}", target.string()));
  return {};
}

using Visit = std::function<Status(const std::string& path, std::string_view content)>;

/// One archive in memory, and the inner archive of a Debian package.
class ArchiveWalk {
 public:
  ArchiveWalk(const ArchiveLibrary& library, const ArchiveLimits& limits, const Visit& visit)
      : m_lib(library), m_limits(limits), m_visit(visit) {}

  Status walk(std::string_view bytes, bool inner = false) {
    const Archive reader = new_archive(m_lib);
    m_lib.support_filter_all(reader.get());
    m_lib.support_tar(reader.get());
    m_lib.support_ar(reader.get());
    m_lib.support_cpio(reader.get());
    m_lib.support_zip(reader.get());
    if (m_lib.open_memory(reader.get(), bytes.data(), bytes.size()) != ARCHIVE_OK)
      return damaged(why(m_lib, reader.get()));
    std::vector<char> content;
    for (;;) {
      archive_entry* entry = nullptr;
      const int status = m_lib.next_header(reader.get(), &entry);
      if (status == ARCHIVE_EOF) return {};
      if (status != ARCHIVE_OK && status != ARCHIVE_WARN) return damaged(why(m_lib, reader.get()));
      if (++m_entries > m_limits.entries) return damaged("it has too many entries");
      const char* const name = m_lib.entry_pathname(entry);
      const std::string path = name != nullptr ? name : "";
      // What a folder or a link claims to hold is unpacked too when it is passed over, so it is counted.
      TRY(read_content(reader.get(), path, content));
      if (m_lib.entry_filetype(entry) != AE_IFREG || m_lib.entry_hardlink(entry) != nullptr) continue;
      const std::string_view text(content.data(), content.size());
      const bool package_data = !inner &&
                                (m_lib.format(reader.get()) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_AR &&
                                path.starts_with("data.tar");
      if (package_data)
        TRY(walk(text, true));
      else
        TRY(m_visit(path, text));
    }
  }

 private:
  static std::unexpected<Error> damaged(std::string_view why) {
    return fail(ErrorKind::failed, "INS060", fmt::format("the archive cannot be read to its end: {}", why));
  }

  Status read_content(archive* a, const std::string& path, std::vector<char>& content) {
    content.clear();
    for (;;) {
      const void* block = nullptr;
      std::size_t size = 0;
      la_int64_t offset = 0;
      const int status = m_lib.read_data_block(a, &block, &size, &offset);
      if (status == ARCHIVE_EOF) return {};
      if (status != ARCHIVE_OK && status != ARCHIVE_WARN) return damaged(why(m_lib, a));
      // A sparse file's holes are zeros; a block never lies before the end of what was read.
      const auto begin = static_cast<std::uint64_t>(offset);
      if (offset < 0 || begin < content.size() || begin > m_limits.file_bytes || size > m_limits.file_bytes - begin)
        return damaged(fmt::format("{} is larger than {} bytes", path, m_limits.file_bytes));
      m_bytes += begin + size - content.size();
      if (m_bytes > m_limits.all_bytes) return damaged("it unpacks to too much");
      content.resize(begin);
      const char* const data = static_cast<const char*>(block);
      content.insert(content.end(), data, data + size);
    }
  }

  const ArchiveLibrary& m_lib;
  const ArchiveLimits& m_limits;
  const Visit& m_visit;
  std::size_t m_entries = 0;
  std::uint64_t m_bytes = 0;
};

}  // namespace

Status read_archive(std::string_view bytes, const ArchiveLimits& limits, const Visit& visit) {
  TRY_ASSIGN(const ArchiveLibrary* const library, archive_library());
  return ArchiveWalk(*library, limits, visit).walk(bytes);
}

Status unpack_archive(const fs::path& path, const fs::path& into) {
  TRY_ASSIGN(const ArchiveLibrary* const library, archive_library());
  const ArchiveLibrary& lib = *library;
  const Archive reader = new_archive(lib);
  lib.support_filter_all(reader.get());
  lib.support_tar(reader.get());
  lib.support_zip(reader.get());
  if (lib.open_filename(reader.get(), path.c_str(), k_block) != ARCHIVE_OK) return bad(path, why(lib, reader.get()));

  std::uint64_t total = 0;
  std::size_t count = 0;
  for (;;) {
    archive_entry* entry = nullptr;
    const int status = lib.next_header(reader.get(), &entry);
    if (status == ARCHIVE_EOF) break;
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) return bad(path, why(lib, reader.get()));
    if (++count > k_most_entries) return bad(path, "it has more than 200,000 entries");
    const char* name = lib.entry_pathname(entry);
    const fs::path relative = fs::path(name != nullptr ? name : "").lexically_normal();
    if (relative == "." || relative == "./") continue;
    if (leaves(relative) || passes_link(into, relative))
      return bad(path, fmt::format("its member \"{}\" would lie outside", relative.string()));
    const fs::path target = into / relative;
    const auto type = lib.entry_filetype(entry);
    if (type == AE_IFDIR) {
      TRY(make_directories(target));
      continue;
    }
    TRY(make_directories(target.parent_path()));
    std::error_code error;
    if (fs::exists(fs::symlink_status(target, error)))
      return bad(path, fmt::format("its member \"{}\" is there twice", relative.string()));
    if (type == AE_IFLNK) {
      const char* to = lib.entry_symlink(entry);
      fs::create_symlink(to != nullptr ? to : "", target, error);
      if (error) return bad(path, error.message());
      continue;
    }
    if (type != AE_IFREG || lib.entry_hardlink(entry) != nullptr)
      return bad(path, fmt::format("its member \"{}\" is neither file, folder nor symbolic link", relative.string()));
    TRY(write_member(lib, reader.get(), path, target, total));
    const bool executable = (lib.entry_perm(entry) & 0100) != 0;
    fs::permissions(target, static_cast<fs::perms>(executable ? 0755 : 0644), error);
  }
  return {};
}

fs::path strip_single_folder(const fs::path& folder) {
  std::error_code error;
  fs::directory_iterator walk(folder, error), end;
  if (error || walk == end) return folder;
  const fs::path first = walk->path();
  if (!fs::is_directory(fs::symlink_status(first, error))) return folder;
  walk.increment(error);
  return !error && walk == end ? first : folder;
}

}  // namespace sagekit
