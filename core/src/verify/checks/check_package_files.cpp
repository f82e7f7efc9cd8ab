// The smaller texts of dist-info, and the .data folder: what installers act on.
#include "archive/zip_format.hpp"
#include "pypa/entry_points_reader.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/text.hpp"
#include "verify/checks.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace sagekit {

namespace {

std::optional<std::string> text_of(const Subject& subject, const std::string& path) {
  if (subject.find(path) == nullptr) return {};
  auto text = subject.read(path);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

/// Is it a command, whose name becomes a file's name?
bool is_command(const EntryPoint& entry) { return entry.group == "console_scripts" || entry.group == "gui_scripts"; }

void check_entry_points(const Subject& subject, Judgement& judgement) {
  const auto path = subject.wheel->dist_info + "/entry_points.txt";
  const auto text = text_of(subject, path);
  if (!text) return;
  const auto points = read_entry_points(*text);
  for (const auto& fault : points.faults) judgement.broken("INF122", fmt::format("it is no INI file: {}", fault), path);
  for (const auto& entry : points.entries)
    if (is_command(entry) && !is_entry_point_name(entry.name))
      judgement.broken("INF123",
                       fmt::format("the command \"{}\" has a name that is no file name", zip::printable(entry.name)),
                       path, "letters, digits, _ . and -");
  for (const auto& entry : points.entries) {
    if (!is_object_reference(entry.value)) {
      judgement.broken(
          "INF124",
          fmt::format("{} is no \"module:object\": {}", zip::printable(entry.name), zip::printable(entry.value)), path);
      continue;
    }
    const auto module = trim(entry.value.substr(0, entry.value.find_first_of(":[")));
    const auto top = module.substr(0, module.find('.'));
    const bool ours = subject.has_python(top) || std::ranges::any_of(subject.members, [&](const MemberFacts& member) {
                        return member.path.starts_with(top + "/");
                      });
    if (is_command(entry) && ours && !subject.has_python(module) && subject.find_module(module) == nullptr)
      judgement.broken(
          "INF124", fmt::format("{} runs the module {}, which is not there", zip::printable(entry.name), module), path);
  }
}

/// Names that Python could import from the top of the wheel.
std::set<std::string> top_modules(const Subject& subject) {
  std::set<std::string> tops;
  for (const auto& member : subject.members) {
    std::string path = member.path;
    const auto first = path.substr(0, path.find('/'));
    if (first.ends_with(".data")) {  // x-1.data/platlib/...
      const auto parts = split(path, '/');
      if (parts.size() < 3 || (parts[1] != "purelib" && parts[1] != "platlib")) continue;
      path = path.substr(first.size() + parts[1].size() + 2);
    } else if (first.ends_with(".dist-info")) {
      continue;
    }
    const auto slash = path.find('/');
    const auto top = path.substr(0, slash);
    if (slash != std::string::npos || path.ends_with(".py") || is_native(path))
      tops.insert(top.substr(0, top.find('.')));
  }
  return tops;
}

void check_top_level(const Subject& subject, Judgement& judgement) {
  const auto path = subject.wheel->dist_info + "/top_level.txt";
  const auto text = text_of(subject, path);
  if (!text) return;
  const auto found = top_modules(subject);
  std::set<std::string> listed;
  for (const auto& line : split(*text, '\n'))
    if (const auto name = trim(line); !name.empty()) listed.insert(name.substr(0, name.find_first_of("/.")));
  for (const auto& name : listed)
    if (!found.contains(name))
      judgement.broken("INF125", fmt::format("it names {}, which is not at the top of the wheel", zip::printable(name)),
                       path);
  for (const auto& name : found)
    if (!listed.contains(name) && !name.starts_with("_") && !name.ends_with(".libs"))
      judgement.broken("INF125", fmt::format("it does not name {}", zip::printable(name)), path);
}

/// CycloneDX says bomFormat, SPDX 2 spdxVersion, SPDX 3 is JSON-LD.
void check_sboms(const Subject& subject, Judgement& judgement) {
  const auto folder = subject.wheel->dist_info + "/sboms/";
  for (const auto& member : subject.members) {
    if (!member.path.starts_with(folder) || member.path.ends_with('/')) continue;
    const auto text = subject.read(member.path);
    if (!text || !(member.path.ends_with(".json") || member.path.ends_with(".jsonld"))) continue;
    const Json bom = Json::parse(*text, nullptr, false);
    if (bom.is_discarded())
      judgement.broken("INF126", "it is no JSON", member.path);
    else if (!bom.is_object() ||
             !(bom.contains("bomFormat") || bom.contains("spdxVersion") || bom.contains("@context")))
      judgement.broken("INF126", "it is neither CycloneDX nor SPDX", member.path);
  }
}

void check_data_folder(const Subject& subject, Judgement& judgement) {
  static constexpr std::array<std::string_view, 5> k_keys = {"purelib", "platlib", "headers", "scripts", "data"};
  const std::string dist_info = subject.wheel->dist_info;
  const std::string own = dist_info.substr(0, dist_info.rfind('.')) + ".data";
  std::set<std::string> said;
  for (const auto& member : subject.members) {
    const auto parts = split(member.path, '/');
    if (!parts[0].ends_with(".data") || parts.size() < 2) continue;
    if (parts[0] != own && said.insert(parts[0]).second)
      judgement.broken("INF127", fmt::format("the folder {} is not this wheel's {}", parts[0], own), parts[0]);
    if (parts[0] == own && !parts[1].empty() && std::ranges::find(k_keys, parts[1]) == k_keys.end() &&
        said.insert(parts[1]).second)
      judgement.broken(
          "INF127",
          fmt::format("{} is none of {}", zip::printable(parts[1]), join({k_keys.begin(), k_keys.end()}, ", ")),
          member.path, "installers refuse the wheel for it");
    if (parts[0] != own || parts[1] != "scripts" || parts.size() != 3 || parts[2].empty() || member.elf || member.pe)
      continue;
    const auto text = subject.read(member.path);
    if (text && text->starts_with("#!") && lower(text->substr(0, 120)).find("python") != std::string::npos &&
        !text->starts_with("#!python"))
      judgement.broken("INF128", "its first line names a Python of the build machine", member.path,
                       "begin it with #!python: installers put the user's Python there");
  }
}

}  // namespace

void check_package_files(const Subject& subject, Judgement& judgement) {
  check_entry_points(subject, judgement);
  check_top_level(subject, judgement);
  check_sboms(subject, judgement);
  if (subject.kind == Subject::Kind::wheel || subject.kind == Subject::Kind::unpacked)
    check_data_folder(subject, judgement);
}

}  // namespace sagekit
