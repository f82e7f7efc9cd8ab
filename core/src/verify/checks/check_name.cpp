#include "support/format.hpp"
#include "support/text.hpp"
#include "verify/checks/checks.hpp"

#include <algorithm>

namespace sagekit {

namespace {

void check_pairs(const WheelName& name, FindingList& findings) {
  std::vector<std::string> never;
  for (const auto& python : name.python)
    for (const auto& abi : name.abi)
      if (!can_be_tags(python, abi)) never.push_back(python + "-" + abi);
  if (never.size() == name.python.size() * name.abi.size() && !never.empty())
    findings.broken("NAM107", fmt::format("no installer ever looks for {}", join(never, ", ")), {},
                    "cpXY-cpXY for one Python, cpXY-abi3 for the Limited API, py3-none without an extension module");
}

void check_set(const std::vector<std::string>& set, std::string_view what, FindingList& findings) {
  auto sorted = set;
  std::ranges::sort(sorted);
  const auto rest = std::ranges::unique(sorted);
  sorted.erase(rest.begin(), rest.end());
  if (sorted != set)
    findings.broken("NAM103", fmt::format("the {} tags {} are not in order", what, join(set, ".")), {},
                    "write " + join(sorted, "."));
}

}  // namespace

void check_name(const Artifact& artifact, FindingList& findings) {
  const WheelName& name = artifact.name;
  if (const auto normal = file_name_project(name.distribution); normal != name.distribution)
    findings.broken("NAM101", fmt::format("the name says {}, whose normal form is {}", name.distribution, normal));

  // A file name that could not be read has no version that could be wrong.
  if (!name.version.empty() && !is_normal_version(name.version))
    findings.broken("NAM102", fmt::format("version {} is not in PEP 440's normal form", name.version), {},
                    "installers find it under another name than its file has");

  check_set(name.python, "Python", findings);
  check_set(name.abi, "ABI", findings);
  check_set(name.platform, "platform", findings);

  for (const auto& tag : name.python)
    if (is_digits(tag.substr(0, 1)))
      findings.broken("NAM106", fmt::format("the Python tag {} begins with a digit", tag), {},
                      "cp312, py3: installers since packaging 26.3 refuse the name");
  check_pairs(name, findings);
  if (constexpr std::size_t k_longest = 255 - std::string_view(".metadata").size(); name.file_name().size() > k_longest)
    findings.broken("NAM108", fmt::format("the name has {} characters, with .metadata behind it more than the 255 of a "
                                          "file system",
                                          name.file_name().size()));
  if (!name.variant.empty())
    findings.broken("NAM109", fmt::format("the public index takes no wheel variants such as {}", name.variant));

  for (const auto& tag : name.platform)
    if (!is_index_platform_tag(tag))
      findings.broken("NAM104", fmt::format("the public index refuses the platform tag {}", tag), {},
                      tag.starts_with("linux_") ? "tag it manylinux_X_Y, for the glibc it needs" : "");

  if (name.version.find('+') != std::string::npos)
    findings.broken("NAM105", fmt::format("the public index refuses local versions such as {}", name.version), {},
                    "--naming plain, and one index for each torch and CUDA");
}

}  // namespace sagekit
