#include "support/file_kind.hpp"

#include "support/format.hpp"
#include "support/text.hpp"
#include "support/utf8.hpp"

#include <algorithm>
#include <array>

namespace sagekit {

namespace {

constexpr std::size_t k_head = 4096;
constexpr std::size_t k_text_head = 64 * 1024;
constexpr std::size_t k_shown = 80;

constexpr std::string_view k_again = "download it again, and compare its size and hash with the original";
constexpr std::string_view k_address =
    "the address needs a login, has moved or names a page: download the file itself, with an error for HTTP failures";

constexpr std::string_view k_text =
    "give the wheel or module itself; if this was downloaded as one, the text is what the server answered";

struct Magic {
  std::uint64_t offset;
  std::string_view bytes, name;
};
using namespace std::string_view_literals;

constexpr auto k_archives = std::to_array<Magic>({
    {0, "\x1f\x8b"sv, "a gzip archive"},
    {0, "BZh"sv, "a bzip2 archive"},
    {0,
     "\xfd"
     "7zXZ\0"sv,
     "an xz archive"},
    {0, "\x28\xb5\x2f\xfd"sv, "a zstd archive"},
    {0, "7z\xbc\xaf\x27\x1c"sv, "a 7z archive"},
    {0, "Rar!\x1a\x07"sv, "a rar archive"},
    {0, "MSCF"sv, "a cabinet archive"},
    {0, "!<arch>\n"sv, "an ar archive (a static library or a Debian package)"},
    {0, "\xed\xab\xee\xdb"sv, "an RPM package"},
    {257, "ustar"sv, "a tar archive"},
});

constexpr auto k_others = std::to_array<Magic>({
    {0, "%PDF-"sv, "a PDF document"},
    {0, "\x89PNG\r\n"sv, "a PNG picture"},
    {0, "\xff\xd8\xff"sv, "a JPEG picture"},
    {0, "GIF8"sv, "a GIF picture"},
    {0, "L\0\0\0\x01\x14\x02\0"sv, "a Windows shortcut"},
    {0, "[InternetShortcut]"sv, "an internet shortcut"},
    {0, "SQLite format 3\0"sv, "an SQLite database"},
    {0, "\xcf\xfa\xed\xfe"sv, "a macOS module (Mach-O)"},
    {0, "\xce\xfa\xed\xfe"sv, "a macOS module (Mach-O)"},
    {0, "\xca\xfe\xba\xbe"sv, "a macOS module for several machines (Mach-O)"},
    {0, "\0asm"sv, "a WebAssembly module"},
    {0, "BC\xc0\xde"sv, "LLVM bitcode"},
    {0, "\x80\x02\x8a\x0a"sv, "a pickled torch file"},
    {0, "\x89HDF"sv, "an HDF5 file"},
    {0, "d8:announce"sv, "a torrent"},
    {4, "\0\0\0\0Bud1"sv, "a folder's settings on macOS (.DS_Store)"},
    {0,
     "\0\0\0\x01"
     "Bud1"sv,
     "a folder's settings on macOS (.DS_Store)"},
});

template <std::size_t Size>
std::string_view named_by(const std::array<Magic, Size>& magics, Bytes file) {
  for (const auto& one : magics)
    if (const auto at = file.slice(one.offset, one.bytes.size()); at && at->view() == one.bytes) return one.name;
  return {};
}

std::string first_line(std::string_view text) {
  std::string line;
  for (const char c : trim(text.substr(0, k_head)).substr(0, k_shown)) {
    if (c == '\n' || c == '\r') break;
    line += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return line;
}

/// Text, as far as its first bytes say; a character that the end of the view cuts in two is no fault.
bool is_text(std::string_view head) {
  if (std::ranges::any_of(head, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != '\x1b';
      }))
    return false;
  for (int cut = 0; cut < 4; ++cut, head.remove_suffix(std::min<std::size_t>(1, head.size())))
    if (is_utf8(head)) return true;
  return false;
}

std::optional<FileKind> text_kind(std::string_view text, std::uint64_t size) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const std::string head = trim(lower(text.substr(0, k_head)));
  if (head.starts_with("version https://git-lfs.github.com/spec/") || head.starts_with("version https://hawser."))
    return FileKind{"INS050", "a Git LFS pointer instead of the file itself",
                    "run `git lfs pull` where it was checked out, or download it by its media address"};
  if (head.starts_with("<!doctype html") || head.starts_with("<html") ||
      (head.starts_with('<') && head.find("<html") != std::string::npos))
    return FileKind{"INS051", "a web page (HTML) instead of the file", k_address};
  if (head.starts_with("<?xml") || head.starts_with("<error"))
    return FileKind{"INS052", fmt::format("a server's answer in XML instead of the file: \"{}\"", first_line(text)),
                    k_address};
  if (head.starts_with('{') || head.starts_with('['))
    return FileKind{"INS052", fmt::format("JSON instead of the file: \"{}\"", first_line(text)), k_address};
  return FileKind{"INS053",
                  fmt::format("a text of {} byte{} that begins \"{}\"", size, size == 1 ? "" : "s", first_line(text)),
                  k_text};
}

}  // namespace

std::optional<FileKind> other_kind(Bytes file) {
  const std::string_view bytes = file.view();
  if (bytes.empty()) return FileKind{"INS054", "an empty file", k_again};
  if (bytes.starts_with("PK\x03\x04"))
    return FileKind{"INS055", fmt::format("a zip archive cut off after {} bytes: its end is missing", bytes.size()),
                    k_again};
  if (const auto name = named_by(k_archives, file); !name.empty())
    return FileKind{"INS056", std::string(name), "a wheel is a zip archive: take the .whl file, not a source archive"};
  if (const auto name = named_by(k_others, file); !name.empty())
    return FileKind{"INS057", std::string(name), "this is another file under this name"};
  if (bytes.front() == '\0' && bytes.find_first_not_of('\0') == std::string_view::npos)
    return FileKind{"INS058", fmt::format("{} zero bytes and nothing else", bytes.size()),
                    "a download that reserved its space and never came, or a damaged disk: download it again"};
  const std::string_view tail = bytes.substr(bytes.size() - std::min(bytes.size(), k_text_head));
  if (tail.find("PK\x05\x06") != std::string_view::npos && tail.find("PK\x01\x02") != std::string_view::npos)
    return FileKind{"INS059", "the end of a zip archive whose beginning is missing", k_again};
  if (is_text(bytes.substr(0, k_text_head))) return text_kind(bytes, bytes.size());
  return std::nullopt;
}

}  // namespace sagekit
