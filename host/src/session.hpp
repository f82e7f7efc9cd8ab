#pragma once
// What every verb needs: settings, console, plugins, the machine.

#include "command_line.hpp"
#include "console.hpp"
#include "selection.hpp"
#include "settings.hpp"

#include <sagekit/command.hpp>
#include <sagekit/diagnostic.hpp>
#include <sagekit/environment.hpp>
#include <sagekit/log.hpp>
#include <sagekit/plan.hpp>
#include <sagekit/plugin.hpp>

#include <map>
#include <memory>

namespace sagekit::host {

struct Session {
  Settings settings;
  GlobalArguments global;
  Console console;
  LogSink log;
  std::unique_ptr<CommandRunner> runner;
  std::string verb = {};                     ///< as typed, "toolchain fetch"
  std::vector<NamingScheme> schemes = {};    ///< of sagekit.toml
  std::vector<CellOverride> overrides = {};  ///< of sagekit.toml, without what a flag or a variable says
  /// Long names of the flags that sagekit.toml gave, and where it says so.
  std::map<std::string, SourceLocation> configured = {};
  std::filesystem::path interpreter = {};  ///< the environment that a wheel is made for; its pip is asked first

  /// Loads what the flags and the environment name. A refused file that was asked for with --plugin is an error; others
  /// are warned about.
  Result<LoadedPlugins> plugins() const;
  /// The one variant this command is about; says which are loaded when none or an unknown one was chosen.
  Result<Plugin> plugin() const;
  /// That of this name or file, among all that are loaded.
  Result<Plugin> plugin(const std::string& wanted) const;
  /// Was it named with --plugin, by its name or as a file?
  bool asks_for(const Plugin& plugin) const;
  /// The machine, and what was fetched before, as far as `tools` lets them be used.
  Result<Environment> environment(const ToolchainArguments& tools) const;
  /// The torch sysroots that were fetched: what verify looks symbols up in, without looking at the machine.
  std::vector<TorchSysroot> fetched_torches() const;
  /// --store, else the settings'; CLI005 when there is neither.
  Result<std::filesystem::path> store(const std::string& flag) const;
  /// The same; the user's own where no flag names one and `part` of it is somebody else's, which -v says.
  Result<std::filesystem::path> store_to_write(const std::string& flag, const char* part) const;
  /// " --store DIR" where the flag or sagekit.toml names another store than a command takes without them, else "":
  /// advice to run one ends so.
  std::string store_words(const std::string& flag) const;
};

/// The selection flags as core's request; TORCH_CUDA_ARCH_LIST when --arch is not given.
Request make_request(const SelectionArguments& selection, const Session& session);

/// Can this file be started as a program?
bool is_program(const std::filesystem::path& path);
/// What --interpreter means: a path from the current folder, a name that PATH has, or the folder of an environment,
/// whose Python is meant. Error VFY019 (usage).
Result<std::filesystem::path> find_interpreter(const Session& session, const std::filesystem::path& word);
Result<std::vector<std::filesystem::path>> find_interpreters(const Session& session,
                                                             const std::vector<std::string>& words);

/// What the plan has to say about the request.
void show_diagnostics(const Session& session, const Plan& plan);

/// What is set in the environment and does nothing to a wheel: why, and what does.
void answer_variables(const Session& session);

/// Several errors about the same thing, printed; returns the exit code.
int report(const Session& session, const Error& error);

}  // namespace sagekit::host
