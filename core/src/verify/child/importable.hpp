#pragma once
// What of an artifact a Python can load: extension modules by name, libraries by path, Python code that its spec names.

#include "verify/artifact.hpp"

#include <set>
#include <string>
#include <vector>

namespace sagekit {

/// What is loaded, and how: extension modules by name, libraries for ctypes by path.
struct Importable {
  std::string name;      ///< dotted; of a library its installed path
  std::string path;      ///< installed path of the file; "" = Python code, by name only
  bool library = false;  ///< loaded by ctypes
  bool torch = false;    ///< needs torch's libraries, itself or through others of the wheel: torch comes first
};

/// Every native file that the artifact's files do not load by needing it, sorted by path, then the spec's
/// import_modules that are Python code. What a spec knows and the artifact lacks is not here (CNT002 says that).
std::vector<Importable> importable_modules(const Artifact& artifact);

/// The Python packages and modules at the top: what users import.
std::set<std::string> top_packages(const Artifact& artifact);

}  // namespace sagekit
