#include "support/format.hpp"
#include "support/text.hpp"
#include "verify/checks.hpp"

#include <algorithm>

namespace sagekit {

namespace {

/// What the public index takes, as its upload form judges it (warehouse, forklift/legacy.py).
bool index_takes(std::string_view tag) {
  static const std::vector<std::string> taken{
      "any",          "win32",           "win_amd64",       "win_arm64",        "win_ia64",
      "manylinux1_*", "manylinux2010_*", "manylinux2014_*", "manylinux_[0-9]*", "musllinux_[0-9]*",
      "macosx_1*",    "ios_*",           "android_*",       "pyemscripten_*",   "linux_armv6l",
      "linux_armv7l"};
  return std::ranges::any_of(taken, [&](const std::string& glob) { return glob_match(glob, tag); });
}

void check_set(const std::vector<std::string>& set, std::string_view what, Judgement& judgement) {
  auto sorted = set;
  std::ranges::sort(sorted);
  const auto rest = std::ranges::unique(sorted);
  sorted.erase(rest.begin(), rest.end());
  if (sorted != set)
    judgement.broken("NAM103", fmt::format("the {} tags {} are not in order", what, join(set, ".")), {},
                     "write " + join(sorted, "."));
}

}  // namespace

void check_name(const Subject& subject, Judgement& judgement) {
  const WheelName& name = subject.name;
  if (const auto normal = file_name_project(name.distribution); normal != name.distribution)
    judgement.broken("NAM101", fmt::format("the name says {}, whose normal form is {}", name.distribution, normal));
  judgement.done("NAM101");

  if (!is_normal_version(name.version))
    judgement.broken("NAM102", fmt::format("version {} is not in PEP 440's normal form", name.version), {},
                     "installers find it under another name than its file has");
  judgement.done("NAM102");

  check_set(name.python, "Python", judgement);
  check_set(name.abi, "ABI", judgement);
  check_set(name.platform, "platform", judgement);
  judgement.done("NAM103");

  for (const auto& tag : name.platform)
    if (!index_takes(tag))
      judgement.broken("NAM104", fmt::format("the public index refuses the platform tag {}", tag), {},
                       tag.starts_with("linux_") ? "tag it manylinux_X_Y, for the glibc it needs" : "");
  judgement.done("NAM104");

  if (name.version.find('+') != std::string::npos)
    judgement.broken("NAM105", fmt::format("the public index refuses local versions such as {}", name.version), {},
                     "--naming plain, and one index for each torch and CUDA");
  judgement.done("NAM105");
}

}  // namespace sagekit
