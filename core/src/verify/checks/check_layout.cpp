// Where files lie in a wheel of whatever project: what check-wheel-contents looks for, files that only pretend, and
// paths that some file system or installer cannot make. What no system can unpack is the reader's (ZIP012).
#include "archive/zip_format.hpp"
#include "support/file_kind.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/utf8.hpp"
#include "verify/checks/checks.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace sagekit {

namespace {

constexpr std::uint64_t k_trivial = 32;  // an empty file, a line feed, a coding line: they may well be the same
constexpr std::size_t k_many_files = 2000;
constexpr std::size_t k_listed = 10;

/// A file that is installed where Python imports from.
struct LibraryFile {
  const MemberFacts* member;
  std::string path;  ///< below site-packages
};

std::vector<LibraryFile> library_of(const Artifact& artifact) {
  std::vector<LibraryFile> library;
  for (const auto& member : artifact.members) {
    if (member.path.ends_with('/')) continue;
    const auto first = member.path.substr(0, member.path.find('/'));
    if (first.ends_with(".dist-info") && first.size() < member.path.size()) continue;
    std::string path = member.path;
    if (first.ends_with(".data") && first.size() < member.path.size()) {
      const auto parts = split(path, '/');
      if (parts.size() < 3 || (parts[1] != "purelib" && parts[1] != "platlib")) continue;
      path = path.substr(parts[0].size() + parts[1].size() + 2);
    }
    library.push_back({&member, std::move(path)});
  }
  return library;
}

bool is_module_file(const LibraryFile& file) { return file.path.ends_with(".py") || is_native(file.path); }

bool is_identifier(std::string_view text) {
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') && std::ranges::all_of(text, [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           static_cast<unsigned char>(c) >= 0x80;
  });
}

/// Could Python import it by its path? Plain libraries beside modules need not be importable.
bool is_importable(const LibraryFile& file) {
  auto parts = split(file.path, '/');
  if (parts.size() > 1 && parts[0].ends_with("-stubs")) parts[0].resize(parts[0].size() - 6);
  parts.back() = parts.back().substr(0, parts.back().find('.'));
  return std::ranges::all_of(parts, is_identifier);
}

void check_tops(const std::vector<LibraryFile>& library, FindingList& findings) {
  static constexpr std::array<std::string_view, 21> k_common = {
      ".eggs",   ".nox",     ".tox", ".venv",   "app", "build", "cli",   "data", "dist",        "doc",          "docs",
      "example", "examples", "lib",  "scripts", "src", "test",  "tests", "venv", "__pycache__", "site-packages"};
  std::map<std::string, bool> folders;  // has it modules?
  std::set<std::string> tops, common;
  for (const auto& file : library) {
    const auto slash = file.path.find('/');
    const auto top = file.path.substr(0, slash);
    if (slash != std::string::npos) {
      folders[top] = folders[top] || is_module_file(file);
    } else if (file.path.ends_with(".pth")) {
      continue;
    } else if (!is_module_file(file)) {
      findings.broken("CNT010", "it would lie between everybody's packages, and is no module", file.member->path);
    } else if (file.path == "__init__.py") {
      findings.broken("CNT013", "it would make a package of site-packages itself", file.member->path);
    }
    const auto name = slash == std::string::npos ? top.substr(0, top.find('.')) : top;
    if (!name.starts_with('_') && !name.ends_with(".libs")) tops.insert(name);
    if (std::ranges::find(k_common, name) != k_common.end() && (slash != std::string::npos || is_module_file(file)))
      common.insert(top);
  }
  for (const auto& top : common)
    findings.broken("CNT012", fmt::format("\"{}\" is a name that many packages would install", top), top);
  for (const auto& [name, modules] : folders)
    if (!modules && !name.ends_with("-stubs") && !name.ends_with(".libs"))
      findings.broken("CNT016", "the folder has no Python module", name);
  if (tops.size() > 1)
    findings.broken("CNT015",
                    fmt::format("{} names are at the top: {}", tops.size(), join({tops.begin(), tops.end()}, ", ")));
}

