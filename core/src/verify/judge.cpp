#include "verify/judge.hpp"

#include "support/try.hpp"
#include "verify/checks/checks.hpp"

#include <algorithm>
#include <string>

namespace sagekit {

namespace {

using CodeList = std::vector<std::string_view>;

/// Every rule of a family whose number is at least `first` and below `end`.
CodeList numbered(std::string_view letters, int first, int end) {
  CodeList codes;
  for (const auto& rule : finding_rules()) {
    if (family(rule.code) != letters) continue;
    const int number = std::stoi(std::string(rule.code.substr(letters.size())));
    if (first <= number && number < end) codes.push_back(rule.code);
  }
  return codes;
}

// Staged files are judged again as a wheel: what is not there yet is not missed.
constexpr Precondition k_not_staged{[](const CheckContext& c) { return c.artifact.kind != ArtifactKind::build; }, ""};
constexpr Precondition k_file_name{[](const CheckContext& c) { return !c.artifact.in_folder(); },
                                   "it is a folder, without a wheel's file name"};
constexpr Precondition k_archive{[](const CheckContext& c) { return c.artifact.kind == ArtifactKind::wheel; },
                                 "it is a folder, not an archive"};
constexpr Precondition k_dist_info{
    [](const CheckContext& c) { return c.artifact.wheel != nullptr && !c.artifact.wheel->dist_info.empty(); },
    "there is no dist-info"};
constexpr Precondition k_plugin{[](const CheckContext& c) { return c.artifact.spec != nullptr; },
                                "no loaded plugin makes this package"};
constexpr Precondition k_variant{[](const CheckContext& c) { return is_variant(c.artifact); }, ""};
// Where files lie is the installer's affair afterwards.
constexpr Precondition k_as_packed{[](const CheckContext& c) {
                                     return c.artifact.kind == ArtifactKind::wheel ||
                                            c.artifact.kind == ArtifactKind::unpacked;
                                   },
                                   ""};
constexpr Precondition k_windows{[](const CheckContext& c) { return has_windows_modules(c.artifact); }, ""};
constexpr Precondition k_asked_for_gpu{[](const CheckContext& c) { return c.options.gpu; }, ""};

/// A check that needs the artifact alone.
template <void (*Say)(const Artifact&, FindingList&)>
Status plain(const CheckContext& context, FindingList& findings) {
  Say(context.artifact, findings);
  return {};
}

const std::vector<Check>& table() {
  static const std::vector<Check> k_table = {
      {numbered("NAM", 100, 1000), {k_file_name}, plain<check_name>},
      {numbered("ZIP", 101, 1000), {k_not_staged, k_archive}, plain<check_paths>},
      {{"INF101", "INF102", "INF103", "INF104", "INF105", "INF129"},
       {k_not_staged, k_dist_info},
       plain<check_dist_info>},
      {numbered("INF", 106, 122), {k_not_staged, k_dist_info}, plain<check_metadata>},
      {numbered("INF", 122, 129), {k_not_staged, k_dist_info}, plain<check_package_files>},
      {numbered("VAR", 100, 1000), {k_not_staged, k_dist_info, k_variant}, plain<check_variant>},
      {{"CNT001"}, {}, plain<check_leftovers>},
      {{"CNT002", "CNT006"}, {k_plugin}, plain<check_expected>},
      {{"CNT003"}, {k_plugin}, plain<check_python_files>},
      {{"CNT004"}, {k_not_staged, k_archive, k_plugin}, plain<check_size>},
      {{"CNT005"}, {k_plugin}, plain<check_own_names>},
      {{"CNT008"}, {k_not_staged, k_archive}, plain<check_index_limit>},
      {numbered("CNT", 9, 21), {k_not_staged, k_as_packed, k_dist_info}, plain<check_layout>},
      {{"ELF001", "ELF003", "ELF004", "ELF005", "ELF006", "ELF008", "ELF009", "ELF010", "ELF013", "ELF014"},
       {},
       plain<check_modules>},
      {{"ELF002", "ELF011", "ELF012"}, {}, plain<check_libraries>},
      {numbered("PYA", 1, 1000), {}, plain<check_python_abi>},
      {numbered("TAB", 1, 1000), {}, plain<check_torch_abi>},
      {{"LBC001", "LBC003", "LBC005", "LBC006", "LBC007"},
       {},
       [](const CheckContext& c, FindingList& f) { return check_libc(c.artifact, c.options.torches, f), Status(); }},
      {{"LBC002", "LBC004"}, {k_plugin}, plain<check_libc_limits>},
      {{"ELF007"},
       {},
       [](const CheckContext& c, FindingList& f) { return check_symbols(c.artifact, c.options, f), Status(); }},
      {numbered("WIN", 1, 7), {k_windows}, plain<check_windows>},
      {{"WIN007"},
       {k_windows},
       [](const CheckContext& c, FindingList& f) { return check_dll_exports(c.artifact, c.options, f), Status(); }},
      {{"WIN008"}, {k_windows}, plain<check_was_run>},
      {numbered("FAT", 101, 1000), {}, plain<check_gpu_code>},
      {{"TRU001"},
       {k_plugin},
       [](const CheckContext& c, FindingList& f) { return check_defects(c.artifact, c.options, f), Status(); }},
      {{"TRU002", "TRU003"},
       {k_not_staged, k_dist_info},
       [](const CheckContext& c, FindingList& f) { return check_record(c.artifact, f), Status(); }},
      {{}, {}, plain<ask_plugin>},  // its codes are the plugin's
      {numbered("IMP", 1, 1000),
       {},
       [](const CheckContext& c, FindingList& f) {
         return check_imports(c.artifact, c.options, c.runner, c.results.imported, f);
       }},
      {numbered("RUN", 100, 200),
       {k_asked_for_gpu},
       [](const CheckContext& c, FindingList& f) -> Status {
         TRY_ASSIGN(c.results.gate, check_gpu(c.artifact, c.options, c.runner, f));
         return {};
       }},
      // Last: no row of the table is better than all findings allow.
      {numbered("RUN", 1, 100),
       {},
       [](const CheckContext& c, FindingList& f) -> Status {
         c.results.unusable = unusable(c.artifact, f.all());
         c.results.runs_on = runs_on(c.artifact, f.all(), c.results.gate);
         check_runs_on(c.artifact, c.results.runs_on, c.results.unusable, f);
         lower_all(c.results.runs_on, c.results.unusable);
         return {};
       }},
  };
  return k_table;
}

}  // namespace

std::span<const Check> checks() { return table(); }

Status run_check(const Check& check, const CheckContext& context, FindingList& findings) {
  FindingList::Scope scope(findings, check.codes);
  const auto lacking =
      std::ranges::find_if(check.needs, [&](const Precondition& need) { return !need.is_met(context); });
  if (lacking != check.needs.end()) {
    if (!lacking->lack.empty()) findings.skip_rest(std::string(lacking->lack));
    return {};
  }
  TRY(check.run(context, findings));
  for (const auto code : check.codes) findings.done(code);
  return {};
}

namespace {

/// Does it start what was installed?
bool is_tried(const Check& check) {
  return !check.codes.empty() && (family(check.codes.front()) == "IMP" || check.codes.front().starts_with("RUN1"));
}

}  // namespace

Result<WheelReport> judge(const Artifact& artifact, FindingList findings, const VerifyOptions& options,
                          CommandRunner& runner, std::string path, std::string sha256) {
  CheckResults results;
  for (const auto& check : checks())
    if (!options.trial || is_tried(check)) TRY(run_check(check, {artifact, options, runner, results}, findings));
  auto report = std::move(findings).report(std::move(path), std::move(sha256), std::move(results.runs_on));
  if (results.gate && results.gate->cases > 0) report.gpu = results.gate->gpu;
  report.unusable = std::move(results.unusable);
  report.kind = artifact.kind;
  report.imported = {results.imported.begin(), results.imported.end()};
  report.python = artifact.name.python;
  report.abi = artifact.name.abi;
  report.platform = artifact.name.platform;
  return report;
}

}  // namespace sagekit
