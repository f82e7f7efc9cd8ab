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
  const auto json = parse_json(text);
  const auto keys = [](const Json& object) {
    Words names;
    for (const auto& item : object.items()) names.push_back(item.key());
    return names;
  };
  CHECK(keys(json) == Words{"schema", "plugin", "source", "cells", "excluded", "companions", "totals", "steps"});
  CHECK(keys(json["plugin"]) == Words{"name", "version", "path", "sha256"});
  CHECK(keys(json["source"]) == Words{"url", "commit", "subdir"});
  CHECK(keys(json["cells"][0]) == Words{"id", "python", "torch", "cuda", "platform", "arches", "gencode", "wheel",
                                        "requires_dist", "buildable", "why_not", "lacks", "notes"});
  CHECK(keys(json["excluded"][0]) == Words{"id", "wheel", "reason", "source"});
  CHECK(keys(json["totals"]) ==
        Words{"cells", "steps", "unique_steps", "cpu_seconds_estimate", "peak_memory_bytes_estimate"});
  for (const auto* key :
       {"id", "kind", "argv", "inputs", "outputs", "cells", "cpu_seconds_estimate", "memory_bytes_estimate"})
    CHECK(json["steps"][0].contains(key));
  CHECK(json["totals"]["unique_steps"] == json["steps"].size());
  CHECK(json["cells"][0]["gencode"][0] == "arch=compute_80,code=sm_80");
}

TEST_CASE("the JSON says all that is missing and which packages are needed beside the wheels") {
  auto spec = demo_spec();
  spec.companions = {{"triton", "https://example.org/triton", "abc", "on 12.1", "Triton >= 3.6", "triton>=3.6", "us"}};
  const auto json = parse_json(plan_json(plan_of(spec), false));
  const auto& lacks = json["cells"][0]["lacks"];
  REQUIRE(lacks.size() == 4);
  CHECK(lacks[0]["kind"] == "nvcc");
  CHECK(lacks[0]["code"] == "TCH001");
  CHECK(lacks[0]["message"] == json["cells"][0]["why_not"]);
  CHECK(lacks[3]["kind"] == "python_headers");
  CHECK_FALSE(lacks[3]["hint"].get<std::string>().empty());
  CHECK(json["companions"] == parse_json(R"([{"name": "triton", "url": "https://example.org/triton", "commit": "abc",
    "needed": "on 12.1", "not_needed": "Triton >= 3.6", "requires_dist": "triton>=3.6", "source": "us"}])"));
  CHECK(parse_json(plan_json(plan_of(demo_spec(), {}, cuda13_machine()), false))["cells"][1]["lacks"].empty());
}

TEST_CASE("without steps the JSON has none and the same totals") {
  const auto plan = plan_of(demo_spec());
  const auto with = parse_json(plan_json(plan, true)), without = parse_json(plan_json(plan, false));
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
