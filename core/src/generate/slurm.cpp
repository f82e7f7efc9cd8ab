// An array job over the plan's shards, a job that finishes, and what submits both. Texts: core/data/generate/*.sbatch.
#include "generate/kinds.hpp"
#include "generate/quote.hpp"
#include "generate/request_words.hpp"
#include "generate/tools.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/shards.hpp>
#include <sagekit/shell_word.hpp>

#include <algorithm>
#include <cmath>

namespace sagekit {

extern const std::string_view k_generate_build_sbatch;   // written at build time by cmake/EmbedText.cmake
extern const std::string_view k_generate_finish_sbatch;  // the same
extern const std::string_view k_generate_submit_sh;      // the same

namespace {

constexpr double k_mib = 1024.0 * 1024.0;
/// CPU time of a task that is worth a place in the queue, and the most tasks that a plan asks for by itself.
constexpr double k_task_seconds = 1800;
constexpr std::size_t k_most_shards = 64;
constexpr std::size_t k_cpus = 4;
/// What sagekit itself takes beside its compilers (27 MB while it builds and packs the example; what is packed adds to
/// it), and what a run takes more than the one that was measured.
constexpr double k_own_mib = 200, k_memory_margin = 1.2;
/// Nodes are slower than where costs were measured, and the first task fetches toolchains.
constexpr double k_time_margin = 3, k_fetch_minutes = 15;

struct Size {
  std::size_t shards = 1, cpus = 1;
  long memory_mib = 0, budget_mib = 0, minutes = 0, finish_minutes = 0;
};

Size size_of(const Plan& plan, const GenerateOptions& options) {
  Size size;
  const auto wanted = static_cast<std::size_t>(std::ceil(plan.cpu_seconds / k_task_seconds));
  std::size_t compilations = 0;
  double memory = 0, dearest = 0, links = 0;
  for (const auto& step : plan.steps) {
    memory += static_cast<double>(step.cost.peak_bytes());
    if (step.kind == StepKind::link) links += step.cost.cpu_seconds;
    if (!step.depends.empty()) continue;
    ++compilations;
    dearest = std::max(dearest, step.cost.cpu_seconds);
  }
  size.shards = options.shards > 0 ? options.shards : std::clamp<std::size_t>(wanted, 1, k_most_shards);
  size.shards = std::max<std::size_t>(1, std::min(size.shards, compilations));
  // A CPU more than there are steps would only make the job wait for one.
  size.cpus =
      std::clamp<std::size_t>(options.cpus > 0 ? options.cpus : k_cpus, 1, std::max<std::size_t>(1, plan.steps.size()));
  // The largest step, and average ones on the other CPUs.
  const auto average = plan.steps.empty() ? 0 : memory / static_cast<double>(plan.steps.size());
  const auto steps = static_cast<double>(plan.peak_memory_bytes) + static_cast<double>(size.cpus - 1) * average;
  size.memory_mib = std::max(1024L, std::lround(std::ceil((k_memory_margin * steps / k_mib + k_own_mib) / 256) * 256));
  size.budget_mib = std::lround(std::floor((static_cast<double>(size.memory_mib) - k_own_mib) / k_memory_margin));
  const auto share = plan.cpu_seconds / static_cast<double>(size.shards) / static_cast<double>(size.cpus);
  size.minutes = std::lround(k_fetch_minutes + std::ceil(k_time_margin * std::max(share, dearest) / 60));
  size.finish_minutes = std::lround(
      k_fetch_minutes + std::ceil(k_time_margin * (links + 60.0 * static_cast<double>(plan.cells.size())) / 60));
  return size;
}

/// Slurm's own names: what its configuration can hold.
Status check_slurm_name(std::string_view flag, const std::string& name, std::string_view listed_by) {
  const bool right = std::ranges::all_of(
      name, [](char c) { return is_letter_or_digit(c) || std::string_view("_.-,").find(c) != std::string_view::npos; });
  if (right) return {};
  return fail(ErrorKind::usage, "GEN003", fmt::format("{} {} is no name that Slurm has", flag, yaml_text(name)),
              std::string(listed_by));
}

}  // namespace

Result<Generated> generate_slurm(const std::vector<PlannedVariant>& variants, const GenerateOptions& options) {
  const auto& variant = variants.front();
  Generated made;
  TRY(linux_cells(variant.plan, made.notes));
  TRY(check_slurm_name("--partition", options.partition, "sinfo lists partitions"));
  TRY(check_slurm_name("--account", options.account, "sacctmgr show associations lists accounts"));
  // The jobs run in the folder of their scripts, wherever that is put.
  constexpr std::string_view k_whose = "the jobs run in another folder";
  TRY(check_absolute("--source", options.source, k_whose));
  TRY(check_absolute("--shared-store", options.store, k_whose));
  const auto size = size_of(variant.plan, options);

  std::vector<std::string> global{
      "--plugin", variant.carried_plugin.empty() ? variant.spec->name : "./" + plugin_file(*variant.spec)};
  if (!variant.carried_plugin.empty()) made.carried.push_back({plugin_file(*variant.spec), variant.carried_plugin});
  if (const auto overrides = overrides_toml(variant.request); !overrides.empty()) {
    made.files.push_back({std::string(k_overrides_file), overrides, false});
    global.insert(global.end(), {"--config", std::string(k_overrides_file)});
  }
  auto request = variant.request;
  if (request.platforms.empty() && made.notes.size() > 0) {
    request.platforms = {"linux_x86_64"};
    for (const auto& cross : generate_tools().cross) request.platforms.push_back(cross.platform);
  }
  auto words = request_words(request);
  if (const auto arches = flag_arches(request); !arches.empty()) words.insert(words.end(), {"--arch", arches});
  words.insert(words.end(), {"--store", options.store.empty() ? "store" : options.store});
  if (!options.source.empty()) words.insert(words.end(), {"--source", options.source});
  std::string where;
  if (!options.partition.empty()) where += fmt::format("#SBATCH --partition={}\n", options.partition);
  if (!options.account.empty()) where += fmt::format("#SBATCH --account={}\n", options.account);

  const std::vector<TemplateValue> values{
      {"job", target_name(variant.spec->name)},
      {"shards", std::to_string(size.shards)},
      {"cpus", std::to_string(size.cpus)},
      {"memory_mib", std::to_string(size.memory_mib)},
      {"budget_mib", std::to_string(size.budget_mib)},
      {"minutes", std::to_string(size.minutes)},
      {"stop_minutes", std::to_string(std::max(1L, size.minutes - 5))},
      {"finish_minutes", std::to_string(size.finish_minutes)},
      {"where", where},
      {"global_words", shell_line(global)},
      {"build_words", shell_line(words)},
      {"json_words", options.json_output ? " --json > build.json" : ""},
  };
  made.files.push_back({"build.sbatch", fill_template(k_generate_build_sbatch, values), true});
  made.files.push_back({"finish.sbatch", fill_template(k_generate_finish_sbatch, values), true});
  made.files.push_back({"submit.sh", fill_template(k_generate_submit_sh, values), true});
  made.notes.push_back(fmt::format(
      "{} task{} of {} CPU{} and {} MiB, up to {} minutes each; submit.sh submits them from a folder that all nodes "
      "see",
      size.shards, size.shards == 1 ? "" : "s", size.cpus, size.cpus == 1 ? "" : "s", size.memory_mib, size.minutes));
  return made;
}

}  // namespace sagekit