void check_duplicates(const Artifact& artifact, FindingList& findings) {
  std::map<std::pair<std::string, std::uint64_t>, std::vector<std::string>> same;
  for (const auto& member : artifact.members)
    if (member.size_bytes > k_trivial && !member.sha256.empty())
      same[{member.sha256, member.size_bytes}].push_back(member.path);
  std::size_t groups = 0;
  std::uint64_t wasted = 0;
  std::string example;
  for (const auto& [key, paths] : same) {
    if (paths.size() < 2) continue;
    if (groups++ == 0) example = paths[0] + " and " + paths[1];
    wasted += key.second * (paths.size() - 1);
  }
  if (groups != 0)
    findings.broken("CNT009", fmt::format("{} files are there more than once, such as {}: {} bytes too many", groups,
                                          zip::printable(example), wasted));
}

/// A module that is no machine code at all: something else came to lie under its name.
void check_pretenders(const Artifact& artifact, FindingList& findings) {
  for (const auto& member : artifact.members) {
    if (!is_native(member.path) || member.elf || member.pe || member.path.ends_with('/')) continue;
    const auto content = artifact.read(member.path);
    if (!content) continue;  // the reader said so
    // A linker's script and the text of a symbolic link are no accident.
    const bool script = content->find("INPUT") != std::string::npos || content->find("GROUP") != std::string::npos;
    if (content->size() < 4096 && script) continue;
    if (const auto kind = other_kind(Bytes(*content)))
      findings.broken("CNT017", fmt::format("it is {}", kind->what), member.path, std::string(kind->hint));
  }
}

void tell_sizes(const Artifact& artifact, FindingList& findings) {
  std::vector<const MemberFacts*> order;
  std::uint64_t total = 0;
  for (const auto& member : artifact.members) {
    order.push_back(&member);
    total += member.size_bytes;
  }
  std::ranges::stable_sort(order, std::ranges::greater(), &MemberFacts::size_bytes);
  std::string list;
  for (std::size_t i = 0; i < std::min(order.size(), k_listed); ++i)
    list += fmt::format("{}{} {}", i == 0 ? "" : ", ", zip::printable(order[i]->path), order[i]->size_bytes);
  findings.note("CNT018", fmt::format("{} files of {} bytes; the largest: {}", order.size(), total, list));
  if (order.size() > k_many_files) findings.broken("CNT019", fmt::format("{} files are inside", order.size()));
}

}  // namespace

void check_layout(const Artifact& artifact, FindingList& findings) {
  const auto library = library_of(artifact);
  if (library.empty()) findings.broken("CNT014", "nothing in it would be installed where Python imports from");
  check_tops(library, findings);
  for (const auto& file : library) {
    const bool module =
        file.path.ends_with(".py") || (!file.member->python_abi.empty() && file.member->python_abi != "none");
    if (module && !is_importable(file)) findings.broken("CNT011", "no import statement can name it", file.member->path);
    if (file.path.find('/') == std::string::npos && file.path.ends_with(".pth"))
      if (const auto text = artifact.read(file.member->path); text && text->find("import") != std::string::npos)
        findings.broken("CNT020", "it runs code whenever any Python of the environment starts", file.member->path);
  }
  check_duplicates(artifact, findings);
  check_pretenders(artifact, findings);
  tell_sizes(artifact, findings);
}

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

bool is_for_windows(const Artifact& artifact) {
  return std::ranges::any_of(artifact.name.platform, [](const std::string& tag) {
    const auto system = parse_platform_tag(tag).system;
    return system == PlatformTag::System::windows || system == PlatformTag::System::any;
  });
}

}  // namespace

void check_paths(const Artifact& artifact, FindingList& findings) {
  const bool windows = is_for_windows(artifact);
  for (const auto& member : artifact.members) {
    const auto& path = member.path;
    const auto shown = zip::printable(path);
    if (windows)
      if (const auto fault = windows_fault(path); !fault.empty())
        findings.broken("ZIP101", fmt::format("on Windows there can be no such file: {}", zip::printable(fault)),
                        shown);
    if (path.size() > k_long_path && (windows && path.size() > k_windows_path))
      findings.broken(
          "ZIP102", fmt::format("its path has {} bytes; Windows takes {} in all", path.size(), k_windows_path), shown);
    else if (path.size() > k_long_path)
      findings.broken("ZIP102", fmt::format("its path has {} bytes, more than {}", path.size(), k_long_path), shown);
    if (!is_ascii(path)) findings.broken("ZIP103", "its path is not ASCII", shown);
    if (path.find(' ') != std::string::npos) findings.broken("ZIP104", "its path has spaces", shown);
  }
  if (artifact.name.platform.empty())
    findings.skipped("ZIP101", "no tag says whether it is for Windows");
  else if (!windows)
    findings.done("ZIP101", "it is not for Windows");
}

}  // namespace sagekit
