#include "tools_fixture.hpp"

#include <sagekit/provision.hpp>

using namespace sagekit;
using namespace sagekit::tools;

TEST_CASE("of the ways to a Python that one comes first that runs here") {
  auto e = machine();
  auto n = need();
  n.python = "3.9";
  const std::string given = "give its headers with --python-headers DIR";
  CHECK(refusal(n, e).hint ==
        "uv python install 3.9, or apt-get install libpython3.9-dev where the distribution has it, or " + given);
  e.python_command = "/p/python3 -m pip install uv && /p/python3 -m uv python install {}";
  CHECK(refusal(n, e).hint.starts_with(
      "/p/python3 -m pip install uv && /p/python3 -m uv python install 3.9, or apt-get"));
  e.packaged_pythons = {"3.9"};
  CHECK(refusal(n, e).hint ==
        "apt-get install libpython3.9-dev, or /p/python3 -m pip install uv && /p/python3 -m uv "
        "python install 3.9, or " +
            given);
}

TEST_CASE("a torch that the usual index is known to have for another CUDA does not come from there") {
  auto e = machine();
  e.nvcc.push_back(nvcc("13.2.51"));
  auto n = need();
  n.cuda = "13.2";
  n.torch = "2.12.1";
  auto error = refusal(n, e);
  CHECK(error.code == "TCH005");
  CHECK(error.hint.find("where the package index has it") != std::string::npos);
  e.usual_index = true;
  error = refusal(n, e);
  CHECK(error.message.ends_with("; the package index has that torch for CUDA 13.0"));
  CHECK(
      error.hint.starts_with("sagekit toolchain fetch --torch 2.12.1 --cuda 13.2 --extra-index-url "
                             "https://download.pytorch.org/whl/cu132 brings it"));
  n.torch = "2.15.0";
  CHECK(refusal(n, e).hint.find("where the package index has it") != std::string::npos);
  n.torch = "2.99.0";
  CHECK(refusal(n, e).hint.find("where the package index has it") != std::string::npos);
}

TEST_CASE("what the usual index is known to lack cannot be fetched from it") {
  ToolchainOptions options;
  const TreeNeed elsewhere{TreeKind::torch, "13.2", "2.12.1", "linux_x86_64"};
  const TreeNeed there{TreeKind::torch, "13.0", "2.12.1", "linux_x86_64"};
  const TreeNeed windows{TreeKind::torch, "13.2", "2.12.1", "win_amd64"};  // any build does
  for (const auto& need : {elsewhere, there, windows}) CHECK(can_fetch(need, options));
  options.provision.usual_index = true;
  CHECK_FALSE(can_fetch(elsewhere, options));
  CHECK(can_fetch(there, options));
  CHECK(can_fetch(windows, options));
}

TEST_CASE("a fetched torch that is damaged is removed, not fetched beside it") {
  auto e = machine();
  auto n = need();
  n.cuda = "13.0";
  n.torch = "2.10.0";
  auto damaged = torch("2.10.0", "13.0");
  damaged.root = "/store/torch-2.10.0-cu130-linux_x86_64-0123456789ab/torch";
  damaged.source = ToolSource::wheels;
  damaged.ready = false;
  damaged.why_not = "torch/include/c10 is missing";
  e.torches.push_back(damaged);
  auto error = refusal(n, e);
  CHECK(error.code == "TCH008");
  CHECK(error.message.ends_with("cannot be used: torch/include/c10 is missing"));
  CHECK(error.hint ==
        "sagekit toolchain remove torch-2.10.0-cu130-linux_x86_64-0123456789ab; then sagekit toolchain "
        "fetch --torch 2.10.0 --cuda 13.0 brings it anew");
  // One for another CUDA is none of it.
  e.torches.back().root = "/store/torch-2.10.0-cu128-linux_x86_64-0123456789ab/torch";
  CHECK(refusal(n, e).code == "TCH005");
}
