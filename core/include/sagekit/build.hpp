#pragma once
// Plan -> built files. A step that fails is data in `Build`; an `Error` means that sagekit could not work.

#include <sagekit/command.hpp>
#include <sagekit/error.hpp>
#include <sagekit/export.hpp>
#include <sagekit/index.hpp>
#include <sagekit/log.hpp>
#include <sagekit/plan.hpp>
#include <sagekit/shards.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// A file of the wheel to be: where it will lie, and where its bytes are now (in the store or the work folder).
struct StagedFile {
  std::string archive_path;
  std::filesystem::path file;
  std::string sha256;
  std::uint64_t size_bytes = 0;
};

/// Why a cell's build failed.
struct StepFailure {
  std::string cell, step;
  int exit_code = 0;
  std::filesystem::path log;      ///< whole output of the step, kept
  std::string cause;              ///< last lines of it
  std::vector<std::string> argv;  ///< to rerun it by hand
  std::filesystem::path working_directory;
};

/// One cell's files, before anyone judged them.
struct CellBuild {
  Cell cell;
  std::vector<StagedFile> files;             ///< modules and package files, sorted by archive path; no dist-info
  std::vector<StagedFile> licenses;          ///< for dist-info/licenses, paths relative to it
  std::string readme;                        ///< text for METADATA's body
  std::vector<std::string> provenance;       ///< "nvcc 13.0.88 sha256...": lines for the build record
  std::filesystem::path record;              ///< build.json in the store: what `package` reads
  std::string commit;                        ///< of the source: a revision of the spec
  std::vector<std::string> allowed_defects;  ///< ids that somebody asked to leave in, sorted
  std::string plugin_path,
      plugin_sha256;  ///< the library file that said all this; kept in the record, not in the wheel
};

struct Build {
  std::vector<CellBuild> cells;
  std::vector<StepFailure> failed;
  std::vector<std::string> skipped;  ///< cells not finished because another step failed or they need another machine
  std::uint64_t steps_run = 0, steps_reused = 0, steps_failed = 0;
  std::uint64_t steps_left = 0;                  ///< not begun because of BuildOptions::stop_after
  std::optional<std::uint64_t> steps_would_run;  ///< of a dry run; its steps_reused are those that would be
  std::uint64_t steps_unknown = 0;               ///< of those that would run: the store may have them
  std::vector<std::string> unknown_before;       ///< what has to be here before that is known: "nvcc 13.0"
  double wall_seconds = 0, cpu_seconds = 0;
  std::uint64_t peak_memory_bytes = 0;  ///< largest single process of a step that ran
  std::shared_ptr<const void> place;    ///< of the files, where the store could not keep them: they go with it
};

enum class StepOutcome { started, reused, finished, failed, retried };
SAGEKIT_API std::string_view to_string(StepOutcome outcome);  ///< "started"

/// Progress, for people and for --jsonl.
struct BuildEvent {
  StepOutcome outcome = StepOutcome::started;
  const Step* step = nullptr;           ///< valid during the call
  std::vector<std::string> waited_for;  ///< of a start: ids of the steps whose results it takes
  std::uint64_t done = 0, total = 0;
  double eta_seconds = 0;  ///< estimate; 0 = none yet
  double wall_seconds = 0, cpu_seconds = 0;
  std::uint64_t peak_memory_bytes = 0;
  std::string message;    ///< why retried, or the failure's last lines
  bool restarts = false;  ///< of a retry: the step will be started again, alone; else a fallback goes on with it
};

/// Told what happens; called from worker threads, one call at a time.
class BuildObserver {
 public:
  virtual ~BuildObserver() = default;
  virtual void on_event(const BuildEvent& event) = 0;
  virtual void on_message(const std::string& text) = 0;  ///< fetching a source, waiting for a lock
  /// All files of a cell are made and staged, while steps of others may still run.
  virtual void on_cell(const CellBuild& cell) { static_cast<void>(cell); }
};

