#include "support/format.hpp"
#include "support/text.hpp"
#include "verify/checks.hpp"
#include "verify/requirement.hpp"

#include <algorithm>

namespace sagekit {

namespace {

bool links_torch(const Subject& subject) {
  return std::ranges::any_of(subject.members, [](const MemberFacts& member) {
    const auto is_torch = [](const std::string& library) {
      const auto name = lower(library);
      return name.starts_with("libtorch") || name.starts_with("libc10") || name.starts_with("torch_") ||
             name.starts_with("c10");
    };
    return (member.elf && std::ranges::any_of(member.elf->needed, is_torch)) ||
           (member.pe && std::ranges::any_of(member.pe->imports, is_torch));
  });
}

// torch keeps no ABI between minor releases: only a pin to one of them is safe.
void check_torch_pin(const Subject& subject, Judgement& judgement) {
  if (!links_torch(subject)) return judgement.done("INF101", "no module is linked with torch");
  const auto* requirement = find_requirement(subject.wheel->requires_dist, "torch");
  if (requirement == nullptr)
    return judgement.broken("INF101", "modules are linked with torch, but no Requires-Dist names it", "METADATA",
                            "pip installs it beside any torch, or none, and the import fails");
  const auto text = requirement_range(*requirement);
  const auto range = parse_version_range(text);
  if (text.find("==") == std::string::npos || !range)
    return judgement.broken("INF101", fmt::format("\"{}\" does not pin torch to one minor release", *requirement),
                            "METADATA", "torch keeps no ABI between minor releases");
  const auto torch = parse_version_number(subject.claims.torch);
  if (torch && !range->contains(*torch))
    return judgement.broken("INF101",
                            fmt::format("\"{}\" excludes torch {}, which {} names", *requirement, subject.claims.torch,
                                        subject.claims.from),
                            "METADATA");
  judgement.done("INF101");
}

// That the named ones are there is the reader's check (INF023).
void check_licenses(const Subject& subject, Judgement& judgement) {
  if (subject.wheel->license_files.empty() && subject.spec != nullptr && !subject.spec->metadata.license_files.empty())
    judgement.broken("INF102", "METADATA names no licence file", "METADATA");
  judgement.done("INF102");
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
  judgement.done("INF105");
}

}  // namespace

void check_dist_info(const Subject& subject, Judgement& judgement) {
  if (subject.wheel == nullptr) return;
  const WheelFacts& wheel = *subject.wheel;
  const WheelName& name = subject.name;

  check_torch_pin(subject, judgement);
  check_licenses(subject, judgement);

  if (!wheel.generator.starts_with("sagekit "))
    judgement.broken("INF103", fmt::format("the generator is \"{}\"", wheel.generator), "WHEEL");
  judgement.done("INF103");

  const bool native = !subject.modules().empty();
  if (native && lower(wheel.root_is_purelib) != "false")
    judgement.broken("INF104", "WHEEL says Root-Is-Purelib, but there are modules of machine code", "WHEEL");
  if (native && std::ranges::count(name.platform, "any") > 0)
    judgement.broken("INF104", "the platform tag says any, but there are modules of machine code");
  judgement.done("INF104");

  check_requirements(subject, judgement);
}

}  // namespace sagekit
