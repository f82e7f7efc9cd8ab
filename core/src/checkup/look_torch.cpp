// Python and torch.
#include "causes/in_words.hpp"
#include "checkup/looks.hpp"
#include "environment/probes.hpp"
#include "gpu/driver_choice.hpp"
#include "spec/data.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/inspect.hpp>

#include <algorithm>

namespace sagekit {

namespace {

namespace fs = std::filesystem;
using enum CheckupState;

/// Which build of torch this driver and these GPUs can run.
struct RightBuild {
  std::string cuda;       ///< "12.6"; "" = none is known
  bool any_does = false;  ///< whichever the index has first will do
};

/// A kind of GPU runs what was compiled for the first of its generation, too.
bool knows_gpus(const std::string& cuda, const Look& look) {
  const auto version = parse_version_number(cuda);
  return version && std::ranges::all_of(look.kinds_of_gpu(), [&](const Gpu& gpu) {
           return nvcc_supports(*version, {gpu.capability}) || nvcc_supports(*version, {{gpu.capability.major, 0}});
         });
}

/// Of the newest torch that has one: the newest CUDA whose own driver is not newer, else the oldest that starts.
RightBuild right_build(const Look& look) {
  RightBuild right{{}, true};
  const auto has_driver = [&](const TorchBuild& build, bool own) {
    const auto need = driver_for(build.cuda, own).on(look.wsl);
    return !need.empty() && !is_older_driver(look.driver, need);
  };
  const auto python = look.python.minor + (look.python.free_threaded ? "t" : "");
  const auto& torches = core_data().torches;
  for (auto release = torches.rbegin(); release != torches.rend() && right.cuda.empty(); ++release) {
    if (!contains(release->pythons, python)) continue;
    for (const auto& build : release->builds) {  // the oldest CUDA first
      if (!contains(build.platforms, look.machine.platform)) continue;
      if (!has_driver(build, false) || !knows_gpus(build.cuda, look))
        right.any_does = false;
      else if (right.cuda.empty() || has_driver(build, true))
        right.cuda = build.cuda;
    }
  }
  return right;
}

std::string full_version(const TorchSysroot& torch) {
  return torch.version + (torch.local.empty() ? "" : "+" + torch.local);
}

/// Which arches torch's own kernels are for: without one for the GPU not even an addition works.
void look_at_own_kernels(Look& look) {
  const fs::path library = look.torch->root / "lib/libtorch_cuda.so";
  std::error_code error;
  if (look.gpus.empty() || !fs::is_regular_file(library, error)) return;
  const auto facts = inspect_file(library, {.whole_file = false, .file_hash = false, .symbols = false});
  if (!facts || facts->members.empty() || facts->members.front().gpu.empty()) return;
  for (const auto& gpu : look.kinds_of_gpu()) {
    if (code_for(facts->members.front(), gpu.capability) != nullptr) continue;
    std::set<Arch> arches;
    for (const auto& code : facts->members.front().gpu) arches.insert(code.arch);
    std::vector<std::string> names;
    for (const auto& arch : arches) names.push_back(to_string(arch));
    look.add(
        "torch", "torch", wrong,
        fmt::format("{} has kernels for {}, none for {}", full_version(*look.torch), join(names, ", "), gpu_text(gpu)),
        "torch itself does not run on this GPU", new_torch(look, true), "WHY515");
  }
}

void look_at_needed_driver(Look& look) {
  if (look.driver.empty() || look.torch->cuda.empty()) return;
  const auto need = driver_for(look.torch->cuda, false).on(look.wsl),
             own = driver_for(look.torch->cuda, true).on(look.wsl);
  if (!need.empty() && is_older_driver(look.driver, need))
    look.add("driver", "driver", wrong,
             fmt::format("{}; torch for CUDA {} needs {}", look.driver, look.torch->cuda, need),
             "CUDA does not start with an older one",
             fmt::format("install driver {} or newer, or a torch for an older CUDA", need), "WHY529");
  else if (!own.empty() && is_older_driver(look.driver, own))
    look.add("driver", "driver", note,
             fmt::format("{} is older than {}, which came with CUDA {}", look.driver, own, look.torch->cuda),
             "machine code runs; PTX of that CUDA does not");
}

/// In place of a torch that is damaged: a newer one would not load the wheels that were built for this one. One for
/// CPUs is no loss, and a nightly or one of somebody's own is in no index.
std::string same_torch(const Look& look) {
  const auto& torch = *look.torch;
  if (torch.cuda.empty() || torch.version.find_first_not_of("0123456789.") != std::string::npos)
    return new_torch(look, true);
  const auto pinned = "torch==" + torch.version;
  if (!look.program("uv").empty())
    return fmt::format("uv pip install --python {} --reinstall --torch-backend=cu{} {}",
                       shell_word(look.options.interpreter.string()), without_dots(torch.cuda), pinned);
  return look.pip(fmt::format("install --force-reinstall {} --index-url {}", pinned, torch_index(torch.cuda)));
}

/// What was raised, and why, by the eyes of `explain`.
void add_failed_import(Look& look, const TorchTrial& trial) {
  const auto explained = explain_log_text(trial.output, look.facts());
  CheckupRow& row =
      look.add("torch", "import torch", wrong, trial.error, "nothing that uses torch works", same_torch(look));
  if (explained.causes.empty()) return;
  const auto& cause = explained.causes.front();
  row.why = cause.title + ": " + cause.cause;
  row.code = cause.code;
  // The index that a row leaves open as URL is the one that this torch came from.
  const auto mend = mend_of(cause);
  if (mend.find(" URL") != std::string::npos)
    row.mend = same_torch(look);
  else if (!mend.empty())
    row.mend = mend;
}

Status import_torch(Look& look) {
  TRY_ASSIGN(const auto trial, try_torch(look.options, look.runner, look.stop));
  look.torch_imports = trial.imported;
  if (!trial.imported) {
    add_failed_import(look, trial);
    return {};
  }
  const auto hidden = std::ranges::any_of(
      look.checkup.rows, [](const CheckupRow& row) { return row.about == "visible-devices" && row.state == wrong; });
  if (look.gpus.empty() || look.options.gpus || look.torch->cuda.empty() || hidden) return {};
  if (!trial.available)
    look.add("torch", "torch.cuda", wrong,
             "not available" + (trial.unavailable.empty() ? "" : ": " + first_line(trial.unavailable)),
             "nvidia-smi shows a GPU that torch cannot use",
             fmt::format("{} -c 'import torch; torch.cuda.init()'", shell_word(look.options.interpreter.string())));
  else
    look.add("torch", "torch.cuda", good,
             fmt::format("sees {} ({})",
                         trial.capabilities.size() == 1 ? "one GPU" : fmt::format("{} GPUs", trial.capabilities.size()),
                         join(trial.capabilities, ", ")));
  return {};
}

}  // namespace

std::string new_torch(const Look& look, bool again) {
  const auto right = look.driver.empty() ? RightBuild() : right_build(look);
  // uv chooses by the driver for which CUDA, but by this machine's; pip takes what the index has first.
  if (!look.program("uv").empty())
    return fmt::format("uv pip install --python {} {}--torch-backend={} torch",
                       shell_word(look.options.interpreter.string()), again ? "--reinstall " : "",
                       look.options.gpus && !right.cuda.empty() ? "cu" + without_dots(right.cuda) : "auto");
  return look.pip(fmt::format("install {}torch{}", again ? "--force-reinstall " : "",
                              right.cuda.empty() || right.any_does ? "" : " --index-url " + torch_index(right.cuda)));
}

Status look_at_torch(Look& look) {
  const auto& python = look.python;
  look.add("python", "Python", python.implementation == "cpython" ? good : wrong,
           fmt::format("{}{} {}", python.version, python.free_threaded ? " (free-threaded)" : "",
                       look.options.interpreter.string()),
           python.implementation == "cpython" ? "" : "wheels of this kind are for CPython");
  const auto* module = python.module("torch");
  if (module == nullptr || module->bare) {
    if (!look.wants_torch()) {
      look.add("torch", "torch", note, "not installed in this Python", "no package here needs it");
      return {};
    }
    look.add("torch", "torch", wrong, "not installed in this Python", "every package here is loaded by torch",
             new_torch(look, false), "WHY432");
    return {};
  }
  auto torch = read_torch({module->folder, ToolSource::system, "sys.path"});
  if (torch.version.empty()) {
    look.add("torch", "torch", wrong, fmt::format("{}: {}", module->folder.string(), torch.why_not), "it is damaged",
             new_torch(look, true));
    return {};
  }
  look.torch = std::move(torch);
  const auto text =
      fmt::format("{}, {} {}", full_version(*look.torch),
                  look.torch->cuda.empty() ? "without CUDA" : "CUDA " + look.torch->cuda, look.torch->root.string());
  if (look.torch->cuda.empty())
    look.add("torch", "torch", wrong, text, "a torch for CPUs has nothing that CUDA kernels could use",
             new_torch(look, true), "WHY426");
  else
    look.add("torch", "torch", good, text);
  look_at_own_kernels(look);
  look_at_needed_driver(look);
  return import_torch(look);
}

}  // namespace sagekit
