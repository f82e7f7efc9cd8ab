// What the plugins of this repository plan, byte for byte: every profile, and the steps of one cell each. The files are
// read by people who review a change of a plugin; accept a meant change with SAGEKIT_ACCEPT=1.

#include "support/golden.hpp"

#include "fixture.hpp"

#include <fstream>
#include <iterator>

using namespace sagekit;
using namespace sagekit::test;

namespace {

Spec plugin_spec(const std::string& name) {
  const auto path = std::string(SAGEKIT_SOURCE_DIR) + "/plugins/" + name + "/plugin.toml";
  std::ifstream file(path);
  REQUIRE_MESSAGE(static_cast<bool>(file), path);
  return spec_of(std::string{std::istreambuf_iterator<char>(file), {}});
}

void check_plugin(const std::string& name) {
  const auto spec = plugin_spec(name);
  for (const auto& profile : spec.profiles) {
    CAPTURE(profile.name);
    Request request;
    request.profile = profile.name;
    request.with_steps = false;
    check_golden("plan/" + name + "/" + profile.name + ".json",
                 plan_json(plan_of(spec, request, cuda13_machine()), false));
    if (profile.name == "default")
      check_golden("plan/" + name + "/default-on-a-bare-machine.json", plan_json(plan_of(spec, request), false));
  }
}

void check_steps(const std::string& name, const Request& request) {
  const auto plan = plan_of(plugin_spec(name), request, cuda13_machine());
  REQUIRE(plan.cells.size() == 1);
  check_golden("plan/" + name + "/steps.json", plan_json(plan, true));
}

}  // namespace

TEST_CASE("golden plans of sage2") {
  check_plugin("sage2");
  Request request;
  request.profile = "current";
  request.torches = {"2.11"};
  request.cudas = {"13.0"};
  request.pythons = {"3.12"};
  check_steps("sage2", request);
}

TEST_CASE("golden plans of sage3") {
  check_plugin("sage3");
  Request request;
  request.profile = "current";
  request.torches = {"2.11"};
  request.cudas = {"13.0"};
  request.pythons = {"3.12"};
  check_steps("sage3", request);
}

TEST_CASE("golden plans of sm121") {
  check_plugin("sm121");
  Request request;
  request.torches = {"2.11"};
  request.cudas = {"13.0"};
  request.pythons = {"3.12"};
  check_steps("sm121", request);
}
