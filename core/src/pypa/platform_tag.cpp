#include "pypa/platform_tag.hpp"

#include "support/text.hpp"

#include <charconv>
#include <optional>
#include <set>

namespace sagekit {

namespace {

/// "manylinux_2_28_x86_64" behind its first word: libc "2.28" and machine. Without a machine it is no tag.
void take_libc(PlatformTag& tag, std::string_view rest) {
  const auto parts = split(rest, '_');
  if (parts.size() < 3 || !is_digits(parts[0]) || !is_digits(parts[1]) || parts[2].empty()) {
    tag.system = PlatformTag::System::unknown;
    return;
  }
  tag.libc = parts[0] + "." + parts[1];
  tag.machine = join({parts.begin() + 2, parts.end()}, "_");
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

}  // namespace

PlatformTag parse_platform_tag(std::string_view tag) {
  using System = PlatformTag::System;
  PlatformTag out;
  const auto after = [&](std::string_view prefix) { return tag.substr(prefix.size()); };
  if (tag == "any") {
    out.system = System::any;
  } else if (tag.starts_with("linux_") && tag.size() > 6) {
    out = {System::linux, std::string(after("linux_")), {}};
  } else if (tag.starts_with("manylinux_")) {
    out.system = System::manylinux;
    take_libc(out, after("manylinux_"));
  } else if (tag.starts_with("manylinux1_")) {  // PEP 513, 571 and 599: names for 2.5, 2.12 and 2.17
    out = {System::manylinux, std::string(after("manylinux1_")), "2.5"};
  } else if (tag.starts_with("manylinux2010_")) {
    out = {System::manylinux, std::string(after("manylinux2010_")), "2.12"};
  } else if (tag.starts_with("manylinux2014_")) {
    out = {System::manylinux, std::string(after("manylinux2014_")), "2.17"};
  } else if (tag.starts_with("musllinux_")) {
    out.system = System::musllinux;
    take_libc(out, after("musllinux_"));
  } else if (tag == "win_amd64") {
    out = {System::windows, "x86_64", {}};
  } else if (tag == "win_arm64") {
    out = {System::windows, "aarch64", {}};
  } else if (tag == "win32") {
    out = {System::windows, "x86", {}};
  } else if (tag.starts_with("macosx_")) {
    out.system = System::macos;
  }
  return out;
}

bool is_index_platform_tag(std::string_view tag) {
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

PythonTag read_python_tag(std::string_view tag) {
  PythonTag out;
  const auto digits = tag.find_first_of("0123456789");
  if (digits == tag.npos) return out;
  out.implementation = tag.substr(0, digits);
  out.major = tag[digits] - '0';
  const auto minor = tag.substr(digits + 1);
  if (is_digits(minor) && minor.size() < 4) std::from_chars(minor.data(), minor.data() + minor.size(), out.minor);
  return out;
}

bool takes_without_abi(const PythonTag& tag, int major, int minor) {
  if (tag.major != major || (tag.implementation != "cp" && tag.implementation != "py")) return false;
  return tag.minor < 0 || (tag.implementation == "py" ? tag.minor <= minor : tag.minor == minor);
}

bool can_be_tags(std::string_view python, std::string_view abi) {
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

}  // namespace sagekit
