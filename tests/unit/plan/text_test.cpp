#include "fixture.hpp"
#include "support/json.hpp"

using namespace sagekit;
using namespace sagekit::test;

TEST_CASE("the JSON has the promised keys in their order") {
  Request request;
  request.profile = "all";
  const auto plan = plan_of(demo_spec(), request);
  const auto text = plan_json(plan, true);
  CHECK(text.starts_with("{\n  \"schema\": \"sagekit.plan/1\""));
  const auto json = Json::parse(text);
  const auto keys = [](const Json& object) {
    Words names;
    for (const auto& item : object.items()) names.push_back(item.key());
    return names;
  };
  CHECK(keys(json) == Words{"schema", "plugin", "source", "cells", "excluded", "totals", "steps"});
  CHECK(keys(json["plugin"]) == Words{"name", "version", "path", "sha256"});
  CHECK(keys(json["source"]) == Words{"url", "commit", "subdir"});
  CHECK(keys(json["cells"][0]) == Words{"id", "python", "torch", "cuda", "platform", "arches", "gencode", "wheel",
                                        "requires_dist", "buildable", "why_not", "notes"});
  CHECK(keys(json["excluded"][0]) == Words{"id", "wheel", "reason", "source"});
  CHECK(keys(json["totals"]) ==
        Words{"cells", "steps", "unique_steps", "cpu_seconds_estimate", "peak_memory_bytes_estimate"});
  for (const auto* key :
       {"id", "kind", "argv", "inputs", "outputs", "cells", "cpu_seconds_estimate", "memory_bytes_estimate"})
    CHECK(json["steps"][0].contains(key));
  CHECK(json["totals"]["unique_steps"] == json["steps"].size());
  CHECK(json["cells"][0]["gencode"][0] == "arch=compute_80,code=sm_80");
}

TEST_CASE("without steps the JSON has none and the same totals") {
  const auto plan = plan_of(demo_spec());
  const auto with = Json::parse(plan_json(plan, true)), without = Json::parse(plan_json(plan, false));
  CHECK_FALSE(without.contains("steps"));
  CHECK(without["totals"] == with["totals"]);
}

TEST_CASE("the graph has an arrow for each dependency and for each cell of a link") {
  const auto plan = plan_of(demo_spec());
  const auto dot = plan_dot(plan);
  CHECK(dot.starts_with("digraph plan {\n"));
  CHECK(dot.ends_with("}\n"));
  const auto& link = step_of(plan, "link-_a");
  CHECK(dot.find("\"" + link.depends[0] + "\" -> \"" + link.id + "\"") != std::string::npos);
  CHECK(dot.find("\"" + link.id + "\" -> \"" + plan.cells[0].id + "\"") != std::string::npos);
}
