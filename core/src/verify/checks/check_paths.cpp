// Paths of members that some file system or installer cannot make. What no system can unpack is the reader's (ZIP012).
#include "archive/zip_format.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/utf8.hpp"
#include "verify/checks.hpp"

#include <algorithm>
#include <array>

namespace sagekit {

namespace {

constexpr std::size_t k_long_path = 200;  // what packagers' tools take for the limit, to leave room for site-packages
constexpr std::size_t k_windows_path = 259;  // MAX_PATH without its NUL

/// Why Windows cannot have a file of this name; "" = it can.
std::string windows_fault(std::string_view path) {
  static constexpr std::array<std::string_view, 4> k_devices = {"con", "prn", "aux", "nul"};
  for (const auto& part : split(path, '/')) {
    if (part.empty()) continue;
    const auto stem = lower(trim(part.substr(0, part.find('.'))));
    const bool numbered =
        stem.size() == 4 && (stem.starts_with("com") || stem.starts_with("lpt")) && stem[3] >= '1' && stem[3] <= '9';
    if (numbered || std::ranges::find(k_devices, stem) != k_devices.end()) return part + " is a device's name";
    if (part.ends_with('.') || part.ends_with(' ')) return part + " ends in a dot or space, which Windows drops";
    if (part.find_first_of("<>:\"|?*") != std::string::npos)
      return part + " has a character that no file name may have";
  }
  return {};
}

bool is_for_windows(const Subject& subject) {
  return std::ranges::any_of(subject.name.platform, [](const std::string& tag) {
    const auto system = parse_platform_tag(tag).system;
    return system == PlatformTag::System::windows || system == PlatformTag::System::any;
  });
}

}  // namespace

void check_paths(const Subject& subject, Judgement& judgement) {
  const bool windows = is_for_windows(subject);
  for (const auto& member : subject.members) {
    const auto& path = member.path;
    const auto shown = zip::printable(path);
    if (windows)
      if (const auto fault = windows_fault(path); !fault.empty())
        judgement.broken("ZIP101", fmt::format("on Windows there can be no such file: {}", zip::printable(fault)),
                         shown);
    if (path.size() > k_long_path && (windows && path.size() > k_windows_path))
      judgement.broken(
          "ZIP102", fmt::format("its path has {} bytes; Windows takes {} in all", path.size(), k_windows_path), shown);
    else if (path.size() > k_long_path)
      judgement.broken("ZIP102", fmt::format("its path has {} bytes, more than {}", path.size(), k_long_path), shown);
    if (!is_ascii(path)) judgement.broken("ZIP103", "its path is not ASCII", shown);
    if (path.find(' ') != std::string::npos) judgement.broken("ZIP104", "its path has spaces", shown);
  }
  if (!windows) judgement.done("ZIP101", "it is not for Windows");
}

}  // namespace sagekit
