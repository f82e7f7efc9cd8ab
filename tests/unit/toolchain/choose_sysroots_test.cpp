#include "tools_fixture.hpp"

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
