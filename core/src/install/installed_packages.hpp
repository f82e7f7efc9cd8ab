#pragma once
// What is installed where a Python looks for packages, read as importlib.metadata reads it. Python is not started for
// it: an install asks several times, and a start takes longer than all that there is to read.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sagekit {

/// One installed distribution.
struct InstalledPackage {
  std::string name, version;   ///< name normalised
  std::filesystem::path info;  ///< its dist-info or egg-info
};

/// By normalised name. `folders`: sys.path; what an earlier one holds hides the same of a later one. Folders without a
/// name and a version, and pip's "~name" of an uninstall that was cut, are no packages.
std::map<std::string, InstalledPackage> read_installed_packages(const std::vector<std::filesystem::path>& folders);

/// Name to version alone.
std::map<std::string, std::string> installed_versions(const std::vector<std::filesystem::path>& folders);

/// Its Requires-Dist, as written.
std::vector<std::string> requirements_of(const InstalledPackage& package);

/// Absolute; those that its RECORD lists, or an egg's installed-files.txt. Empty when it has neither.
std::vector<std::filesystem::path> files_of(const InstalledPackage& package);

}  // namespace sagekit
