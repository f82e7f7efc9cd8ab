#include "support/fake_toolchain/fake_machine.hpp"
#include "support/text.hpp"

#include <sagekit/shell_word.hpp>

#include <doctest/doctest.h>

using namespace sagekit;
namespace fs = std::filesystem;

TEST_CASE("an interpreter's facts come from itself") {
  const FakeMachine machine;
  const auto prefix = machine.make("python", "home/.pyenv/versions/3.12.1", {"3.12.1"});
  const auto e = machine.probe();
  REQUIRE(e.pythons.size() == 1);
  const auto& python = e.pythons[0];
  CHECK(python.ready);
  CHECK(python.version == "3.12.1");
  CHECK(python.minor == "3.12");
  CHECK(python.abi == "cp312");
  CHECK(python.soabi == "cpython-312-x86_64-linux-gnu");
  CHECK(python.found_by == "pyenv");
  CHECK(python.include_dirs == std::vector{prefix / "include/python3.12"});
  CHECK(python.identity.size() == 64);
}

TEST_CASE("pyenv's shims: one that does not start is no Python, one of an installed version is not asked") {
  const FakeMachine machine;
  machine.make("python", "home/.pyenv/versions/3.12.1", {"3.12.1"});
  fs::create_symlink("python3", machine.root() / "home/.pyenv/versions/3.12.1/bin/python3.12");
  const auto shims = machine.root() / "home/.pyenv/shims";
  machine.write(shims / "python3.12", "#!/bin/sh\necho asked >>\"$FAKE_TOOLCHAIN_LOG\"\n", true);
  machine.write(shims / "python3.8", "#!/bin/sh\necho 'pyenv: python3.8: command not found' >&2\nexit 127\n", true);
  machine.write(shims / "python3.8-config", "#!/bin/sh\n", true);
  auto options = machine.options();
  options.path = {shims};
  const auto e = machine.probe(options);
  REQUIRE(e.pythons.size() == 2);
  CHECK(e.pythons[0].ready);
  CHECK_FALSE(e.pythons[1].ready);
  CHECK(e.pythons[1].executable == shims / "python3.8");
  CHECK(e.pythons[1].why_not == "does not start: pyenv: python3.8: command not found (exit code 127)");
  CHECK(machine.starts().find("asked") == std::string::npos);
}

TEST_CASE("a shim that starts is the interpreter it starts") {
  const FakeMachine machine;
  const auto prefix = machine.make("python", "home/.pyenv/versions/3.12.1", {"3.12.1"});
  const auto shims = machine.root() / "home/.pyenv/shims";
  machine.write(shims / "python3", "#!/bin/sh\nexec '" + (prefix / "bin/python3").string() + "' \"$@\"\n", true);
  auto options = machine.options();
  options.path = {shims};
  const auto e = machine.probe(options);
  REQUIRE(e.pythons.size() == 1);
  CHECK(e.pythons[0].executable == prefix / "bin/python3");
  CHECK(e.pythons[0].found_by == "PATH");
}

TEST_CASE("the command that brings a Python is one that runs here, and nothing is started for it") {
  const FakeMachine machine;
  const auto usr = machine.make("python", "usr", {"3.11.2"});
  const auto place = [&](const char* facts) {
    auto json = read_file(usr / "bin/python3.json").value();
    json = json.substr(0, json.find(", \"managed\"")).substr(0, json.rfind('}')) + ", \"managed\": " + facts + "}";
    machine.write(usr / "bin/python3.json", json);
  };
  place("true, \"writable\": true");
  CHECK(machine.probe().python_command.empty());
  CHECK(machine.probe().packaged_pythons.empty());
  // Debian's own Python is not to be written to; an environment of it is, where it can make one.
  const auto lib = usr / "lib/python3.11";
  machine.write(lib / "site-packages/pip/__init__.py", "");
  CHECK(machine.probe().python_command.empty());
  machine.write(lib / "site-packages/ensurepip/__init__.py", "");
  const auto python = shell_word((usr / "bin/python3").string());
  CHECK(machine.probe().python_command ==
        python + " -m venv uv-env && uv-env/bin/pip install uv && uv-env/bin/uv python install {}");
  place("false, \"writable\": true");
  CHECK(machine.probe().python_command == python + " -m pip install uv && " + python + " -m uv python install {}");
  for (const auto* tool : {"pyenv", "uv"}) {
    machine.write(machine.root() / "usr/bin" / tool, "#!/bin/sh\necho asked >>\"$FAKE_TOOLCHAIN_LOG\"\n", true);
    CHECK(machine.probe().python_command.starts_with(tool));
  }
  CHECK(machine.starts().find("asked") == std::string::npos);
  for (const auto* program : {"apt-get", "python3.11", "python3.11-config"})
    machine.write(machine.root() / "usr/bin" / program, "#!/bin/sh\nexit 1\n", true);
  CHECK(machine.probe().packaged_pythons == std::vector<std::string>{"3.11"});
}

