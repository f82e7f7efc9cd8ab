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

/// uv chooses by the driver for which CUDA; pip takes what the index has first.
std::string new_torch(const Look& look) {
  if (look.program("uv").empty()) return look.pip("install --force-reinstall torch");
  return fmt::format("uv pip install --python {} --reinstall --torch-backend=auto torch",
                     shell_word(look.options.interpreter.string()));
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
        "torch itself does not run on this GPU", new_torch(look), "WHY515");
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

/// What was raised, and why, by the eyes of `explain`.
void add_failed_import(Look& look, const TorchTrial& trial) {
  const auto explained = explain_log_text(trial.output, look.facts());
  CheckupRow& row = look.add("torch", "import torch", wrong, trial.error, "nothing that uses torch works",
                             look.pip("install --force-reinstall torch"));
  if (explained.causes.empty()) return;
  const auto& cause = explained.causes.front();
  row.why = cause.title + ": " + cause.cause;
  row.code = cause.code;
  // The index that a row leaves open as URL is chosen by the driver.
  const auto mend = mend_of(cause);
  if (mend.find(" URL") != std::string::npos)
    row.mend = new_torch(look);
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
             look.pip("install torch"), "WHY432");
    return {};
  }
  auto torch = read_torch({module->folder, ToolSource::system, "sys.path"});
  if (torch.version.empty()) {
    look.add("torch", "torch", wrong, fmt::format("{}: {}", module->folder.string(), torch.why_not), "it is damaged",
             look.pip("install --force-reinstall torch"));
    return {};
  }
  look.torch = std::move(torch);
  const auto text =
      fmt::format("{}, {} {}", full_version(*look.torch),
                  look.torch->cuda.empty() ? "without CUDA" : "CUDA " + look.torch->cuda, look.torch->root.string());
  if (look.torch->cuda.empty())
    look.add("torch", "torch", wrong, text, "a torch for CPUs has nothing that CUDA kernels could use", new_torch(look),
             "WHY426");
  else
    look.add("torch", "torch", good, text);
  look_at_own_kernels(look);
  look_at_needed_driver(look);
  return import_torch(look);
}

}  // namespace sagekit
