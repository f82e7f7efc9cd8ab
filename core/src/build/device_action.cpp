#include "build/device_action.hpp"

#include "compile/nvcc_commands.hpp"
#include "compile/windows_host.hpp"
#include "plan/argv.hpp"
#include "plan/half_costs.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace sagekit {

namespace {

struct Architecture {
  std::string compute;                ///< "compute_90a"
  std::vector<std::string> gencodes;  ///< "arch=compute_90a,code=sm_90a"
};

std::vector<Architecture> architectures(const std::vector<std::string>& argv) {
  std::vector<Architecture> found;
  for (std::size_t i = 0; i + 1 < argv.size(); ++i) {
    if (argv[i] != "-gencode" || !argv[i + 1].starts_with("arch=")) continue;
    const auto compute = argv[i + 1].substr(5, argv[i + 1].find(',') - 5);
    auto same = std::ranges::find(found, compute, &Architecture::compute);
    if (same == found.end()) same = found.insert(found.end(), {compute, {}});
    same->gencodes.push_back(argv[i + 1]);
  }
  return found;
}

/// The command that decides about GPU code: that of the device's pass where there is one.
const std::vector<std::string>& device_words(const Step& compile) {
  return compile.device_argv.empty() ? compile.argv : compile.device_argv;
}

std::optional<std::string> platform_of(const Step& step) {
  constexpr std::string_view k_nvcc = "{nvcc-exe-", k_cxx = "{cxx-";
  const auto& argv = device_words(step);
  if (step.kind != StepKind::compile || argv.empty() || !argv.front().starts_with(k_nvcc)) return std::nullopt;
  const auto host = word_after(argv, "-ccbin");
  if (!host.starts_with(k_cxx) || !host.ends_with('}')) return std::nullopt;
  return host.substr(k_cxx.size(), host.size() - k_cxx.size() - 1);
}

/// What is left without outputs and without architectures.
std::vector<std::string> common_words(const std::vector<std::string>& argv) {
  std::vector<std::string> words;
  const auto all = without_outputs(argv);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] == "-gencode")
      ++i;
    else
      words.push_back(all[i]);
  }
  return words;
}

std::vector<std::string> deciding_words(std::vector<std::string> words, const std::string& platform) {
  constexpr std::string_view k_python = "{python-includes-";
  for (auto& word : words) {
    if (word.starts_with(k_python)) word = "{python-includes}";
    word = replace_all(std::move(word), "-" + platform + "}", "}");
  }
  return words;
}

std::string short_hash(const std::vector<std::string>& words) {
  Sha256 hash;
  for (const auto& word : words) hash.field(word);
  return hash.hex().substr(0, 12);
}

}  // namespace

std::vector<std::string> without_outputs(const std::vector<std::string>& argv) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < argv.size(); ++i) {
    if (argv[i] == "-o" || argv[i] == "-MF")
      ++i;
    else if (argv[i] != "-MD")
      words.push_back(argv[i]);
  }
  return words;
}

std::vector<DeviceAction> device_actions(const std::vector<const Step*>& steps, const std::string& own_platform) {
  std::vector<DeviceAction> actions;
  std::map<std::vector<std::string>, std::size_t> known;
  for (std::size_t user = 0; user < steps.size(); ++user) {
    const Step& compile = *steps[user];
    const auto platform = platform_of(compile);
    if (!platform) continue;
    const bool shimmed = !compile.device_argv.empty();
    const auto& argv = device_words(compile);
    const auto plain =
        is_windows_host(compile)
            ? std::vector<std::string>()
            : without_ptxas_threads(compile.fallback_argv.empty() ? compile.argv : compile.fallback_argv);
    const auto words = deciding_words(common_words(argv), *platform);
    const auto all = architectures(argv);
    std::vector<std::string> names;
    for (const auto& one : all) names.push_back(one.compute);
    for (const auto& [compute, gencodes] : all) {
      DeviceAction action{
          {}, argv, plain, words, compute, join(names, ","), *platform, {user}, is_windows_host(compile)};
      auto& step = action.step;
      step.argv = common_words(argv);
      for (const auto& gencode : gencodes) step.argv.insert(step.argv.end(), {"-gencode", gencode});
      auto identity = words;
      identity.insert(identity.end(), gencodes.begin(), gencodes.end());
      identity.push_back(action.arch_list);
      if (const auto found = known.find(identity); found != known.end()) {
        auto& same = actions[found->second];
        same.users.push_back(user);
        same.for_windows |= action.for_windows;
        same.step.cells.insert(same.step.cells.end(), compile.cells.begin(), compile.cells.end());
        if (same.plain.empty()) same.plain = plain;
        if (same.platform != own_platform && *platform == own_platform) {
          same.platform = *platform;
          same.argv = argv;
          same.plain = plain;
          same.step.argv = std::move(step.argv);
        }
        continue;
      }
      step.kind = StepKind::device;
      step.module = compile.module;
      if (!compile.inputs.empty()) step.inputs = {compile.inputs.front()};  // the source; shims are tools by argv
      step.outputs = {compute};
      step.cells = compile.cells;
      step.id =
          fmt::format("device-{}-{}-{}-{}", after_last(compile.module, '.'),
                      step.inputs.empty() ? "" : after_last(step.inputs.front(), '/'), compute, short_hash(identity));
      step.cost = device_cost(compile.cost, all.size(), shimmed);
      known.emplace(std::move(identity), actions.size());
      actions.push_back(std::move(action));
    }
  }
  return actions;
}

}  // namespace sagekit
