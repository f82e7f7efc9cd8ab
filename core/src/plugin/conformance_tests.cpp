#include "plugin/conformance_tests.hpp"

#include "plugin/judge.hpp"
#include "plugin/sample_artifacts.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <sstream>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

ConformanceAnswer pass(std::string message = {}) { return {true, std::move(message)}; }
ConformanceAnswer refuse(std::string message) { return {false, std::move(message)}; }

/// Runs `check` on the loaded plugin; one that does not load fails whatever the test is.
template <class Check>
ConformanceAnswer with_plugin(const fs::path& file, Check check) {
  const auto plugin = load_plugin(file);
  if (!plugin) return refuse(fmt::format("not loaded [{}]", plugin.error().code));  // the test "load" says why
  return check(*plugin);
}

bool is_spec_error(const Error& error) { return error.code == "PLG006" || error.code == "PLG007"; }

ConformanceAnswer loads(const fs::path& file) {
  const auto plugin = load_plugin(file);
  if (plugin || is_spec_error(plugin.error())) return pass();
  return refuse(fmt::format("{} [{}]", plugin.error().message, plugin.error().code));
}

ConformanceAnswer spec_parses(const fs::path& file) {
  Diagnostics problems;
  const auto plugin = load_plugin(file, &problems);
  if (plugin) return pass(fmt::format("plugin {} {}", plugin->name(), plugin->spec().version));
  const auto with_hint = [](std::string said, const std::string& hint) {
    return hint.empty() ? said : fmt::format("{} ({})", said, hint);
  };
  std::vector<std::string> lines{with_hint(plugin.error().message, plugin.error().hint)};
  for (std::size_t i = 1; i < problems.size(); ++i) {
    const Diagnostic& problem = problems[i];
    lines.push_back(with_hint(fmt::format("{}:{}:{}: {} [{}]", problem.where.file, problem.where.line,
                                          problem.where.column, problem.message, problem.code),
                              problem.hint));
  }
  return refuse(join(lines, "; "));
}

/// The permissions of the mapping that holds `address`: "r--p"; "" = not found.
std::string memory_permissions(std::uintptr_t address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::string permissions;
    std::istringstream fields(line);
    fields >> std::hex >> begin >> dash >> end >> permissions;
    if (fields && begin <= address && address < end) return permissions;
  }
  return "";
}

ConformanceAnswer is_constant(const fs::path& file) {
  return with_plugin(file, [](const Plugin& plugin) {
    const auto address = reinterpret_cast<std::uintptr_t>(&plugin.descriptor());
    const std::string permissions = memory_permissions(address);
    if (permissions.starts_with("r-")) return pass();
    return refuse(
        fmt::format("the descriptor lies in memory that can be written ({}): declare it const and link with "
                    "-z relro -z now",
                    permissions.empty() ? "not mapped" : permissions));
  });
}

ConformanceAnswer exports_one_symbol(const fs::path& file) {
  const auto facts = inspect_file(file);
  if (!facts) return refuse(facts.error().message);
  if (facts->members.size() != 1 || !facts->members.front().elf) return refuse("it is not an ELF file");
  const std::vector<std::string>& exports = facts->members.front().elf->exports;
  if (exports == std::vector<std::string>{SAGEKIT_PLUGIN_SYMBOL}) return pass();
  std::vector<std::string> others;
  std::ranges::remove_copy(exports, std::back_inserter(others), SAGEKIT_PLUGIN_SYMBOL);
  if (others.size() == exports.size()) return refuse("it exports no " SAGEKIT_PLUGIN_SYMBOL);
  const std::size_t count = others.size();
  if (count > 5) others.resize(5);
  return refuse(fmt::format("it exports {} symbols besides {}: {}{}", count, SAGEKIT_PLUGIN_SYMBOL, join(others, ", "),
                            count > 5 ? ", ..." : ""));
}

ConformanceAnswer name_matches(const fs::path& file) {
  return with_plugin(file, [&](const Plugin& plugin) {
    const std::string wanted = "sagekit-" + plugin.name() + ".so";
    if (file.filename() == wanted) return pass();
    return refuse(fmt::format("plugin \"{}\" belongs in a file named {}, not {}", plugin.name(), wanted,
                              file.filename().string()));
  });
}

ConformanceAnswer matrix_has_cells(const fs::path& file) {
  return with_plugin(file, [](const Plugin& plugin) {
    std::size_t cells = 0;
    for (const MatrixRow& row : plugin.spec().matrix.include) {
      cells += std::max<std::size_t>(row.torch.size(), 1) * row.cuda.size() * row.python.size() *
               std::max<std::size_t>(row.platform.size(), 1);
    }
    return cells > 0 ? pass(fmt::format("{} cells before exclusion", cells)) : refuse("[matrix] has no cell");
  });
}

/// "" or what is wrong with one -gencode pair.
std::string gencode_problem(const Gencode& g) {
  const Capability compute = g.compute.capability, code = g.code.capability;
  if (compute.major < 1 || compute.minor < 0 || compute.minor > 9 || code.minor < 0 || code.minor > 9) {
    return "is no capability";
  }
  if (g.ptx && g.code != g.compute) return "is PTX and names another arch as its code";
  if (g.compute.suffix != ArchSuffix::none && g.code.suffix == ArchSuffix::none) {
    return "makes portable code from a virtual arch that is not";
  }
  if (!ptx_reaches(g.compute, code)) return "makes code for a GPU that its virtual arch does not reach";
  return "";
}

