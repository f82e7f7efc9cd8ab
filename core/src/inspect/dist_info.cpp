// METADATA and WHEEL against the file name (binary distribution format, core metadata, PEP 427, 491, 639).
#include "inspect/name_of_file.hpp"
#include "inspect/provenance.hpp"
#include "inspect/record_judge.hpp"
#include "inspect/wheel_reader.hpp"
#include "pypa/metadata_reader.hpp"
#include "support/format.hpp"
#include "support/problems.hpp"
#include "support/text.hpp"

#include <algorithm>

namespace sagekit {

namespace {

constexpr std::string_view k_new_version =
    "a name or version changes in file, folder and METADATA together: build it again, or `wheel unpack`, edit, `wheel "
    "pack`";

/// A part of the file name as the texts write it: file names have "_" where versions may have "-".
std::string as_in_file_name(std::string text) { return replace_all(std::move(text), "-", "_"); }

bool has_member(const std::vector<MemberFacts>& members, std::string_view path) {
  return std::any_of(members.begin(), members.end(), [&](const MemberFacts& one) { return one.path == path; });
}

/// {major, minor} of "2.4"; nothing when it is no such number.
std::optional<VersionNumber> two_part_version(const std::string& text) {
  const auto version = parse_version_number(text);
  if (!version || version->parts.size() != 2) return std::nullopt;
  return *version;
}

void judge_metadata(const std::string& text, const std::vector<MemberFacts>& members, WheelFacts& facts,
                    bool name_known, Problems& problems) {
  const HeaderText headers = read_headers(text);
  for (const auto& fault : headers.faults) problems.error("INF005", "METADATA is damaged: " + fault);
  for (const char* const needed : {"Metadata-Version", "Name", "Version"})
    if (!headers.one(needed)) problems.error("INF005", fmt::format("METADATA must have one {}", needed));
  facts.metadata_name = headers.one("Name").value_or("");
  facts.metadata_version = headers.one("Version").value_or("");
  facts.requires_python = headers.one("Requires-Python").value_or("");
  facts.requires_dist = headers.all("Requires-Dist");
  facts.license_files = headers.all("License-File");
  std::sort(facts.requires_dist.begin(), facts.requires_dist.end());
  std::sort(facts.license_files.begin(), facts.license_files.end());

  if (name_known && normalized_project(facts.metadata_name) != normalized_project(facts.name.distribution))
    problems.error("INF006", fmt::format("METADATA says the name is {}, the file name says {}", facts.metadata_name,
                                         facts.name.distribution));
  if (name_known && as_in_file_name(facts.metadata_version) != as_in_file_name(facts.name.version))
    problems.error("INF006",
                   fmt::format("METADATA says the version is {}, the file name says {}", facts.metadata_version,
                               facts.name.version),
                   std::string(k_new_version));

  const auto format = two_part_version(headers.one("Metadata-Version").value_or(""));
  if (!format || format->major() > 2) problems.error("INF005", "METADATA is of an unknown Metadata-Version");
  const bool has_license_folder = format && *format >= VersionNumber{{2, 4}};
  if (!facts.license_files.empty() && !has_license_folder)
    problems.warning("INF024", "METADATA has License-File, which Metadata-Version 2.4 brought");
  for (const auto& file : facts.license_files) {
    if (has_member(members, facts.dist_info + "/licenses/" + file)) continue;
    if (!has_license_folder && has_member(members, facts.dist_info + "/" + file)) continue;
    problems.error("INF023", fmt::format("METADATA names the licence file {}, which the wheel does not hold", file));
  }
}

void judge_wheel_text(const std::string& text, WheelFacts& facts, bool name_known, Problems& problems) {
  const HeaderText headers = read_headers(text);
  for (const auto& fault : headers.faults) problems.error("INF008", "WHEEL is damaged: " + fault);
  facts.generator = headers.one("Generator").value_or("");
  facts.build = headers.one("Build").value_or("");
  facts.root_is_purelib = lower(headers.one("Root-Is-Purelib").value_or(""));
  facts.wheel_tags = headers.all("Tag");
  std::sort(facts.wheel_tags.begin(), facts.wheel_tags.end());

  facts.wheel_version = headers.one("Wheel-Version").value_or("");
  const auto version = two_part_version(facts.wheel_version);
  if (!version || version->major() != 1)
    problems.error("INF008", "WHEEL is of an unknown Wheel-Version");
  else if (version->minor() > 0)
    problems.warning("INF028", "WHEEL is of a newer Wheel-Version than 1.0");
  if (facts.root_is_purelib != "true" && facts.root_is_purelib != "false")
    problems.error("INF008", "WHEEL must say Root-Is-Purelib: true or false");
  if (facts.wheel_tags.empty()) problems.error("INF008", "WHEEL has no Tag");
  if (!name_known) return;
  if (facts.wheel_tags != facts.name.tags())
    problems.error(
        "INF009",
        fmt::format("WHEEL says {}, the file name says {}", join(facts.wheel_tags, " "), join(facts.name.tags(), " ")),
        "`wheel tags` gives a wheel other tags, in its name and its texts together");
  if (facts.build != facts.name.build)
    problems.error("INF010", fmt::format("WHEEL says the build is \"{}\", the file name says \"{}\"", facts.build,
                                         facts.name.build));
}

/// An archive of a wheel is none: browsers and CI services pack what they hand out once more.
std::string inner_wheel(const std::vector<MemberFacts>& members) {
  const auto inner = std::ranges::find_if(members, [](const auto& member) { return member.path.ends_with(".whl"); });
  return inner == members.end() ? "" : inner->path;
}

void judge_folder(const DistInfoTexts& texts, const WheelFacts& facts, const std::vector<MemberFacts>& members,
                  bool name_known, Problems& problems) {
  if (texts.folders.empty()) {
    const auto inner = inner_wheel(members);
    problems.error("INF001", "the wheel has no .dist-info folder",
                   inner.empty() ? "" : "it is an archive of another wheel: unpack it, and take " + inner);
  }
  if (texts.folders.size() > 1)
    problems.error("INF002", "the wheel has several .dist-info folders: " + join(texts.folders, ", "));
  if (texts.folder.empty() || !name_known) return;
  const std::string wanted = facts.name.distribution + "-" + facts.name.version + ".dist-info";
  if (texts.folder == wanted) return;
  const std::string stem = texts.folder.substr(0, texts.folder.size() - std::string_view(".dist-info").size());
  const std::size_t dash = stem.find('-');
  const bool same = dash != std::string::npos &&
                    normalized_project(stem.substr(0, dash)) == normalized_project(facts.name.distribution) &&
                    as_in_file_name(stem.substr(dash + 1)) == as_in_file_name(facts.name.version);
  const std::string message = fmt::format("the folder is {}, by the file name it should be {}", texts.folder, wanted);
  if (same)
    problems.warning("INF003", message);
  else
    problems.error("INF025", message, std::string(k_new_version));
}

/// The parts of "cp312-cp312-linux_x86_64" of all tags, side by side as in a file name.
std::string compressed(const std::vector<std::string>& tags) {
  std::array<std::vector<std::string>, 3> parts;
  for (const auto& tag : tags) {
    const auto first = tag.find('-'), second = tag.find('-', first + 1);
    if (first == std::string::npos || second == std::string::npos) return "";
    const std::array words{tag.substr(0, first), tag.substr(first + 1, second - first - 1), tag.substr(second + 1)};
    for (std::size_t i = 0; i < 3; ++i)
      if (std::ranges::find(parts[i], words[i]) == parts[i].end()) parts[i].push_back(words[i]);
  }
  std::string text;
  for (auto& list : parts) {
    std::ranges::sort(list);
    for (std::size_t i = 0; i < list.size(); ++i) text += (i > 0 ? "." : text.empty() ? "" : "-") + list[i];
  }
  return text;
}

}  // namespace

std::string name_by_content(const WheelFacts& wheel) {
  std::string name;
  for (const char c : wheel.metadata_name) {
    const bool separator = c == '-' || c == '_' || c == '.';
    if (!separator)
      name += c;
    else if (!name.ends_with('_'))
      name += '_';
  }
  const auto tags = compressed(wheel.wheel_tags);
  if (name.empty() || tags.empty() || wheel.metadata_version.empty()) return "";
  return fmt::format("{}-{}-{}{}.whl", name, as_in_file_name(wheel.metadata_version),
                     wheel.build.empty() ? "" : wheel.build + "-", tags);
}

void judge_dist_info(const DistInfoTexts& texts, const std::string& file_name, const std::vector<MemberFacts>& members,
                     WheelFacts& facts) {
  Problems problems(file_name);
  const auto name = parse_wheel_name(file_name);
  if (name) facts.name = *name;
  facts.dist_info = texts.folder;
  if (texts.provenance)
    if (const auto made = read_provenance(*texts.provenance)) facts.plugin = made->plugin;
  judge_folder(texts, facts, members, name.has_value(), problems);
  if (!texts.folder.empty()) {
    if (texts.metadata)
      judge_metadata(*texts.metadata, members, facts, name.has_value(), problems);
    else
      problems.error("INF004", "the wheel has no readable " + texts.folder + "/METADATA");
    if (texts.wheel)
      judge_wheel_text(*texts.wheel, facts, name.has_value(), problems);
    else
      problems.error("INF007", "the wheel has no readable " + texts.folder + "/WHEEL");
    if (texts.record)
      facts.unchecked = judge_record(*texts.record, texts.folder, members, texts.read, problems);
    else
      problems.error("INF011", "the wheel has no readable " + texts.folder + "/RECORD");
  }
  if (!name) {
    problems.error(name.error().code, name.error().message,
                   mend_of_name(texts.file, name_by_content(facts), name.error().hint));
  }
  for (auto& problem : problems.take()) facts.problems.push_back(std::move(problem));
}

}  // namespace sagekit
