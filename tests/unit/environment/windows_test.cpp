// What is found on a machine for building modules for Windows.
#include "environment/microsoft.hpp"
#include "support/fake_toolchain/fake_machine.hpp"
#include "support/format.hpp"

using namespace sagekit;
namespace fs = std::filesystem;

namespace {

/// `crt`: the lines of its _mingw.h.
void make_mingw(const FakeMachine& machine, const std::string& target, const std::string& crt) {
  const auto usr = machine.root() / "usr", libraries = usr / "lib/gcc" / target / "12";
  machine.write(libraries / "include/c++/utility", "");
  machine.write(usr / target / "include/_mingw.h", crt);
  machine.write(usr / "bin" / (target + "-g++-posix"),
                fmt::format("#!/bin/sh\ncase $1 in\n-v) echo 'Target: {}' && echo 'gcc version 12.2.0 (x)' ;;\n"
                            "*) echo '{}' ;;\nesac\n",
                            target, (libraries / "libgcc.a").string()),
                true);
}

/// As clang-cl's /winsysroot; what is in the files is nobody's but this test's.
fs::path make_microsoft(const FakeMachine& machine, const std::string& tools = "14.44.35207") {
  const auto root = machine.root() / "splat", vc = root / "VC/Tools/MSVC" / tools, kit = root / "Windows Kits/10";
  machine.write(vc / "include/vcruntime.h", "// " + tools);
  machine.write(vc / "lib/x64/msvcrt.lib", "!<arch>\n");
  const std::string sdk = "10.0.26100.0";
  for (const auto* header : {"ucrt/stdlib.h", "shared/sdkddkver.h", "um/windows.h"})
    machine.write(kit / "Include" / sdk / header, "");
  for (const auto* library : {"ucrt/x64/ucrt.lib", "um/x64/kernel32.lib"})
    machine.write(kit / "Lib" / sdk / library, "");
  return root;
}

const HostCompiler* of_kind(const Environment& environment, CompilerKind kind) {
  const auto found = std::ranges::find(environment.host_compilers, kind, &HostCompiler::kind);
  return found == environment.host_compilers.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("the C library of a mingw is that of its headers, whatever it is called") {
  constexpr auto k_msvcrt = "# define __MSVCRT_VERSION__ 0xE00\n# else\n#  define __MSVCRT_VERSION__ 0x700\n";
  constexpr auto k_ucrt = "# define __MSVCRT_VERSION__ 0x00\n# else\n#  define __MSVCRT_VERSION__ 0xE00\n";
  for (const auto& [header, runtime] :
       {std::pair(k_msvcrt, "msvcrt"), std::pair(k_ucrt, "UCRT"), std::pair("// says nothing", "")}) {
    const FakeMachine machine;
    make_mingw(machine, "x86_64-w64-mingw32", header);
    const auto found = machine.probe();
    REQUIRE(found.host_compilers.size() == 1);
    CHECK(found.host_compilers[0].ready);
    CHECK(found.host_compilers[0].c_runtime == runtime);
  }
  const FakeMachine machine;
  make_mingw(machine, "x86_64-w64-mingw32ucrt", "// says nothing");
  CHECK(machine.probe().host_compilers.at(0).c_runtime == "UCRT");
}

TEST_CASE("a folder with Microsoft's headers and libraries is known by its layout") {
  const FakeMachine machine;
  const auto root = make_microsoft(machine, "14.39.33519");
  make_microsoft(machine);
  auto options = machine.options();
  options.folders = {root};
  const auto environment = machine.probe(options);
  const auto* microsoft = of_kind(environment, CompilerKind::msvc);
  REQUIRE(microsoft != nullptr);
  CHECK_MESSAGE(microsoft->ready, microsoft->why_not);
  CHECK(microsoft->version == "14.44.35207");
  CHECK(microsoft->target == "x86_64-pc-windows-msvc");
  CHECK(microsoft->c_runtime == "UCRT");
  CHECK(environment.notes.empty());
  CHECK(toolchains_json(environment).find(root.string()) != std::string::npos);
  const auto folders = microsoft_folders(root);
  REQUIRE(folders);
  CHECK(folders->sdk == "10.0.26100.0");
  REQUIRE(folders->includes.size() == 4);
  CHECK(folders->includes[0] == root / "VC/Tools/MSVC/14.44.35207/include");
  CHECK(folders->includes[1] == root / "Windows Kits/10/Include/10.0.26100.0/ucrt");
  CHECK(folders->libraries[2] == root / "Windows Kits/10/Lib/10.0.26100.0/um/x64");
}

TEST_CASE("a folder of Microsoft's that lacks something says what") {
  const FakeMachine machine;
  const auto root = make_microsoft(machine);
  const auto library = root / "Windows Kits/10/Lib/10.0.26100.0/um/x64/kernel32.lib";
  fs::rename(library, library.parent_path() / "kernel32.Lib");
  auto options = machine.options();
  options.folders = {root};
  const auto environment = machine.probe(options);
  const auto* microsoft = of_kind(environment, CompilerKind::msvc);
  REQUIRE(microsoft != nullptr);
  CHECK_FALSE(microsoft->ready);
  CHECK(microsoft->why_not.find("kernel32.lib is missing") != std::string::npos);
  fs::remove_all(root / "Windows Kits/10/Include/10.0.26100.0");
  CHECK(machine.probe(options).host_compilers.at(0).why_not.find("no version folder below Windows Kits/10/Include") !=
        std::string::npos);
}
