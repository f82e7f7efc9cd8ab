#pragma once
// The libraries by which Windows modules are bound to a Python: python3.dll, python312.dll, python313t_d.dll.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

struct PythonLibrary {
  std::string version;         ///< "312", "313t"; "" = every Python 3 (the stable ABI)
  bool free_threaded = false;  ///< "python313t.dll", "python3t.dll"
  bool debug = false;
};

/// What a DLL's name says; nothing when it is no Python's.
std::optional<PythonLibrary> python_of_library(std::string_view dll);

/// The ABI that these imports bind a module to: "cp312", "cp313t", "cp312d"; "abi3" or "abi3t" (PEP 803) when only the
/// stable ABI's library is among them; "" when no Python is. A plain .pyd says it nowhere else.
std::string python_abi_of_imports(const std::vector<std::string>& dlls);

}  // namespace sagekit
