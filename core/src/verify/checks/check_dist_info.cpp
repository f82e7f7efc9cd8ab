// dist-info but for METADATA's fields, and the .data folder: what installers act on.
#include "archive/zip_format.hpp"
#include "pypa/entry_points_reader.hpp"
#include "pypa/requirement_reader.hpp"
#include "pypa/version_order.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/text.hpp"
#include "verify/checks/checks.hpp"
#include "verify/torch_abi.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace sagekit {

namespace {

/// A library of torch that the wheel does not bring itself.
bool links_torch(const Artifact& artifact, const MemberFacts& member) {
  const auto is_own = [&](const std::string& library) {
    return std::ranges::any_of(artifact.members,
                               [&](const MemberFacts& one) { return one.path.ends_with("/" + library); });
  };
  const auto is_torch = [&](const std::string& library) {
    const auto name = lower(library);
    const bool named = name.starts_with("libtorch") || name.starts_with("libc10") || name.starts_with("torch_") ||
                       name.starts_with("c10");
    return named && !is_own(library);
  };
  return (member.elf && std::ranges::any_of(member.elf->needed, is_torch)) ||
         (member.pe && std::ranges::any_of(member.pe->imports, is_torch));
}

/// Does a requirement let in what comes before this minor release? ("2.9")
bool allows_older(const std::string& range, const VersionNumber& least) {
  return least.minor() > 0 &&
         specifiers_allow(range, fmt::format("{}.{}.999", least.major(), least.minor() - 1)).value_or(true);
}

/// Does METADATA pin another torch than the name or the record says? Then one of the two lies, whatever the modules do.
bool pins_another(const Artifact& artifact) {
  const auto* requirement = find_requirement(artifact.wheel->requires_dist, "torch");
  const auto pinned = pinned_release(artifact.wheel->requires_dist, "torch");
  const auto& said = artifact.provenance.claimed_torch();
  // "2.7" is no other torch than "2.7.1".
  if (requirement == nullptr || pinned.empty() || pinned.starts_with(said + ".")) return false;
  const auto range = parse_version_range(requirement_range(*requirement));
  const auto torch = parse_version_number(said);
  return range && torch && !range->contains(*torch);
}

// torch keeps no ABI between minor releases: only a pin to one of them is safe.
void check_torch_pin(const Artifact& artifact, FindingList& findings) {
  if (pins_another(artifact))
    return findings.broken("INF101",
                           fmt::format("\"{}\" excludes torch {}, which {} says",
                                       *find_requirement(artifact.wheel->requires_dist, "torch"),
                                       artifact.provenance.claimed_torch(), artifact.provenance.claimed_from()),
                           "METADATA");
  if (std::ranges::none_of(artifact.members, [&](const MemberFacts& member) { return links_torch(artifact, member); }))
    return findings.done("INF101", "no module is linked with torch");
  const bool stable = std::ranges::all_of(artifact.members, [&](const MemberFacts& member) {
    return !links_torch(artifact, member) || torch_use(artifact, member).is_stable();
  });
  const auto* requirement = find_requirement(artifact.wheel->requires_dist, "torch");
  if (requirement == nullptr)
    return findings.broken("INF101", "modules are linked with torch, but no Requires-Dist names it", "METADATA",
                           "pip installs it beside any torch, or none, and the import fails");
  const auto text = requirement_range(*requirement);
  const auto range = parse_version_range(text);
  const auto least = parse_version_number(artifact.provenance.claimed_torch_min());
  if (stable && least && allows_older(text, *least))
    return findings.broken("INF101",
                           fmt::format("\"{}\" allows a torch before {}, the first that {} says", *requirement,
                                       artifact.provenance.claimed_torch_min(), artifact.provenance.claimed_from()),
                           "METADATA");
  if (stable && (text.find(">=") != std::string::npos || text.find("==") != std::string::npos))
    return findings.done("INF101", "modules use torch's stable interface only, so that a lower bound is enough");
  if (text.find("==") == std::string::npos || !range)
    return findings.broken("INF101", fmt::format("\"{}\" does not pin torch to one minor release", *requirement),
                           "METADATA", "torch keeps no ABI between minor releases");
}

// That the named ones are there is the reader's check (INF023).
void check_licenses(const Artifact& artifact, FindingList& findings) {
  if (artifact.wheel->license_files.empty() && artifact.spec != nullptr &&
      !artifact.spec->metadata.license_files.empty())
    findings.broken("INF102", "METADATA names no licence file", "METADATA");
}

void check_requirements(const Artifact& artifact, FindingList& findings) {
  if (artifact.provenance.from != k_provenance_file)
    return findings.skipped("INF105", "what the cell requires is not recorded in the wheel");
  auto wanted = artifact.provenance.requires_dist;
  auto found = artifact.wheel->requires_dist;
  std::ranges::sort(wanted);
  std::ranges::sort(found);
  if (wanted != found)
    findings.broken(
        "INF105", fmt::format("METADATA requires [{}], the cell requires [{}]", join(found, ", "), join(wanted, ", ")),
        "METADATA");
}

/// Launchers (.exe) lie in pure wheels, too: setuptools and distlib copy them, Python does not load them.
bool has_machine_code(const Artifact& artifact) {
  return std::ranges::any_of(artifact.members, [](const MemberFacts& member) {
    return member.elf || (member.pe && !lower(member.path).ends_with(".exe"));
  });
}

/// What the modules are for. A wheel that brings them for several systems may be for any.
std::vector<std::string> systems_of(const Artifact& artifact) {
  std::set<std::string> systems;
  for (const auto& member : artifact.members) {
    if (member.elf) systems.insert("Linux on " + member.elf->machine);
    if (member.pe) systems.insert("Windows on " + member.pe->machine);
  }
  return {systems.begin(), systems.end()};
}

}  // namespace