TEST_CASE("a Python without headers says how to get them") {
  const FakeMachine machine;
  machine.make("python", "usr", {"3.11.2", "no-headers"});
  machine.make("python", "home/.local/share/uv/python/cpython-3.13", {"3.13.0", "no-headers"});
  const auto e = machine.probe();
  REQUIRE(e.pythons.size() == 2);
  CHECK(e.pythons[0].version == "3.13.0");
  CHECK(e.pythons[0].found_by == "uv");
  CHECK_FALSE(e.pythons[0].ready);
  CHECK(e.pythons[0].why_not.ends_with("python3.13: uv python install 3.13 brings one with headers"));
  CHECK_FALSE(e.pythons[1].ready);
  CHECK(e.pythons[1].why_not.starts_with("no Python.h in "));
  CHECK(e.pythons[1].why_not.ends_with("apt-get install libpython3.11-dev"));
}

TEST_CASE("a distribution's forwarding pyconfig.h brings its parent folder") {
  const FakeMachine machine;
  const auto prefix = machine.make("python", "given", {"3.14.0"});
  fs::create_directories(prefix / "include/x86_64-linux-gnu/python3.14");
  auto options = machine.options();
  options.folders = {prefix};
  const auto e = machine.probe(options);
  REQUIRE(e.pythons.size() == 1);
  CHECK(e.pythons[0].source == ToolSource::folder);
  CHECK(e.pythons[0].include_dirs == std::vector{prefix / "include/python3.14", prefix / "include"});
}

TEST_CASE("a changed header is another Python") {
  const FakeMachine machine;
  const auto prefix = machine.make("python", "usr", {"3.12.1"});
  const auto before = machine.probe().pythons.at(0).identity;
  CHECK(machine.probe().pythons.at(0).identity == before);
  machine.write(prefix / "include/python3.12/pyconfig.h", "#define X 1\n");
  CHECK(machine.probe().pythons.at(0).identity != before);
}

TEST_CASE("other answers than a CPython's are refused with the reason") {
  const FakeMachine machine;
  const auto prefix = machine.make("python", "usr", {"3.10.1"});
  const auto facts = prefix / "bin/python3.json";
  const auto why_not = [&] { return machine.probe().pythons.at(0).why_not; };
  machine.write(facts, replace_all(read_file(facts).value(), "cpython\"", "pypy\""));
  CHECK(why_not() == "is pypy: wheels here are for CPython");
  machine.write(facts, "[1, 2]");
  CHECK(why_not() == "starts, but does not run Python code: [1, 2]");
  machine.write(facts, "{\"implementation\": \"cpython\", \"version\": 3, \"include\": [1, null], \"sites\": \"x\"}");
  CHECK(why_not().starts_with("no Python.h in any include folder"));
}

TEST_CASE("a virtual environment is a Python of its own beside its base") {
  const FakeMachine machine;
  const auto base = machine.make("python", "usr", {"3.12.1"});
  const auto venv = machine.root() / "venv";
  machine.write(venv / "pyvenv.cfg", "home = x\n");
  fs::create_directories(venv / "bin");
  fs::create_symlink(base / "bin/python3", venv / "bin/python3");
  fs::copy(base / "bin/prelude.sh", venv / "bin/prelude.sh");
  machine.write(venv / "bin/python3.json",
                replace_all(read_file(base / "bin/python3.json").value(), "\"prefix\": \"" + base.string(),
                            "\"prefix\": \"" + venv.string()));
  auto options = machine.options();
  options.path.insert(options.path.begin(), venv / "bin");
  CHECK(machine.probe(options).pythons.size() == 2);
}
