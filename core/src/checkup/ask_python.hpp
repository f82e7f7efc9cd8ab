#pragma once
// What a Python says of itself when it is started as its user starts it: with the current folder and the variables.

#include <sagekit/checkup.hpp>

#include <string>
#include <vector>

namespace sagekit {

/// A distribution of which Python knows, in the order of sys.path.
struct FoundDistribution {
  std::string name;  ///< normalised
  std::string version;
  std::filesystem::path place;  ///< the entry of sys.path
  std::filesystem::path info;   ///< its dist-info or egg-info
};

/// Where `import` would find a module; nothing of it was run.
struct FoundModule {
  std::string name;
  std::filesystem::path folder;  ///< of a package its folder, of a file that file; empty = nothing is found
  bool bare = false;             ///< a folder without __init__.py
};

struct PythonView {
  std::string version, minor, implementation;
  std::filesystem::path prefix, base_prefix, user_site;
  bool free_threaded = false;
  bool externally_managed = false;  ///< PEP 668
  bool user_site_used = false;
  std::vector<std::filesystem::path> path;  ///< sys.path, the current folder as such
  std::vector<FoundDistribution> distributions;
  std::vector<FoundModule> modules;

  const FoundModule* module(std::string_view name) const;
  std::vector<const FoundDistribution*> named(std::string_view name) const;
};

/// Asks for distributions and modules of these names. RES002 (usage): it does not start, or is no Python.
Result<PythonView> view_python(const CheckupOptions& options, const std::vector<std::string>& distributions,
                               const std::vector<std::string>& modules, CommandRunner& runner);

/// What came of `import` in a process of its own.
struct ImportTrial {
  std::string name;
  std::string error;   ///< "" = it worked; else the last line of what was raised, or that the process died
  std::string output;  ///< the traceback, for explain
};

struct TorchTrial {
  bool imported = false;
  std::string error, output;  ///< of the import
  std::string version, cuda;
  bool available = false;
  std::string unavailable;                ///< why CUDA is not available
  std::vector<std::string> capabilities;  ///< "9.0" of each device that torch sees
};

/// Imports torch and asks it which GPUs it sees.
Result<TorchTrial> try_torch(const CheckupOptions& options, CommandRunner& runner, std::stop_token stop);
/// Imports torch where there is one, then `package`, then each of `modules`, in one process.
Result<std::vector<ImportTrial>> try_imports(const CheckupOptions& options, const std::string& package,
                                             const std::vector<std::string>& modules, CommandRunner& runner,
                                             std::stop_token stop);

}  // namespace sagekit