void check_dist_info(const Artifact& artifact, FindingList& findings) {
  const WheelFacts& wheel = *artifact.wheel;
  const WheelName& name = artifact.name;

  check_torch_pin(artifact, findings);
  check_licenses(artifact, findings);

  if (!wheel.generator.starts_with("sagekit "))
    findings.broken("INF103", fmt::format("the generator is \"{}\"", wheel.generator), "WHEEL");

  const bool native = has_machine_code(artifact);
  if (native && lower(wheel.root_is_purelib) != "false")
    findings.broken("INF129", "WHEEL says Root-Is-Purelib, but there are modules of machine code", "WHEEL");
  for (const auto& member : artifact.members)
    if ((member.elf || member.pe) && member.path.find(".data/purelib/") != std::string::npos)
      findings.broken("INF129", "it is machine code among what WHEEL calls pure Python", member.path,
                      "its place is platlib: on systems that keep the two apart Python looks for it there");
  if (native && std::ranges::count(name.platform, "any") > 0 && systems_of(artifact).size() < 2)
    findings.broken("INF104", "the platform tag says any, but there are modules of machine code", {},
                    fmt::format("they are for {} only", join(systems_of(artifact), ", ")));

  check_requirements(artifact, findings);
}

namespace {

std::optional<std::string> text_of(const Artifact& artifact, const std::string& path) {
  if (artifact.find(path) == nullptr) return {};
  auto text = artifact.read(path);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

/// Is it a command, whose name becomes a file's name?
bool is_command(const EntryPoint& entry) { return entry.group == "console_scripts" || entry.group == "gui_scripts"; }

void check_entry_points(const Artifact& artifact, FindingList& findings) {
  const auto path = artifact.wheel->dist_info + "/entry_points.txt";
  const auto text = text_of(artifact, path);
  if (!text) return;
  const auto points = read_entry_points(*text);
  for (const auto& fault : points.faults) findings.broken("INF122", fmt::format("it is no INI file: {}", fault), path);
  for (const auto& entry : points.entries)
    if (is_command(entry) && !is_entry_point_name(entry.name))
      findings.broken("INF123",
                      fmt::format("the command \"{}\" has a name that is no file name", zip::printable(entry.name)),
                      path, "letters, digits, _ . and -");
  for (const auto& entry : points.entries) {
    if (!is_object_reference(entry.value)) {
      findings.broken(
          "INF124",
          fmt::format("{} is no \"module:object\": {}", zip::printable(entry.name), zip::printable(entry.value)), path);
      continue;
    }
    const auto module = trim(entry.value.substr(0, entry.value.find_first_of(":[")));
    const auto top = module.substr(0, module.find('.'));
    const bool ours = artifact.has_python(top) || std::ranges::any_of(artifact.members, [&](const MemberFacts& member) {
                        return member.path.starts_with(top + "/");
                      });
    if (is_command(entry) && ours && !artifact.has_python(module) && artifact.find_module(module) == nullptr)
      findings.broken(
          "INF124", fmt::format("{} runs the module {}, which is not there", zip::printable(entry.name), module), path);
  }
}

/// Names that Python could import from the top of the wheel.
std::set<std::string> top_modules(const Artifact& artifact) {
  std::set<std::string> tops;
  for (const auto& member : artifact.members) {
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

void check_top_level(const Artifact& artifact, FindingList& findings) {
  const auto path = artifact.wheel->dist_info + "/top_level.txt";
  const auto text = text_of(artifact, path);
  if (!text) return;
  const auto found = top_modules(artifact);
  std::set<std::string> listed;
  for (const auto& line : split(*text, '\n'))
    if (const auto name = trim(line); !name.empty()) listed.insert(name.substr(0, name.find_first_of("/.")));
  for (const auto& name : listed)
    if (!found.contains(name))
      findings.broken("INF125", fmt::format("it names {}, which is not at the top of the wheel", zip::printable(name)),
                      path);
  for (const auto& name : found)
    if (!listed.contains(name) && !name.starts_with("_") && !name.ends_with(".libs"))
      findings.broken("INF125", fmt::format("it does not name {}", zip::printable(name)), path);
}

/// CycloneDX says bomFormat, SPDX 2 spdxVersion, SPDX 3 is JSON-LD.
void check_sboms(const Artifact& artifact, FindingList& findings) {
  const auto folder = artifact.wheel->dist_info + "/sboms/";
  for (const auto& member : artifact.members) {
    if (!member.path.starts_with(folder) || member.path.ends_with('/')) continue;
    const auto text = artifact.read(member.path);
    if (!text || !(member.path.ends_with(".json") || member.path.ends_with(".jsonld"))) continue;
    const Json bom = parse_json(*text);
    if (bom.is_discarded())
      findings.broken("INF126", "it is no JSON", member.path);
    else if (!bom.is_object() ||
             !(bom.contains("bomFormat") || bom.contains("spdxVersion") || bom.contains("@context")))
      findings.broken("INF126", "it is neither CycloneDX nor SPDX", member.path);
  }
}

void check_data_folder(const Artifact& artifact, FindingList& findings) {
  static constexpr std::array<std::string_view, 5> k_keys = {"purelib", "platlib", "headers", "scripts", "data"};
  const std::string dist_info = artifact.wheel->dist_info;
  const std::string own = dist_info.substr(0, dist_info.rfind('.')) + ".data";
  std::set<std::string> said;
  for (const auto& member : artifact.members) {
    const auto parts = split(member.path, '/');
    if (!parts[0].ends_with(".data") || parts.size() < 2) continue;
    if (parts[0] != own && said.insert(parts[0]).second)
      findings.broken("INF127", fmt::format("the folder {} is not this wheel's {}", parts[0], own), parts[0]);
    if (parts[0] == own && !parts[1].empty() && std::ranges::find(k_keys, parts[1]) == k_keys.end() &&
        said.insert(parts[1]).second)
      findings.broken(
          "INF127",
          fmt::format("{} is none of {}", zip::printable(parts[1]), join({k_keys.begin(), k_keys.end()}, ", ")),
          member.path, "installers refuse the wheel for it");
    if (parts[0] != own || parts[1] != "scripts" || parts.size() != 3 || parts[2].empty() || member.elf || member.pe)
      continue;
    const auto text = artifact.read(member.path);
    if (text && text->starts_with("#!") && lower(text->substr(0, 120)).find("python") != std::string::npos &&
        !text->starts_with("#!python"))
      findings.broken("INF128", "its first line names a Python of the build machine", member.path,
                      "begin it with #!python: installers put the user's Python there");
  }
}

}  // namespace

void check_package_files(const Artifact& artifact, FindingList& findings) {
  check_entry_points(artifact, findings);
  check_top_level(artifact, findings);
  check_sboms(artifact, findings);
  if (artifact.kind == ArtifactKind::wheel || artifact.kind == ArtifactKind::unpacked)
    check_data_folder(artifact, findings);
}

}  // namespace sagekit
