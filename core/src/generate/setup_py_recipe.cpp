#include "generate/setup_py_recipe.hpp"

#include "generate/tools.hpp"
#include "source/prepared_source.hpp"
#include "spec/data.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <chrono>
#include <cstdlib>

namespace sagekit {

namespace {

/// Seconds of "2026-01-17T17:43:28Z".
long long epoch_of(const std::string& date) {
  if (date.size() < 19) return 0;
  const auto number = [&](std::size_t at, std::size_t count) { return std::atoi(date.substr(at, count).c_str()); };
  using namespace std::chrono;
  const sys_days day{year{number(0, 4)} / month{static_cast<unsigned>(number(5, 2))} /
                     static_cast<unsigned>(number(8, 2))};
  return duration_cast<seconds>(day.time_since_epoch()).count() + 3600LL * number(11, 2) + 60LL * number(14, 2) +
         number(17, 2);
}

Json source_json(const Spec& spec, const Plan& plan) {
  Json edits = Json::array(), vendored = Json::array();
  for (const auto* edit : edits_for(spec, plan))
    edits.push_back({{"id", edit->id},
                     {"file", edit->file},
                     {"find", edit->find},
                     {"replace", edit->replace},
                     {"count", edit->count}});
  for (const auto& tree : spec.source.vendored)
    vendored.push_back({{"path", tree.path}, {"url", tree.url}, {"commit", tree.commit}, {"tree", tree.tree}});
  return {{"url", plan.source_url},
          {"commit", plan.commit},
          {"tree", plan.revision.tree},
          {"subdir", plan.subdir},
          {"epoch", epoch_of(plan.revision.date)},
          {"edits", edits},
          {"vendored", vendored}};
}

Json cell_json(const Spec& spec, const Plan& plan, const Cell& cell) {
  const auto& tools = generate_tools();
  const auto filled = [&](std::string text) {
    return replace_all(replace_all(std::move(text), "{torch}", cell.torch), "{cuda_digits}", without_dots(cell.cuda));
  };
  std::vector<std::string> requirements, environment, arches;
  if (!cell.torch.empty())
    requirements = {"--extra-index-url " + torch_index(cell.cuda), filled(tools.setup_py_torch)};
  requirements.insert(requirements.end(), tools.setup_py_requirements.begin(), tools.setup_py_requirements.end());
  for (const auto& arch : cell.arches) arches.push_back(to_string(arch));
  for (const auto& line : spec.build.setup_py_environment)
    environment.push_back(replace_all(line, "{arch_list}", join(arches, ";")));
  return {
      {"python", cell.python}, {"commit", plan.commit}, {"requirements", requirements}, {"environment", environment}};
}

}  // namespace

Result<std::string> setup_py_recipe(const PlannedVariant& variant, const std::vector<std::string>& profiles) {
  Json sources = Json::object(), cells = Json::object();
  const auto& asked = variant.request.profile;
  for (const auto& profile : profiles) {
    auto request = variant.request;
    request.profile = profile;
    request.backend = Backend::setup_py;
    request.with_steps = false;
    const auto plan = make_plan(*variant.spec, request, Environment{});
    // Who asked for one profile is not refused for what another has.
    if (!plan && (plan.error().kind == ErrorKind::no_match || (!asked.empty() && profile != asked))) continue;
    if (!plan) return std::unexpected(plan.error());
    if (!plan->cells.empty()) sources[plan->commit] = source_json(*variant.spec, *plan);
    for (const auto& cell : plan->cells) cells[cell.id] = cell_json(*variant.spec, *plan, cell);
  }
  return json_ascii({{"sources", sources}, {"cells", cells}});
}

std::string toolkit_table() {
  Json table = Json::object();
  for (const auto& release : generate_tools().toolkits) table[release.substr(0, release.rfind('.'))] = release;
  return json_line(table);
}

}  // namespace sagekit
