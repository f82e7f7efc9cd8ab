#include "support/format.hpp"
#include "support/text.hpp"
#include "verify/checks.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

namespace sagekit {

namespace {

/// What the public index takes, as its upload form judges it (warehouse, forklift/legacy.py).
bool index_takes(std::string_view tag) {
  static const std::set<std::string, std::less<>> whole{"any",
                                                        "win32",
                                                        "win_arm64",
                                                        "win_amd64",
                                                        "win_ia64",
                                                        "manylinux1_x86_64",
                                                        "manylinux1_i686",
                                                        "manylinux2010_x86_64",
                                                        "manylinux2010_i686",
                                                        "manylinux2014_x86_64",
                                                        "manylinux2014_i686",
                                                        "manylinux2014_aarch64",
                                                        "manylinux2014_armv7l",
                                                        "manylinux2014_ppc64",
                                                        "manylinux2014_ppc64le",
                                                        "manylinux2014_s390x",
                                                        "linux_armv6l",
                                                        "linux_armv7l"};
  if (whole.contains(tag)) return true;
  // "<system>_<major>_<minor>_<machine>", with the machines and, for macOS, the majors it knows.
  static const std::set<std::string, std::less<>> linux_machines{"x86_64",  "i686",  "aarch64", "armv7l",
                                                                 "ppc64le", "s390x", "riscv64"};
  static const std::set<std::string, std::less<>> macos_machines{
      "ppc", "ppc64", "i386", "x86_64", "arm64", "intel", "fat", "fat3", "fat64", "universal", "universal2"};
  static const std::set<std::string, std::less<>> macos_majors{"11", "12", "13", "14", "15", "26"};
  const auto parts = split(tag, '_');
  const auto number = [&](std::size_t i) { return i < parts.size() && is_digits(parts[i]); };
  const auto rest = [&](std::size_t i) {
    return i < parts.size() ? join({parts.begin() + static_cast<std::ptrdiff_t>(i), parts.end()}, "_") : std::string();
  };
  if (parts[0] == "manylinux" && number(1) && number(2)) return linux_machines.contains(rest(3)) || rest(3) == "ppc64";
  if (parts[0] == "musllinux" && number(1) && number(2)) return linux_machines.contains(rest(3));
  if (parts[0] == "macosx" && number(1) && number(2))
    return macos_machines.contains(rest(3)) &&
           (parts[1] == "10" || (macos_majors.contains(parts[1]) && parts[2] == "0"));
  if (parts[0] == "ios" && number(1) && number(2))
    return rest(3) == "arm64_iphoneos" || rest(3) == "arm64_iphonesimulator" || rest(3) == "x86_64_iphoneos" ||
           rest(3) == "x86_64_iphonesimulator";
  if (parts[0] == "android" && number(1))
    return rest(2) == "armeabi_v7a" || rest(2) == "arm64_v8a" || rest(2) == "x86" || rest(2) == "x86_64";
  return parts[0] == "pyemscripten" && number(1) && number(2) && rest(3) == "wasm32";
}

/// The number behind "cp" or "py": 312 of "cp312"; nothing when there is more than that.
std::optional<int> number_behind(std::string_view tag, std::string_view prefix) {
  int number = 0;
  if (!tag.starts_with(prefix)) return {};
  tag.remove_prefix(prefix.size());
  const auto [end, error] = std::from_chars(tag.data(), tag.data() + tag.size(), number);
  if (error != std::errc() || end != tag.data() + tag.size()) return {};
  return number;
}

/// Could any installer ever ask for this pair? Pythons and ABIs that are not known here could be anything.
bool can_exist(std::string_view python, std::string_view abi) {
  if (abi == "none") return true;
  if (python.starts_with("py") && number_behind(python, "py")) return false;  // "py3" promises pure Python or ctypes
  const auto version = number_behind(python, "cp");
  if (!version || *version < 27) return true;
  if (abi == "abi3") return *version >= 32;
  if (abi == "abi3t") return *version >= 315;  // PEP 803: from CPython 3.15 on
  if (!abi.starts_with("cp")) return true;
  const auto letters = abi.find_first_not_of("0123456789", 2);
  return number_behind(abi.substr(0, letters), "cp") == version;
}

void check_pairs(const WheelName& name, Judgement& judgement) {
  std::vector<std::string> never;
  for (const auto& python : name.python)
    for (const auto& abi : name.abi)
      if (!can_exist(python, abi)) never.push_back(python + "-" + abi);
  if (never.size() == name.python.size() * name.abi.size() && !never.empty())
    judgement.broken("NAM107", fmt::format("no installer ever looks for {}", join(never, ", ")), {},
                     "cpXY-cpXY for one Python, cpXY-abi3 for the Limited API, py3-none without an extension module");
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

  // A file name that could not be read has no version that could be wrong.
  if (!name.version.empty() && !is_normal_version(name.version))
    judgement.broken("NAM102", fmt::format("version {} is not in PEP 440's normal form", name.version), {},
                     "installers find it under another name than its file has");

  check_set(name.python, "Python", judgement);
  check_set(name.abi, "ABI", judgement);
  check_set(name.platform, "platform", judgement);

  for (const auto& tag : name.python)
    if (is_digits(tag.substr(0, 1)))
      judgement.broken("NAM106", fmt::format("the Python tag {} begins with a digit", tag), {},
                       "cp312, py3: installers since packaging 26.3 refuse the name");
  check_pairs(name, judgement);
  if (constexpr std::size_t k_longest = 255 - std::string_view(".metadata").size(); name.file_name().size() > k_longest)
    judgement.broken("NAM108",
                     fmt::format("the name has {} characters, with .metadata behind it more than the 255 of a "
                                 "file system",
                                 name.file_name().size()));
  if (!name.variant.empty())
    judgement.broken("NAM109", fmt::format("the public index takes no wheel variants such as {}", name.variant));

  for (const auto& tag : name.platform)
    if (!index_takes(tag))
      judgement.broken("NAM104", fmt::format("the public index refuses the platform tag {}", tag), {},
                       tag.starts_with("linux_") ? "tag it manylinux_X_Y, for the glibc it needs" : "");

  if (name.version.find('+') != std::string::npos)
    judgement.broken("NAM105", fmt::format("the public index refuses local versions such as {}", name.version), {},
                     "--naming plain, and one index for each torch and CUDA");
}

}  // namespace sagekit
