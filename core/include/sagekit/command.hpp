#pragma once
// The only way core starts a program.

#include <sagekit/error.hpp>
#include <sagekit/export.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sagekit {

/// One program start: an argv vector, never a shell string.
struct Command {
  std::vector<std::string> argv;  ///< argv[0] is a path, or a name looked up in `environment`'s absolute PATH folders
  std::map<std::string, std::string> environment;  ///< the whole environment of the child; nothing is inherited
  std::filesystem::path working_directory;         ///< empty = the caller's
  std::filesystem::path output_file;               ///< stdout and stderr go here, whole; empty = captured in `output`
  std::optional<double> timeout_seconds;           ///< wall clock; then SIGTERM to the process group, SIGKILL 2 s later
  std::optional<int> nice;                         ///< its scheduling priority, as setpriority(2) has it
  bool separate_stderr = false;                    ///< captured: stderr goes to `error_output` instead of `output`
};

struct CommandResult {
  int exit_code = 0;  ///< 128 + signal when killed
  int signal = 0;     ///< 0 = ended by itself
  bool timed_out = false;
  std::string output;  ///< captured stdout (and stderr unless separate)
  std::string error_output;
  double wall_seconds = 0;
  double cpu_seconds = 0;               ///< user + system of the whole process tree that was waited for
  std::uint64_t peak_memory_bytes = 0;  ///< largest single process (ru_maxrss: never below the caller's own)

  bool ok() const { return exit_code == 0 && signal == 0 && !timed_out; }
};

/// Runs commands; one of the two seams that tests replace.
class CommandRunner {
 public:
  virtual ~CommandRunner() = default;
  /// Blocks until the command ended; what it leaves running in its process group is then killed. Thread-safe. An
  /// `Error` means it could not be started (code CMD001), or `stop` was requested: its process group then got SIGTERM,
  /// after two seconds SIGKILL, and the error's kind is `interrupted`. A program that ran and failed is a result, not
  /// an error.
  virtual Result<CommandResult> run(const Command& command, std::stop_token stop = {}) = 0;
};

/// Could this be started: a path, or a name on `environment`'s PATH? Starts nothing. Errors (machine): CMD001.
SAGEKIT_API Status check_program(const std::string& program, const std::map<std::string, std::string>& environment);

/// Own process group, stdin /dev/null, killed with the thread that called `run`, whatever ends it.
SAGEKIT_API std::unique_ptr<CommandRunner> make_local_runner();

}  // namespace sagekit
