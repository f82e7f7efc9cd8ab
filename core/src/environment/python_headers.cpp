#include "environment/probes.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <array>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

/// CPUs that wheels are built for here, as Debian's folders and SOABIs name them.
constexpr std::array<std::string_view, 2> k_cpus{"x86_64", "aarch64"};

// "#define NAME VALUE" -> VALUE; "" when it is not defined.
std::string defined(std::string_view header, std::string_view name) {
  for (const auto& line : split(header, '\n')) {
    const auto words = split_words(line);
    if (words.size() >= 2 && words[0] == "#define" && words[1] == name)
      return words.size() > 2 ? words[2] : std::string("1");
  }
  return {};
}

// configure asks the compiler what decides here: x86 assembler, and whether wchar_t is unsigned, as it is on Arm.
std::string cpu_of(std::string_view pyconfig) {
  if (defined(pyconfig, "SIZEOF_VOID_P") != "8") return {};
  if (!defined(pyconfig, "HAVE_GCC_ASM_FOR_X64").empty()) return "x86_64";
  return defined(pyconfig, "HAVE_USABLE_WCHAR_T").empty() ? "" : "aarch64";
}

Python broken(const Found& found, const std::string& why) {
  Python python;
  python.include_dirs = {found.path};
  python.source = found.source;
  python.found_by = found.found_by;
  python.why_not = why;
  return python;
}

// For one CPU, whose pyconfig.h is given; `multiarch` is the folder beside that holds it, "" = it lies with the others.
Python header_set(const Found& found, const std::string& cpu, const std::string& pyconfig,
                  const std::string& multiarch) {
  const auto patchlevel = read_file(found.path / "patchlevel.h");
  const auto version = patchlevel ? trim(replace_all(defined(*patchlevel, "PY_VERSION"), "\"", "")) : std::string();
  const auto numbers = split(leading_version(version), '.');
  if (numbers.size() < 2) return broken(found, "patchlevel.h in it says no PY_VERSION");
  Python python = broken(found, "");
  python.version = version;
  python.minor = numbers[0] + "." + numbers[1];
  const auto digits = numbers[0] + numbers[1] + (defined(pyconfig, "Py_GIL_DISABLED").empty() ? "" : "t");
  python.abi = "cp" + digits;
  python.soabi = fmt::format("cpython-{}-{}-linux-gnu", digits, cpu);
  if (!multiarch.empty()) python.include_dirs.push_back(found.path.parent_path());
  python.identity = header_identity(python, multiarch);
  python.ready = true;
  return python;
}

}  // namespace

std::vector<Python> read_python_headers(const Found& found) {
  if (!is_folder(found.path))
    return {broken(found, found.path.extension() == ".deb"
                              ? "it is a package file: unpack it with dpkg-deb -x FILE DIR and give DIR"
                              : "it is not a folder")};
  if (!is_file(found.path / "Python.h"))
    return {broken(found,
                   "no Python.h in it, in include/python3.* or in usr/include/python3.*: give an include folder, a "
                   "prefix, or what dpkg-deb -x unpacks from libpython3.*-dev")};
  // Debian's pyconfig.h forwards to one for each CPU: <TRIPLET/python3.N/pyconfig.h>.
  std::vector<Python> sets;
  for (const auto cpu : k_cpus) {
    const auto multiarch = std::string(cpu) + "-linux-gnu";
    const auto own = read_file(found.path.parent_path() / multiarch / found.path.filename() / "pyconfig.h");
    if (own) sets.push_back(header_set(found, std::string(cpu), *own, multiarch));
  }
  if (!sets.empty()) return sets;
  const auto pyconfig = read_file(found.path / "pyconfig.h");
  if (!pyconfig) return {broken(found, "no pyconfig.h in it")};
  const auto cpu = cpu_of(*pyconfig);
  if (cpu.empty())
    return {broken(found, pyconfig->find("-linux-gnu/") == std::string::npos
                              ? "its pyconfig.h is for neither 64-bit x86 nor 64-bit Arm Linux"
                              : "its pyconfig.h leads to another folder, which is missing beside it")};
  return {header_set(found, cpu, *pyconfig, "")};
}

}  // namespace sagekit