struct BuildOptions {
  std::filesystem::path store;                                ///< content-addressed results, XDG cache by default
  std::string source;                                         ///< --source DIR or URL; "" = the spec's url
  std::vector<std::pair<std::string, std::string>> vendored;  ///< name -> folder given with --source NAME=DIR
  std::size_t jobs = 0;                                       ///< 0 = usable CPUs
  std::uint64_t memory_bytes = 0;                             ///< budget; 0 = 80 % of the environment's
  bool keep_going = false;
  bool dry_run = false;  ///< fetch nothing, run no step; says what would run and what the store holds
  bool offline = false;  ///< no connection: a source that is not here is SRC001
  /// Which steps whose GPU code was made by itself are also made the plain way, to compare machine code by kernel.
  enum class Prove { none, sample, all } prove = Prove::none;
  std::optional<double> step_timeout_seconds;  ///< a command that takes longer is ended, and its step has failed
  /// Nothing is started that is not expected to end before; what is left is in Build::steps_left.
  std::optional<std::chrono::steady_clock::time_point> stop_after;
  std::optional<int> nice;  ///< scheduling priority of the commands, 0 to 19
  LogSink log;
  std::map<std::string, std::string> child_environment;  ///< base environment of steps: PATH, HOME, TMPDIR

  /// Stores that are only read (folders), and servers with /cas and /ac, asked in this order for what the store lacks.
  /// What they say is hashed; when one fails, the build says so and goes on.
  std::vector<std::string> store_from;
  bool store_push = false;    ///< what is made is handed to the first server of `store_from`
  std::string store_token;    ///< sent to those servers and to nobody else; "" = none
  IndexSettings connections;  ///< proxies and certificates on the way to them
  std::string launcher;       ///< program that compilers are started through, such as sccache; "" = none
  std::map<std::string, std::string> launcher_environment;  ///< what it may see besides
  std::optional<Shard> shard;                               ///< only this part of the steps, and no wheel
  bool require_hits = false;  ///< compile nothing: what is in no store fails, with its name; modules are still linked
};

/// Is there something at each place that the user gave for the source and its vendored trees? Reads no content: what
/// can be asked before anything is fetched. Errors (usage): SRC006 nothing is there, SRC009 no such vendored tree.
SAGEKIT_API Status check_given_places(const Spec& spec, const BuildOptions& options);

/// Are the folders and archives among them the plan's? Of an address nothing can be known. Errors: SRC... (usage).
SAGEKIT_API Status check_given_content(const Spec& spec, const Plan& plan, const BuildOptions& options,
                                       CommandRunner& runner, std::stop_token stop = {});

/// Where a build has its source from, without fetching or writing anything: the ready copy, what was given, or git's
/// copy of what it fetched before; "" = it is fetched. Errors: SRC001 (it must not be), SRC007 (there is no git), those
/// of check_given_places and check_given_content.
SAGEKIT_API Result<std::filesystem::path> look_for_source(const Spec& spec, const Plan& plan,
                                                          const BuildOptions& options, CommandRunner& runner,
                                                          std::stop_token stop = {});

/// Can a build work with that store? Nothing is made. `fetches`: toolchains are fetched into it, which one that is only
/// read does not take. Errors, with a build's codes: FIL002, STO009 (usage), STO002 (machine).
SAGEKIT_API Status check_store(const std::filesystem::path& store, bool fetches);

/// Fetches and checks the source, runs the plan's steps, stages the cells' files. Cells that are not buildable here end
/// in the error of their missing part when none is buildable, else in `skipped`. A store that cannot be written is read
/// only: the build works below TMPDIR and says that it keeps nothing. Errors: SRC... (usage), TCH... and no space
/// (machine), STO... (store), interrupted.
SAGEKIT_API Result<Build> run_build(const Spec& spec, const Plan& plan, const Environment& environment,
                                    const BuildOptions& options, CommandRunner& runner, BuildObserver& observer,
                                    std::stop_token stop = {});

/// Reads the build records that run_build left: `path` is a build.json, or a folder that holds some.
SAGEKIT_API Result<std::vector<CellBuild>> load_builds(const std::filesystem::path& path);

}  // namespace sagekit
