#include "pypa/requirement_reader.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "verify/abi/torch_abi.hpp"
#include "verify/checks.hpp"

#include <algorithm>
#include <set>

namespace sagekit {

namespace {

/// A library of torch that the wheel does not bring itself.
bool links_torch(const Subject& subject, const MemberFacts& member) {
  const auto is_own = [&](const std::string& library) {
    return std::ranges::any_of(subject.members,
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

// torch keeps no ABI between minor releases: only a pin to one of them is safe.
void check_torch_pin(const Subject& subject, Judgement& judgement) {
  if (std::ranges::none_of(subject.members, [&](const MemberFacts& member) { return links_torch(subject, member); }))
    return judgement.done("INF101", "no module is linked with torch");
  const bool stable = std::ranges::all_of(subject.members, [&](const MemberFacts& member) {
    return !links_torch(subject, member) || torch_use(subject, member).is_stable();
  });
  const auto* requirement = find_requirement(subject.wheel->requires_dist, "torch");
  if (requirement == nullptr)
    return judgement.broken("INF101", "modules are linked with torch, but no Requires-Dist names it", "METADATA",
                            "pip installs it beside any torch, or none, and the import fails");
  const auto text = requirement_range(*requirement);
  const auto range = parse_version_range(text);
  if (stable && (text.find(">=") != std::string::npos || text.find("==") != std::string::npos))
    return judgement.done("INF101", "modules use torch's stable interface only, so that a lower bound is enough");
  if (text.find("==") == std::string::npos || !range)
    return judgement.broken("INF101", fmt::format("\"{}\" does not pin torch to one minor release", *requirement),
                            "METADATA", "torch keeps no ABI between minor releases");
  const auto torch = parse_version_number(subject.claims.torch);
  if (torch && !range->contains(*torch))
    return judgement.broken("INF101",
                            fmt::format("\"{}\" excludes torch {}, which {} names", *requirement, subject.claims.torch,
                                        subject.claims.from),
                            "METADATA");
}

// That the named ones are there is the reader's check (INF023).
void check_licenses(const Subject& subject, Judgement& judgement) {
  if (subject.wheel->license_files.empty() && subject.spec != nullptr && !subject.spec->metadata.license_files.empty())
    judgement.broken("INF102", "METADATA names no licence file", "METADATA");
}

void check_requirements(const Subject& subject, Judgement& judgement) {
  if (subject.claims.from != k_provenance_file)
    return judgement.skipped("INF105", "what the cell requires is not recorded in the wheel");
  auto wanted = subject.claims.requires_dist;
  auto found = subject.wheel->requires_dist;
  std::ranges::sort(wanted);
  std::ranges::sort(found);
  if (wanted != found)
    judgement.broken(
        "INF105", fmt::format("METADATA requires [{}], the cell requires [{}]", join(found, ", "), join(wanted, ", ")),
        "METADATA");
}

bool has_machine_code(const Subject& subject) {
  return std::ranges::any_of(subject.members, [](const MemberFacts& member) { return member.elf || member.pe; });
}

/// What the modules are for. A wheel that brings them for several systems may be for any.
std::vector<std::string> systems_of(const Subject& subject) {
  std::set<std::string> systems;
  for (const auto& member : subject.members) {
    if (member.elf) systems.insert("Linux on " + member.elf->machine);
    if (member.pe) systems.insert("Windows on " + member.pe->machine);
  }
  return {systems.begin(), systems.end()};
}

}  // namespace

void check_dist_info(const Subject& subject, Judgement& judgement) {
  const WheelFacts& wheel = *subject.wheel;
  const WheelName& name = subject.name;

  check_torch_pin(subject, judgement);
  check_licenses(subject, judgement);

  if (!wheel.generator.starts_with("sagekit "))
    judgement.broken("INF103", fmt::format("the generator is \"{}\"", wheel.generator), "WHEEL");

  const bool native = has_machine_code(subject);
  if (native && lower(wheel.root_is_purelib) != "false")
    judgement.broken("INF129", "WHEEL says Root-Is-Purelib, but there are modules of machine code", "WHEEL");
  for (const auto& member : subject.members)
    if ((member.elf || member.pe) && member.path.find(".data/purelib/") != std::string::npos)
      judgement.broken("INF129", "it is machine code among what WHEEL calls pure Python", member.path,
                       "its place is platlib: on systems that keep the two apart Python looks for it there");
  if (native && std::ranges::count(name.platform, "any") > 0 && systems_of(subject).size() < 2)
    judgement.broken("INF104", "the platform tag says any, but there are modules of machine code", {},
                     fmt::format("they are for {} only", join(systems_of(subject), ", ")));

  check_requirements(subject, judgement);
}

}  // namespace sagekit
