// System, CPU, C library and Python.
#include "pypa/platform_tag.hpp"
#include "resolve/rulings.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <algorithm>

namespace sagekit {

namespace {

using System = PlatformTag::System;

/// linux or windows, and the CPU as wheels of Linux spell it.
std::pair<std::string, std::string> machine_of(const std::string& platform) {
  if (platform.starts_with("linux_")) return {"Linux", platform.substr(6)};
  if (platform == "win_amd64") return {"Windows", "x86_64"};
  if (platform == "win_arm64") return {"Windows", "aarch64"};
  return {platform, ""};
}

std::string system_name(const PlatformTag& tag) {
  switch (tag.system) {
    case System::windows: return "Windows";
    case System::macos: return "macOS";
    case System::linux:
    case System::manylinux:
    case System::musllinux: return "Linux";
    case System::any: return "any system";
    case System::unknown: break;
  }
  return "a system that nobody here knows";
}

/// torch's own wheels for Linux are manylinux_2_28 since 2.6, so a machine that runs one has that glibc.
std::string least_glibc(const Target& target) {
  if (target.libc.starts_with("glibc")) return target.libc.substr(5);
  if (target.libc.empty() && !target.torch.empty() && number(minor_of(target.torch)) >= number("2.6")) return "2.28";
  return {};
}

}  // namespace

Ruling judge_platform(const Traits& traits, const Target& target) {
  if (target.platform.empty())
    return unknown("RES203", "it is not known which system and CPU the machine has", "--for platform=linux_x86_64");
  const auto [system, cpu] = machine_of(target.platform);
  std::string other;
  bool musl_tag = false, musl_only = true, system_fits = false, any = false;
  std::string lowest;  // glibc that the tags ask for
  for (const auto& text : traits.name.platform) {
    const PlatformTag tag = parse_platform_tag(text);
    if (tag.system == System::any) {
      any = true;
      continue;
    }
    if (system_name(tag) != system) {
      other = fmt::format("it is for {} ({}), the machine is {}", system_name(tag), text, target.platform);
    } else if (tag.machine != cpu) {
      other = fmt::format("it is for {} CPUs ({}), the machine is {}", tag.machine, text, target.platform);
    } else {
      system_fits = true;
      (tag.system == System::musllinux ? musl_tag : musl_only) = tag.system == System::musllinux;
      const std::string wanted = tag.system == System::manylinux ? tag.libc : "";
      if (tag.system != System::musllinux && (lowest.empty() || number(wanted) < number(lowest))) lowest = wanted;
      if (tag.system == System::linux) lowest.clear();
    }
  }
  if (any) return good();
  if (!system_fits) return refused("RES103", other);
  if (system != "Linux") return good();
  const bool musl = target.libc.starts_with("musl");
  if (musl && musl_tag) return good();
  if (musl_only && target.libc.starts_with("glibc"))
    return refused("RES104",
                   fmt::format("it is for musl ({}), the machine has glibc", join(traits.name.platform, ".")));
  if (musl && !musl_only && (!lowest.empty() || traits.libc == "glibc"))
    return refused("RES104", fmt::format("it is for glibc, the machine has {}", target.libc));
  if (musl && !musl_only)
    return unknown("RES204", "its platform tag does not say for which C library it is, and the machine has musl",
                   traits.modules_read ? what_shows(traits) : needs_file(traits));
  if (musl_only)
    return musl ? good()
                : unknown("RES204", "it is for musl, and the machine's C library is not known", "--for libc=musl1.2");
  // What its symbols want is truer than its tag; a tag that asks for more is obeyed by installers.
  std::string wanted = lowest;
  if (!traits.glibc.empty() && (wanted.empty() || number(wanted) < number(traits.glibc))) wanted = traits.glibc;
  if (wanted.empty()) {
    if (traits.modules_read || !traits.native) return good();
    return unknown("RES204", "its platform tag does not say which glibc it needs", needs_file(traits));
  }
  const std::string have = least_glibc(target);
  if (!have.empty() && number(wanted) <= number(have)) return good();
  if (target.libc.starts_with("glibc"))
    return refused("RES104", fmt::format("it needs glibc {}, the machine has {}", wanted, target.libc.substr(5)));
  return unknown("RES204", fmt::format("it needs glibc {}, and which one the machine has is not known", wanted),
                 "--for libc=glibc" + wanted);
}

Ruling judge_python(const Traits& traits, const Candidate& candidate, const Target& target) {
  if (target.python.empty())
    return unknown("RES201", "it is not known which Python the machine has", "--for python=3.12");
  const bool threads = target.python.ends_with('t');
  const std::string version = threads ? target.python.substr(0, target.python.size() - 1) : target.python;
  const auto dot = version.find('.');
  const int major = leading_number(version), minor = dot == version.npos ? -1 : leading_number(version.substr(dot + 1));
  const std::string digits = fmt::format("{}{}", major, minor);
  std::string other = fmt::format("it is for {}-{}, the machine has Python {}", join(traits.name.python, "."),
                                  join(traits.name.abi, "."), target.python);
  std::string code = "RES101";
  bool fits = false;
  for (const auto& text : traits.name.python)
    for (const auto& abi : traits.name.abi) {
      const PythonTag tag = read_python_tag(text);
      if (tag.major != major || (tag.implementation != "cp" && tag.implementation != "py")) continue;
      if (abi == "none") {
        fits |= takes_without_abi(tag, major, minor);
      } else if (abi == "abi3" || abi == "abi3t") {
        // PEP 803: abi3t serves both kinds from 3.15 on; abi3 none that is free-threaded.
        if (threads && abi == "abi3") {
          code = "RES102";
          other =
              fmt::format("its stable ABI (abi3) is not for free-threaded Pythons, the machine has {}", target.python);
          continue;
        }
        if (tag.minor > minor)
          other =
              fmt::format("it is for Python {}.{} and newer, the machine has {}", tag.major, tag.minor, target.python);
        fits |= tag.minor <= minor;
      } else if (abi == "cp" + digits + (threads ? "t" : "")) {
        fits = true;
      } else if (abi == "cp" + digits + (threads ? "" : "t")) {
        code = "RES102";
        other = threads ? fmt::format("it is for Python {} with its lock, the machine's is free-threaded ({})", version,
                                      target.python)
                        : fmt::format("it is for free-threaded Python {}t, the machine's is not", version);
      }
    }
  if (!fits) return refused(code, other);
  // The patch release is not always known: a rule that only some of a minor's releases keep is no yes.
  const std::string& rule =
      traits.has_metadata && !traits.requires_python.empty() ? traits.requires_python : candidate.requires_python;
  if (!rule.empty()) {
    const auto allowed = specifiers_allow_minor(rule, version);
    if (allowed == std::optional(false))
      return refused("RES110", fmt::format("Requires-Python says {}, the machine has {}", rule, target.python));
    if (!allowed)
      return unknown("RES210", fmt::format("Requires-Python cannot be read: {}", rule),
                     "whoever published it must mend it");
  }
  return good();
}

}  // namespace sagekit
