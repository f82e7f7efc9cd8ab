#include "causes/in_words.hpp"
#include "support/json.hpp"

#include <sagekit/build_report.hpp>

namespace sagekit {

StepCauses step_causes(const Build& build, const LogFacts& here) {
  StepCauses causes;
  auto known = here;
  known["installer"] = "sagekit";  // a mend by pip's or setup.py's variables is none of ours
  for (const auto& failure : build.failed) {
    if (failure.log.empty() || causes.contains(failure.step)) continue;
    const auto explanation = explain_log_file(failure.log, known);
    if (explanation && !explanation->causes.empty()) causes[failure.step] = explanation->causes;
  }
  return causes;
}

std::string build_json(const Build& build, const std::vector<PackagedWheel>& wheels,
                       const std::vector<RefusedCell>& refused, const StepCauses& causes,
                       const std::vector<Error>& errors) {
  Json json{{"schema", "sagekit.build/1"}};
  Json& made = json["wheels"] = Json::array();
  for (const auto& wheel : wheels)
    made.push_back({{"cell", wheel.cell},
                    {"path", wheel.path.string()},
                    {"sha256", wheel.sha256},
                    {"size_bytes", wheel.size_bytes},
                    {"verdict", to_string(wheel.report.verdict())}});
  Json& failed = json["failed"] = Json::array();
  for (const auto& step : build.failed) {
    const auto known = causes.find(step.step);
    failed.push_back({{"cell", step.cell},
                      {"step", step.step},
                      {"exit_code", step.exit_code},
                      {"log", step.log.string()},
                      {"cause", step.cause},
                      {"causes", known == causes.end() ? Json::array() : causes_json(known->second)}});
  }
  for (const auto& cell : refused) {
    std::string cause;
    for (const auto& finding : cell.report.findings)
      if (finding.result == FindingResult::fail)
        cause += (cause.empty() ? "" : "; ") + finding.code + " " + finding.message;
    failed.push_back({{"cell", cell.cell},
                      {"step", "verify"},
                      {"exit_code", 1},
                      {"log", ""},
                      {"cause", cause},
                      {"causes", Json::array()}});
  }
  json["skipped"] = build.skipped;
  Json& ended = json["errors"] = Json::array();
  for (const auto& one : errors)
    ended.push_back({{"code", one.code}, {"message", one.message}, {"where", one.where}, {"hint", one.hint}});
  json["steps"] = {{"run", build.steps_run}, {"reused", build.steps_reused}, {"failed", build.steps_failed}};
  if (build.steps_left > 0) json["steps"]["left"] = build.steps_left;
  if (build.steps_would_run) json["steps"]["would_run"] = *build.steps_would_run;
  if (build.steps_unknown > 0) json["steps"]["unknown"] = build.steps_unknown;
  json["wall_seconds"] = build.wall_seconds;
  json["cpu_seconds"] = build.cpu_seconds;
  json["peak_memory_bytes"] = build.peak_memory_bytes;
  return json_text(json);
}

}  // namespace sagekit
