#include "package/variant_text.hpp"

#include "pypa/variant_reader.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"

#include <sagekit/version_number.hpp>

#include <algorithm>
#include <optional>
#include <set>

namespace sagekit {

namespace {

/// PEP 825, a draft. 0.x is not for production, says the PEP: an installer may read another one tomorrow.
constexpr std::string_view k_variant_schema = "https://variants-schema.wheelnext.dev/peps/825/v0.1.1.json";

std::string digits_of(Capability gpu) { return fmt::format("{}{}", gpu.major, gpu.minor); }

/// The newest toolkit of the code that is loaded: the driver must know its major version at least.
std::optional<VersionNumber> newest_toolkit(const std::vector<MemberFacts>& members) {
  std::optional<VersionNumber> newest;
  for (const auto& member : members)
    for (const auto& code : member.gpu)
      if (const auto toolkit = parse_version_number(code.toolkit); code.loaded && toolkit && toolkit->parts.size() >= 2)
        if (!newest || *newest < *toolkit) newest = *toolkit;
  return newest;
}

/// Has every GPU of this major capability PTX that its driver can compile? An accelerated target has no successor.
bool has_plain_ptx(const std::vector<MemberFacts>& members, int major) {
  return std::ranges::any_of(members, [&](const MemberFacts& member) {
    return std::ranges::any_of(member.gpu, [&](const GpuCode& code) {
      return code.loaded && code.ptx && !code.lto && code.arch.suffix == ArchSuffix::none &&
             code.arch.capability == Capability{major, 0};
    });
  });
}

/// What uv would choose a wheel by that says N_real: this GPU and each later one of its major capability.
std::vector<std::string> cannot_run(const WheelReport& report, Capability gpu) {
  std::vector<std::string> names;
  for (const auto& row : report.runs_on)
    if (row.capability.major == gpu.major && gpu < row.capability && row.verdict != RunVerdict::yes &&
        row.verdict != RunVerdict::jit)
      names.push_back(row.gpus.empty() ? to_string(row.capability) : row.gpus.front());
  return names;
}

std::string label_of(const VersionNumber& cuda, const std::set<std::string>& arches, const std::string& properties) {
  constexpr std::size_t k_most = 16;
  const auto start = fmt::format("cu{}{}", cuda.major(), cuda.minor());
  std::vector<std::string> numbers;
  for (const auto& arch : arches) {
    const auto number = arch.substr(0, arch.find('_'));
    if (!contains(numbers, number)) numbers.push_back(number);
  }
  std::ranges::sort(numbers, {}, [](const std::string& n) { return std::pair(n.size(), n); });
  const auto label = fmt::format("{}_sm{}", start, join(numbers, "_"));
  return label.size() <= k_most ? label : fmt::format("{}_{}", start, sha256_hex(properties).substr(0, 8));
}

}  // namespace

Result<VariantMade> variant_of(const WheelReport& report, const std::vector<MemberFacts>& members, std::string label) {
  const auto toolkit = newest_toolkit(members);
  std::set<std::string> arches;
  VariantMade made;
  bool compiles = false;
  for (const auto& row : report.runs_on) {
    if (row.verdict == RunVerdict::yes) arches.insert(digits_of(row.capability) + "_real");
    if (row.verdict == RunVerdict::jit && has_plain_ptx(members, row.capability.major)) {
      arches.insert(fmt::format("{}0_virtual", row.capability.major));
      compiles = true;
    }
    if (row.verdict != RunVerdict::yes) continue;
    const auto others = cannot_run(report, row.capability);
    if (!others.empty())
      made.notes.push_back(fmt::format("{} would be chosen for {} by its {}_real, and does not run there",
                                       "the variant", join(others, ", "), digits_of(row.capability)));
  }
  if (!toolkit || arches.empty())
    return fail(ErrorKind::failed, "RTG009",
                !toolkit ? "no CUDA version is recorded in the wheel's GPU code, so a variant could promise none"
                         : "the wheel is known to run on no GPU, so a variant could promise none",
                "sagekit verify has the table of GPUs", report.path);
  // A driver of the same major version runs machine code of any toolkit of it; PTX needs one that knows it.
  const VersionNumber bound{{toolkit->major(), compiles ? toolkit->minor() : 0}};
  Json nvidia{{"cuda_version_lower_bound", {to_string(bound)}}};
  nvidia["sm_arch"] = arches;
  made.label = label.empty() ? label_of(bound, arches, json_line(nvidia)) : std::move(label);
  if (!is_variant_label(made.label))
    return fail(ErrorKind::usage, "RTG007", fmt::format("\"{}\" is no variant label", made.label),
                "at most 16 of a-z, 0-9, _ and .; auto makes one");
  Json json{{"$schema", k_variant_schema}};
  json["default-priorities"] = {{"namespace", {"nvidia"}}};
  // PEP 825 has no providers yet; uv 0.13 takes its own detection of NVIDIA for a namespace only where this is said.
  json["providers"]["nvidia"] = {{"requires", {"nvidia-variant-provider>=0.0.1"}},
                                 {"plugin-api", "nvidia_variant_provider.plugin:NvidiaVariantPlugin"}};
  json["variants"][made.label]["nvidia"] = std::move(nvidia);
  made.text = json_text(json);
  return made;
}

}  // namespace sagekit
