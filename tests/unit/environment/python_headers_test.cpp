#include "support/fake_toolchain/fake_machine.hpp"

#include <doctest/doctest.h>

using namespace sagekit;
namespace fs = std::filesystem;

namespace {

Environment given(const FakeMachine& machine, const fs::path& folder) {
  auto options = machine.options();
  options.python_headers = {folder};
  return machine.probe(options);
}

}  // namespace

TEST_CASE("headers without an interpreter are a Python for the CPU that their pyconfig.h is for") {
  const FakeMachine machine;
  const auto prefix = machine.make("headers", "given", {"3.13.1", "aarch64"});
  for (const auto& folder : {prefix, prefix / "include", prefix / "include/python3.13"}) {
    CAPTURE(folder);
    const auto e = given(machine, folder);
    REQUIRE(e.pythons.size() == 1);
    const auto& python = e.pythons[0];
    CHECK(python.ready);
    CHECK(python.executable.empty());
    CHECK(python.version == "3.13.1");
    CHECK(python.minor == "3.13");
    CHECK(python.abi == "cp313");
    CHECK(python.soabi == "cpython-313-aarch64-linux-gnu");
    CHECK(python.include_dirs == std::vector{prefix / "include/python3.13"});
    CHECK(python.source == ToolSource::folder);
    CHECK(python.found_by == "--python-headers");
    CHECK(python.identity.size() == 64);
  }
  const auto own = machine.make("headers", "own", {"3.13.1", "x86_64"});
  CHECK(given(machine, own).pythons.at(0).soabi == "cpython-313-x86_64-linux-gnu");
}

TEST_CASE("headers are the same Python whether an interpreter or a folder told of them") {
  // A container is given the headers that this machine's interpreter has: objects and records are to be the same.
  const FakeMachine machine;
  const auto headers = machine.make("python", "usr", {"3.12.1"}) / "include/python3.12";
  machine.write(headers / "patchlevel.h", "#define PY_VERSION \"3.12.1\"\n");
  machine.write(headers / "pyconfig.h", "#define SIZEOF_VOID_P 8\n#define HAVE_GCC_ASM_FOR_X64 1\n");
  const auto found = given(machine, headers).pythons;
  REQUIRE(found.size() == 2);
  REQUIRE(found[0].ready);
  REQUIRE(found[1].ready);
  CHECK(found[0].executable.empty() != found[1].executable.empty());
  CHECK(found[0].identity == found[1].identity);
}

TEST_CASE("the contents of a Debian package are headers for each CPU that is in it") {
  const FakeMachine machine;
  const auto root = machine.make("headers", "deb/usr", {"3.11.2", "aarch64", "debian"}).parent_path();
  auto e = given(machine, root);
  REQUIRE(e.pythons.size() == 1);
  CHECK(e.pythons[0].soabi == "cpython-311-aarch64-linux-gnu");
  CHECK(e.pythons[0].include_dirs == std::vector{root / "usr/include/python3.11", root / "usr/include"});
  const auto identity = e.pythons[0].identity;

  machine.make("headers", "deb/usr", {"3.11.2", "x86_64", "debian"});
  e = given(machine, root);
  REQUIRE(e.pythons.size() == 2);
  CHECK(e.pythons[0].soabi == "cpython-311-x86_64-linux-gnu");
  CHECK(e.pythons[1].identity == identity);
  CHECK(e.pythons[0].identity != identity);
  const auto list = toolchains_json(e);
  CHECK(list.find("\"platform\": \"linux_aarch64\"") != std::string::npos);
  CHECK(list.find((root / "usr/include/python3.11").string()) != std::string::npos);

  fs::remove_all(root / "usr/include/aarch64-linux-gnu");
  fs::remove_all(root / "usr/include/x86_64-linux-gnu");
  e = given(machine, root);
  REQUIRE(e.pythons.size() == 1);
  CHECK(e.pythons[0].why_not == "its pyconfig.h leads to another folder, which is missing beside it");
}

TEST_CASE("free-threaded headers say so") {
  const FakeMachine machine;
  const auto prefix = machine.make("headers", "given", {"3.14.0", "aarch64"});
  const auto pyconfig = prefix / "include/python3.14/pyconfig.h";
  machine.write(pyconfig, *read_file(pyconfig) + "#define Py_GIL_DISABLED 1\n");
  const auto python = given(machine, prefix).pythons.at(0);
  CHECK(python.abi == "cp314t");
  CHECK(python.soabi == "cpython-314t-aarch64-linux-gnu");
}

TEST_CASE("a given place without usable headers is shown with the reason and never ready") {
  const FakeMachine machine;
  const auto why_not = [&](const fs::path& folder) {
    const auto e = given(machine, folder);
    REQUIRE(e.pythons.size() == 1);
    CHECK_FALSE(e.pythons[0].ready);
    CHECK(e.pythons[0].source == ToolSource::folder);
    return e.pythons[0].why_not;
  };
  CHECK(why_not(machine.root() / "usr").starts_with("no Python.h in it"));
  CHECK(why_not(machine.root() / "nowhere") == "it is not a folder");
  machine.write(machine.root() / "x.deb", "!<arch>\n");
  CHECK(why_not(machine.root() / "x.deb").find("dpkg-deb -x FILE DIR") != std::string::npos);

  const auto prefix = machine.make("headers", "given", {"3.13.1", "aarch64"});
  const auto headers = prefix / "include/python3.13";
  machine.write(headers / "patchlevel.h", "#define PY_MAJOR_VERSION 3\n");
  CHECK(why_not(prefix) == "patchlevel.h in it says no PY_VERSION");
  machine.write(headers / "pyconfig.h", "#define SIZEOF_VOID_P 4\n#define HAVE_GCC_ASM_FOR_X64 1\n");
  CHECK(why_not(prefix) == "its pyconfig.h is for neither 64-bit x86 nor 64-bit Arm Linux");
  fs::remove(headers / "pyconfig.h");
  CHECK(why_not(prefix) == "no pyconfig.h in it");
}
