// Wheel variants (PEP 825): the label in the file name, variant.json, and the GPU code they promise. Judged only where
// there is one of the two.
#include "pypa/variant_reader.hpp"
#include "spec/data.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "verify/checks/checks.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace sagekit {

namespace {

constexpr std::string_view k_file = "variant.json";

void check_words(const VariantText& text, const std::string& path, FindingList& findings) {
  for (const auto& [label, namespaces] : text.variants) {
    for (const auto& [space, features] : namespaces) {
      if (std::ranges::count(text.namespaces, space) == 0)
        findings.broken("VAR104", fmt::format("default-priorities does not list the namespace {}", space), path);
      for (const auto& [feature, values] : features) {
        if (!is_variant_word(space, false) || !is_variant_word(feature, false) ||
            std::ranges::any_of(values, [](const auto& value) { return !is_variant_word(value, true); }))
          findings.broken(
              "VAR103",
              fmt::format("{} :: {} :: {} is not written in a-z, 0-9 and _", space, feature, join(values, ", ")), path);
        if (!std::ranges::is_sorted(values) || std::ranges::adjacent_find(values) != values.end() || values.empty())
          findings.broken("VAR105",
                          fmt::format("the values of {} :: {} are not sorted: {}", space, feature, join(values, ", ")),
                          path);
      }
    }
  }
}

/// {12, 1} of "121_real": the last digit is the minor one.
std::optional<Capability> capability_of(std::string_view value) {
  const auto digits = value.substr(0, value.find('_'));
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.size() < 2) return {};
  return Capability{number / 10, number % 10};
}

/// Is there a GPU of the same major capability with a higher minor one? Its owner would pick this variant, too.
bool has_later_sibling(Capability gpu) {
  return std::ranges::any_of(gpu_data().models, [&](const GpuModels& one) {
    return one.capability.major == gpu.major && one.capability.minor > gpu.minor;
  });
}

/// nvidia :: sm_arch against the images: "N_real" is machine code that GPU loads, "N_virtual" PTX of no accelerated
/// arch.
void check_arches(const Artifact& artifact, const std::vector<std::string>& values, const std::string& path,
                  FindingList& findings) {
  for (const auto& value : values) {
    const auto gpu = capability_of(value);
    const bool real = value.ends_with("_real");
    if (!gpu || (!real && !value.ends_with("_virtual"))) {
      findings.broken("VAR106", fmt::format("sm_arch {} is neither N_real nor N_virtual", value), path);
      continue;
    }
    bool found = false, only_accelerated = true;
    for (const auto& member : artifact.members)
      for (const auto& code : member.gpu) {
        if (!code.loaded || code.lto || code.ptx == real) continue;
        if (real ? !code_runs_on(code.arch, *gpu) : !(code.arch.capability == *gpu)) continue;
        found = found || real || code.arch.suffix == ArchSuffix::none;
        only_accelerated = only_accelerated && code.arch.suffix == ArchSuffix::a;
      }
    if (!found)
      findings.broken("VAR106",
                      fmt::format("it promises {}, and no module has {} for {}", value,
                                  real ? "machine code" : "PTX that other GPUs can use", to_string(*gpu)),
                      path);
    else if (real && only_accelerated && has_later_sibling(*gpu))
      findings.broken("VAR107", fmt::format("it promises {}, but the code is for {}a alone", value, to_string(*gpu)),
                      path, "a later GPU of the family picks this variant, too, and cannot run it");
  }
}

void check_label(const Artifact& artifact, const VariantText& text, const std::string& path, FindingList& findings) {
  if (text.variants.size() != 1)
    return findings.broken("VAR102", fmt::format("it describes {} variants, a wheel is one", text.variants.size()),
                           path);
  const auto& label = text.variants.begin()->first;
  if (artifact.kind == ArtifactKind::wheel && label != artifact.name.variant)
    findings.broken(
        "VAR102",
        fmt::format("it describes the variant \"{}\", the file name says \"{}\"", label, artifact.name.variant), path);
  if (label == "null" && !text.variants.begin()->second.empty())
    findings.broken("VAR102", "the null variant has properties", path);
}

}  // namespace

bool is_variant(const Artifact& artifact) {
  return !artifact.name.variant.empty() ||
         artifact.find(fmt::format("{}/{}", artifact.wheel->dist_info, k_file)) != nullptr;
}

void check_variant(const Artifact& artifact, FindingList& findings) {
  const auto& label = artifact.name.variant;
  const auto path = fmt::format("{}/{}", artifact.wheel->dist_info, k_file);
  findings.broken("VAR108", "installers without variants take this for a malformed name, and see no wheel at all", {},
                  "publish a wheel without a label beside it");
  if (!label.empty() && !is_variant_label(label))
    findings.broken("VAR101", fmt::format("the label {} is not of a-z, 0-9, _ and ., at most 16 of them", label));
  if (artifact.find(path) == nullptr) {
    findings.broken("VAR102", fmt::format("the file name has the label {}, but there is no {}", label, k_file));
    return findings.skip_rest("there is no variant.json");
  }
  const auto bytes = artifact.read(path);
  if (!bytes) return findings.skip_rest("variant.json could not be read");
  const auto text = read_variant(*bytes);
  for (const auto& fault : text.faults) findings.broken("VAR100", fault, path);
  if (!text.schema.empty() && !text.format.starts_with("0.0.") && !text.format.starts_with("0.1."))
    findings.broken("VAR100", fmt::format("its schema {} is none of 0.0.3 and 0.1", text.schema), path);
  check_label(artifact, text, path, findings);
  check_words(text, path, findings);
  for (const auto& [name, namespaces] : text.variants)
    if (const auto nvidia = namespaces.find("nvidia"); nvidia != namespaces.end())
      if (const auto arches = nvidia->second.find("sm_arch"); arches != nvidia->second.end())
        check_arches(artifact, arches->second, path, findings);
}

}  // namespace sagekit
