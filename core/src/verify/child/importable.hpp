#pragma once
// What an import check loads, and how: extension modules by name, libraries for ctypes by path.

#include "verify/subject.hpp"

#include <string>
#include <vector>

namespace sagekit {

struct Importable {
  std::string name;      ///< dotted; of a library its installed path
  std::string path;      ///< installed path of the file; "" = Python code, by name only
  bool library = false;  ///< loaded by ctypes
  bool torch = false;    ///< needs torch's libraries, itself or through others of the wheel: torch comes first
};

/// Every native file that the subject's files do not load by needing it, sorted by path, then the spec's import_modules
/// that are Python code. What a spec knows and the subject lacks is not here (CNT002 says that).
std::vector<Importable> importable_modules(const Subject& subject);

}  // namespace sagekit
