#pragma once
// Where a Python's environment is and whether it may be changed, told by that Python.

#include <sagekit/command.hpp>
#include <sagekit/error.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sagekit {

struct PythonPlace {
  std::filesystem::path prefix, site;
  std::vector<std::filesystem::path> folders;  ///< sys.path
  bool externally_managed = false;
  bool writable = false;
};

/// IST001 (usage) when it does not start or does not answer.
Result<PythonPlace> ask_python_place(const std::filesystem::path& interpreter,
                                     const std::map<std::string, std::string>& environment, CommandRunner& runner);

}  // namespace sagekit
