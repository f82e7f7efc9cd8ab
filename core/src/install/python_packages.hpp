#pragma once
// What is installed in a Python's environment, told by that Python.

#include "support/json.hpp"

#include <sagekit/command.hpp>
#include <sagekit/error.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sagekit {

/// One installed distribution.
struct InstalledPackage {
  std::string name, version;                 ///< name normalised
  std::vector<std::filesystem::path> files;  ///< absolute; what its RECORD lists, its dist-info included
};

struct PythonPlace {
  std::filesystem::path executable, prefix, site;
  bool externally_managed = false;
  std::string managed_text;  ///< what its packager says of it; "" = nothing
  bool writable = false, has_pip = false;
  std::map<std::string, std::string> packages;
};

/// IST001 (usage) when it does not start or does not answer.
Result<PythonPlace> ask_python_place(const std::filesystem::path& interpreter,
                                     const std::map<std::string, std::string>& environment, CommandRunner& runner);

/// The files of installed packages; those that are not installed are left out.
Result<std::vector<InstalledPackage>> ask_packages(const std::filesystem::path& interpreter,
                                                   const std::vector<std::string>& names,
                                                   const std::map<std::string, std::string>& environment,
                                                   CommandRunner& runner);

}  // namespace sagekit
