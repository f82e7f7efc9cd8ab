#include "elf/python_library.hpp"

#include "support/text.hpp"

namespace sagekit {

std::optional<PythonLibrary> python_of_library(std::string_view dll) {
  std::string name = lower(dll);
  if (!name.starts_with("python3") || !name.ends_with(".dll")) return {};
  name = name.substr(6, name.size() - 10);  // "312t_d"
  PythonLibrary library;
  library.debug = name.ends_with("_d");
  if (library.debug) name.resize(name.size() - 2);
  library.free_threaded = name.ends_with('t');
  const auto digits = library.free_threaded ? name.substr(0, name.size() - 1) : name;
  if (!is_digits(digits)) return {};
  if (digits != "3") library.version = name;
  return library;
}

std::string python_abi_of_imports(const std::vector<std::string>& dlls) {
  std::string stable;
  for (const auto& dll : dlls) {
    const auto python = python_of_library(dll);
    if (!python) continue;
    if (!python->version.empty()) return "cp" + python->version + (python->debug ? "d" : "");
    stable = python->free_threaded ? "abi3t" : "abi3";
  }
  return stable;
}

}  // namespace sagekit
