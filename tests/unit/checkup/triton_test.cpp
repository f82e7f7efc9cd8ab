#include "fake_machine.hpp"

using namespace sagekit;

TEST_CASE("the Triton that is advised is the one that torch pins") {
  FakeMachine machine;
  machine.torch("'12.8'");
  machine.write("torch-2.9.1.dist-info/METADATA",
                "Name: torch\nRequires-Dist: triton==3.5.1; platform_system == \"Linux\"\n");
  const auto distribution = [&](const char* name, const char* version, const std::string& info) {
    machine.python.replace(machine.python.find("\"distributions\":["), 17,
                           std::string(R"("distributions":[{"name":")") + name + R"(","version":")" + version +
                               R"(","place":"/v/lib","info":")" + info +
                               (machine.python.find("\"distributions\":[]") == std::string::npos ? "\"}," : "\"}"));
  };
  distribution("torch", "2.9.1", (machine.folder.path() / "torch-2.9.1.dist-info").string());
  const auto mend = [&](const char* about, CheckupState state) {
    const auto checkup = machine.look();
    const auto* row = row_of(checkup, about, state);
    REQUIRE(row);
    return row->mend;
  };
  CHECK(mend("triton", CheckupState::warning) == "/v/bin/python -m pip install triton==3.5.1");
  machine.python.replace(machine.python.find("\"modules\":["), 11,
                         R"("modules":[{"name":"triton","folder":")" + (machine.folder.path() / "triton").string() +
                             R"(","bare":false},)");
  distribution("triton", "3.5.1", "");
  CHECK(mend("ptxas", CheckupState::wrong) == "/v/bin/python -m pip install --force-reinstall triton==3.5.1");
  // torch's own that is too old for the GPU: only a newer torch has a newer one.
  machine.write("triton/backends/nvidia/bin/ptxas", "", true);
  machine.ptxas = "Cuda compilation tools, release 11.0, V11.0.1\n";
  CHECK(mend("ptxas", CheckupState::wrong) == "/v/bin/python -m pip install --force-reinstall torch");
  // From 2.14 on it asks for a range.
  machine.write("torch-2.9.1.dist-info/METADATA",
                "Name: torch\nRequires-Dist: triton~=3.8.0; python_version < '3.15'\n");
  CHECK(mend("triton", CheckupState::warning) == "/v/bin/python -m pip install triton~=3.8.0");
  machine.python.replace(machine.python.find("3.5.1"), 5, "3.8.4");
  CHECK(row_of(machine.look(), "triton", CheckupState::good));
}