ConformanceAnswer gencode_is_well_formed(const fs::path& file) {
  return with_plugin(file, [](const Plugin& plugin) {
    std::size_t pairs = 0;
    for (const ArchSpec& arch : plugin.spec().arches) {
      if (arch.gencode.empty() && arch.excluded.empty()) {
        return refuse(
            fmt::format("arch {} has neither gencode nor a reason for its exclusion", to_string(arch.capability)));
      }
      for (const Gencode& gencode : arch.gencode) {
        const std::string problem = gencode_problem(gencode);
        if (!problem.empty()) {
          return refuse(fmt::format("arch {}: {} {}", to_string(arch.capability), to_string(gencode), problem));
        }
        ++pairs;
      }
    }
    return pairs > 0 ? pass(fmt::format("{} pairs", pairs)) : refuse("no arch can be built");
  });
}

template <class MakeArtifact>
ConformanceAnswer survives(const fs::path& file, MakeArtifact make) {
  return with_plugin(file, [&](const Plugin& plugin) {
    if (!plugin.has_judge()) return pass("the plugin has no judge");
    const auto findings = run_judge(plugin, make(plugin.spec()));
    for (const PluginFinding& finding : findings) {
      if (finding.code == "rule-threw" || finding.code == "rule-floods") return refuse(finding.message);
    }
    return pass(fmt::format("{} findings", findings.size()));
  });
}

ConformanceAnswer survives_empty(const fs::path& file) {
  return survives(file, [](const Spec&) { return empty_artifact(); });
}
ConformanceAnswer survives_minimal(const fs::path& file) { return survives(file, minimal_artifact); }
ConformanceAnswer survives_extreme(const fs::path& file) { return survives(file, extreme_artifact); }

std::vector<PluginFinding> judge_samples(const Plugin& plugin) {
  std::vector<PluginFinding> all;
  for (const JudgedArtifact& artifact :
       {empty_artifact(), minimal_artifact(plugin.spec()), extreme_artifact(plugin.spec())}) {
    std::ranges::copy(run_judge(plugin, artifact), std::back_inserter(all));
  }
  return all;
}

ConformanceAnswer judges_the_same_twice(const fs::path& file) {
  return with_plugin(file, [](const Plugin& plugin) {
    if (!plugin.has_judge()) return pass("the plugin has no judge");
    const auto first = judge_samples(plugin), second = judge_samples(plugin);
    if (first == second) return pass();
    return refuse(fmt::format("the same artifacts gave {} findings, then {} others", first.size(), second.size()));
  });
}

ConformanceAnswer codes_are_well_formed(const fs::path& file) {
  return with_plugin(file, [](const Plugin& plugin) {
    if (!plugin.has_judge()) return pass("the plugin has no judge");
    for (const PluginFinding& finding : judge_samples(plugin)) {
      if (!is_finding_code(finding.code)) {
        return refuse(fmt::format("\"{}\" is no code: a letter, then letters, digits, '-', '_' and '.', at most {}",
                                  finding.code, k_most_code_bytes));
      }
      if (finding.message.empty()) return refuse(fmt::format("{} says nothing", finding.code));
    }
    return pass();
  });
}

double cpu_seconds_since(std::clock_t begin) { return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC; }

// CPU time, so that a busy machine does not decide; less what parsing takes, which is not the plugin's doing.
ConformanceAnswer loads_fast(const fs::path& file) {
  constexpr double k_most_seconds = 0.1;
  const std::clock_t begin = std::clock();
  return with_plugin(file, [&](const Plugin& plugin) {
    const double all = cpu_seconds_since(begin);
    const std::clock_t parse_begin = std::clock();
    static_cast<void>(parse_spec(plugin.spec_text(), "plugin.toml"));
    const double seconds = std::max(0.0, all - cpu_seconds_since(parse_begin));
    const std::string took = fmt::format("{:.1f} ms of CPU time", seconds * 1000);
    return seconds < k_most_seconds ? pass(took) : refuse("opening it took " + took);
  });
}

}  // namespace

const std::vector<ConformanceRule>& conformance_rules() {
  static const std::vector<ConformanceRule> rules = {
      {{"load", "it is trusted, opens, and has a whole descriptor of this ABI"}, loads},
      {{"spec", "its spec is valid"}, spec_parses},
      {{"constant", "its descriptor cannot be changed"}, is_constant},
      {{"exports", "it exports one symbol"}, exports_one_symbol},
      {{"file-name", "its file is named after it"}, name_matches},
      {{"matrix", "its matrix has cells"}, matrix_has_cells},
      {{"gencode", "every arch has well-formed gencode"}, gencode_is_well_formed},
      {{"judge-empty", "its judge survives an empty artifact"}, survives_empty},
      {{"judge-minimal", "its judge survives a minimal artifact"}, survives_minimal},
      {{"judge-extreme", "its judge survives an extreme artifact"}, survives_extreme},
      {{"judge-same", "its judge says the same twice"}, judges_the_same_twice},
      {{"judge-codes", "its judge uses well-formed codes"}, codes_are_well_formed},
      {{"load-time", "it opens in under 100 ms"}, loads_fast},
  };
  return rules;
}

}  // namespace sagekit
