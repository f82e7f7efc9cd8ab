#include "archive/zip_rules.hpp"

#include "archive/name_fold.hpp"
#include "archive/zip_format.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/utf8.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace sagekit::zip {

namespace {

constexpr std::uint16_t k_flag_utf8 = 0x0800;
constexpr std::uint16_t k_flags_encryption = 0x0001 | 0x0040 | 0x2000;
constexpr std::uint16_t k_flags_allowed = 0x0002 | 0x0004 | zip::k_flag_descriptor | k_flag_utf8;
constexpr std::uint32_t k_type_mask = 0170000, k_type_regular = 0100000, k_type_folder = 0040000, k_set_id = 06000,
                        k_read_by_all = 0444, k_write_by_others = 0002;
constexpr std::uint64_t k_max_deflate_ratio = 1032;  // of the format itself
constexpr std::size_t k_max_name = 1024;

bool has_control_character(std::string_view name) {
  return std::any_of(name.begin(), name.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

/// Why it must not be unpacked; empty when it may be.
std::string_view unsafe_name(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name.starts_with('/')) return "is absolute";
  if (name.find('\\') != std::string_view::npos) return "has a backslash";
  if (name.size() > 1 && name[1] == ':') return "names a drive";
  for (std::string_view rest = name; !rest.empty();) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view part = rest.substr(0, slash);
    if (part == "..") return "leaves the folder it is unpacked to";
    if (part.empty() || part == ".") return "has an empty part";
    rest.remove_prefix(std::min(slash + 1, rest.size()));
  }
  return {};
}

}  // namespace

void check_members(std::vector<ZipMember>& members, Problems& problems) {
  for (ZipMember& member : members) {
    const std::string name = printable(member.name);
    const auto refuse = [&](std::string_view code, std::string message) {
      problems.error(code, std::move(message));
      member.readable = false;
    };
    if ((member.flags & k_flags_encryption) != 0)
      refuse("ZIP015", name + " is encrypted");
    else if ((member.flags & ~k_flags_allowed) != 0)
      refuse("ZIP033", fmt::format("{} uses unknown features (flags {:#x})", name, member.flags));
    if ((member.flags & zip::k_flag_descriptor) != 0)
      problems.error("ZIP014", name + " has its sizes behind its data (a data descriptor)");
    if (member.method != k_zip_stored && member.method != k_zip_deflated)
      refuse("ZIP016",
             fmt::format("{} is compressed by method {}; wheels are stored or deflated", name, member.method));
    if (member.method == k_zip_stored && member.size != member.compressed_size)
      refuse("ZIP022", fmt::format("{} is stored, yet its two sizes differ", name));
    const std::uint32_t type = member.mode & k_type_mask;
    if (type != 0 && type != (member.is_folder() ? k_type_folder : k_type_regular))
      refuse("ZIP017", fmt::format("{} is no plain file (mode {:o})", name, member.mode));
    else if ((member.mode & k_set_id) != 0)
      problems.error("ZIP034", fmt::format("{} runs with somebody else's rights (mode {:o})", name, member.mode));
    if (member.is_folder() && member.size != 0) refuse("ZIP025", name + " is a folder that holds data");
  }
}

void check_names(const std::vector<ZipMember>& members, Problems& problems) {
  std::set<std::string_view> names;
  std::set<std::string> folded;
  std::set<std::string_view> folders;
  for (const ZipMember& member : members) {
    const std::string shown = printable(member.name);
    if (has_control_character(member.name))
      problems.error("ZIP032", fmt::format("the name \"{}\" has control characters", shown));
    if (const auto why = unsafe_name(member.name); !why.empty())
      problems.error("ZIP012", fmt::format("the name \"{}\" {}", shown, why));
    if (!is_utf8(member.name))
      problems.error("ZIP013", fmt::format("the name \"{}\" is not UTF-8", shown));
    else if (!is_ascii(member.name) && (member.flags & k_flag_utf8) == 0)
      problems.error("ZIP013", fmt::format("the name \"{}\" is not ASCII and not marked as UTF-8", shown));
    if (member.name.size() > k_max_name) {
      problems.error("ZIP027", fmt::format("a name of {} bytes begins with \"{}\"", member.name.size(), shown));
      continue;
    }
    std::string_view path = member.name;
    if (member.is_folder()) path.remove_suffix(1);
    if (!names.insert(path).second)
      problems.error("ZIP010", fmt::format("two members are named {}", shown));
    else if (!folded.insert(folded_name(path)).second)
      problems.error(
          "ZIP011",
          fmt::format("{} differs from another member's name by case or by the spelling of accents only", shown));
    for (std::size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1))
      folders.insert(path.substr(0, slash));
  }
  for (const ZipMember& member : members)
    if (!member.is_folder() && folders.contains(member.name))
      problems.error("ZIP026", fmt::format("{} is a file and a folder at once", printable(member.name)));
}

void check_growth(std::vector<ZipMember>& members, std::uint64_t archive_size, Problems& problems) {
  std::uint64_t total = 0;
  for (ZipMember& member : members) {
    if (member.size > k_max_member_bytes || member.size / k_max_deflate_ratio > member.compressed_size) {
      problems.error("ZIP024", fmt::format("{} claims {} bytes out of {}", printable(member.name), member.size,
                                           member.compressed_size));
      member.readable = false;
    }
    total += std::min(member.size, k_max_archive_bytes);
    total = std::min(total, k_max_archive_bytes + 1);
  }
  if (total <= k_max_archive_bytes && (total <= k_bomb_bytes || total / k_bomb_ratio <= archive_size)) return;
  problems.error("ZIP024", fmt::format("the archive of {} bytes claims to hold {} or more", archive_size, total));
  for (ZipMember& member : members)
    if (member.size / k_bomb_ratio > member.compressed_size || total > k_max_archive_bytes) member.readable = false;
}

void check_looks(const std::vector<ZipMember>& members, Problems& problems) {
  std::size_t undated = 0, unreadable = 0, writable = 0;
  std::set<std::pair<std::uint16_t, std::uint16_t>> times;
  for (const ZipMember& member : members) {
    times.emplace(member.date, member.time);
    const unsigned month = member.date >> 5 & 15, day = member.date & 31, hour = member.time >> 11;
    if (month == 0 || month > 12 || day == 0 || hour > 23) ++undated;
    if (member.mode == 0 || member.is_folder()) continue;
    if ((member.mode & k_read_by_all) != k_read_by_all) ++unreadable;
    if ((member.mode & k_write_by_others) != 0) ++writable;
  }
  if (undated != 0)
    problems.note("ZIP036",
                  fmt::format("{} members have no possible date: their time was before 1980, or not set", undated));
  if (times.size() > 1)
    problems.note("ZIP037",
                  fmt::format("members have {} different times, so that a second build differs", times.size()));
  if (unreadable != 0)
    problems.note("ZIP038",
                  fmt::format("{} members may not be read by everybody (mode other than 0644 or 0755)", unreadable));
  if (writable != 0) problems.note("ZIP038", fmt::format("{} members may be written by everybody", writable));
}

void check_not_tar(Bytes file, Problems& problems) {
  // The one magic of a tar header (POSIX ustar); zip data that is no tar holds it here with a chance of 2^-40.
  if (file.holds(257, 5) && file.from(257).starts_with("ustar"))
    problems.error("ZIP028", "the file is a tar archive too");
}

}  // namespace sagekit::zip
