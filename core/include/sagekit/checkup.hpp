#pragma once
// What a Python environment's packages will do on this machine's GPU, and what stands in their way: the machine, its
// driver, torch, Triton and its tools, every installed package that a plugin knows.

#include <sagekit/command.hpp>
#include <sagekit/environment.hpp>
#include <sagekit/error.hpp>
#include <sagekit/export.hpp>
#include <sagekit/plugin.hpp>
#include <sagekit/verify.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

enum class CheckupState {
  good,
  note,     ///< nothing is wrong; somebody who looks for a fault wants to know it
  warning,  ///< works, and may not in another folder, after a restart, or for a build
  unknown,  ///< could not be told
  wrong,
};

/// "good", "note", "warning", "unknown", "wrong".
SAGEKIT_API std::string_view to_string(CheckupState state);

/// One thing that was looked at.
struct CheckupRow {
  /// What it is about, for programs: system, container, gpu, mig, visible-devices, driver, libcuda, python, torch,
  /// triton, ptxas, c-compiler, python-headers, package, runs, module, defect, finding, torch-abi, import, shadow,
  /// path, disk, memory.
  std::string about;
  std::string what;  ///< for people: "torch", "sageattention on NVIDIA H200"
  CheckupState state = CheckupState::good;
  std::string found;
  std::string why;   ///< why it matters; "" = it is good
  std::string mend;  ///< the one command, or what to do; "" = nothing need be done, or nothing can
  std::string code;  ///< `explain CODE` has more; "" = nothing has
};

/// An installed package that a plugin knows, as Python finds it.
struct CheckedPackage {
  std::string name, version;
  std::filesystem::path place;          ///< the folder that it is installed in
  std::filesystem::path imported_from;  ///< what `import` takes; empty = nothing
  std::vector<RunsOn> runs_on;          ///< on the GPUs of this machine
  std::vector<Finding> findings;        ///< those that failed
};

struct Checkup {
  std::filesystem::path interpreter;
  std::vector<CheckupRow> rows;
  std::vector<CheckedPackage> packages;
  SAGEKIT_API bool wrong() const;  ///< a row is
};

/// All that decides, as values: core reads no environment variable.
struct CheckupOptions {
  std::filesystem::path interpreter;
  ProbeOptions probe;  ///< PATH, home, the root of /proc and /dev, what asked programs see
  /// What the user's own programs would see: PYTHONPATH, CUDA_VISIBLE_DEVICES, CC, LD_LIBRARY_PATH, TMPDIR ...
  std::map<std::string, std::string> variables;
  std::filesystem::path folder;                     ///< the current one, which Python looks into first
  std::vector<std::filesystem::path> work_folders;  ///< that a build writes to
  std::vector<const Plugin*> plugins;               ///< whose packages are looked at
  /// Has a plugin a wheel to build for that torch ("2.9.1"), its CUDA, that Python and GPU? Not set: all have.
  std::function<bool(const Spec&, const std::string& torch, const std::string& cuda, const std::string& python,
                     Capability)>
      can_build = {};
  bool asked_for_packages = false;                 ///< a package that is not installed is wrong
  std::optional<std::vector<Gpu>> gpus;            ///< instead of this machine's
  std::uint64_t build_disk_bytes = 4'000'000'000;  ///< less room than this is low
};

/// Looks, and imports: torch and each package in a Python that sees what the user's would. Never changes anything.
/// Errors: RES002 (usage) the interpreter does not start; interrupted.
SAGEKIT_API Result<Checkup> check_up(const CheckupOptions& options, CommandRunner& runner, std::stop_token stop = {});

/// "sagekit.doctor/1" of docs/json.md, with `interpreter`, `rows` and `packages`.
SAGEKIT_API std::string checkup_json(const Checkup& checkup);

/// Text without what says who and where somebody is: home folders, the names in `private_words`, passwords in
/// addresses, tokens.
SAGEKIT_API std::string without_private(std::string_view text, const std::filesystem::path& home,
                                        const std::vector<std::string>& private_words);

/// A block for a bug report: everything that was found, without_private.
SAGEKIT_API std::string checkup_report(const Checkup& checkup, const CheckupOptions& options,
                                       const std::vector<std::string>& private_words);

}  // namespace sagekit
