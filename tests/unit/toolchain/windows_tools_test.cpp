// Which tools build modules for Windows.
#include "support/file.hpp"
#include "tools_fixture.hpp"

#include <algorithm>

using namespace sagekit;
using namespace sagekit::tools;

namespace {

HostCompiler mingw(const std::string& target) {
  auto c = compiler(CompilerKind::gcc, "12", target);
  c.executable = "/usr/bin/" + target + "-g++-posix";
  c.library_dir = "/usr/lib/gcc/" + target + "/12-posix";
  c.c_runtime = target.ends_with("ucrt") ? "UCRT" : "msvcrt";
  return c;
}

/// A machine that cross-builds for Windows, and a need of modules on the stable interfaces.
Environment windows_machine() {
  auto e = machine();
  e.host_compilers.push_back(compiler(CompilerKind::clang, "19.1.7", "x86_64-pc-linux-gnu"));
  e.host_compilers.push_back(mingw("x86_64-w64-mingw32"));
  e.torches.push_back(torch("2.11.0", "13.0", "win_amd64"));
  return e;
}

ToolchainNeed windows_need() {
  auto n = need();
  n.cuda = "13.0";
  n.torch = "2.11.0";
  n.platform = "win_amd64";
  n.stable = n.limited_api = true;
  return n;
}

}  // namespace

TEST_CASE("modules on the stable interfaces are cross-built for Windows by clang, mingw and nvcc beside g++") {
  const auto t = choose_toolchain(windows_need(), windows_machine());
  REQUIRE_MESSAGE(t, (t ? "" : t.error().message));
  CHECK(t->host_compiler.kind == CompilerKind::clang);
  CHECK(t->mingw.target == "x86_64-w64-mingw32");
  CHECK(t->device_compiler.kind == CompilerKind::gcc);
  CHECK(t->device_compiler.target == "x86_64-linux-gnu");
  CHECK(t->torch.platform == "win_amd64");
  CHECK(t->python.source == ToolSource::derived);  // this machine's headers, another pyconfig.h
  CHECK(t->python.executable.empty());
}

TEST_CASE("a mingw for the Universal CRT is preferred, and none is taken for Linux") {
  auto e = windows_machine();
  e.host_compilers.push_back(mingw("x86_64-w64-mingw32ucrt"));
  const auto t = choose_toolchain(windows_need(), e);
  REQUIRE(t);
  CHECK(t->mingw.target == "x86_64-w64-mingw32ucrt");
  e.host_compilers = {mingw("x86_64-w64-mingw32")};
  CHECK(refusal(need(), e).code == "TCH003");
  CHECK(accepts(e.nvcc.front(), compiler(CompilerKind::gcc, "12", "x86_64-linux-gnu")));
  CHECK_FALSE(accepts(e.nvcc.front(), mingw("x86_64-w64-mingw32")));
}

TEST_CASE("Microsoft's headers are used where they are given, with lld beside clang, and never given up unsaid") {
  auto folder = TemporaryFolder::create("/tmp", "sagekit clang");
  REQUIRE(folder);
  auto e = windows_machine();
  auto& clang = *std::ranges::find(e.host_compilers, CompilerKind::clang, &HostCompiler::kind);
  clang.executable = folder->path() / "clang++";
  REQUIRE(write_file_atomic(clang.executable, ""));
  HostCompiler microsoft = compiler(CompilerKind::msvc, "14.44.35207", "x86_64-pc-windows-msvc");
  microsoft.executable = "/opt/splat";
  microsoft.library_dir = "/opt/splat/VC/Tools/MSVC/14.44.35207/lib/x64";
  microsoft.source = ToolSource::folder;
  e.host_compilers.push_back(microsoft);
  const auto lacking = refusal(windows_need(), e);
  CHECK(lacking.code == "TCH003");
  CHECK(lacking.message.find("no lld-link beside clang++") != std::string::npos);
  CHECK(lacking.hint == "apt-get install lld-19");

  REQUIRE(write_file_atomic(folder->path() / "lld-link", ""));
  const auto t = choose_toolchain(windows_need(), e);
  REQUIRE_MESSAGE(t, (t ? "" : t.error().message));
  CHECK(t->mingw.kind == CompilerKind::msvc);
  CHECK(t->windows_linker.filename() == "lld-link");
  CHECK(choose_toolchain(need(), e)->host_compiler.kind == CompilerKind::gcc);

  e.host_compilers.back().ready = false;
  e.host_compilers.back().why_not = "kernel32.lib is missing";
  const auto refused = refusal(windows_need(), e);
  CHECK(refused.code == "TCH008");
  CHECK(refused.message.find("/opt/splat cannot be used: kernel32.lib is missing") != std::string::npos);
}

TEST_CASE("what is missing for Windows is named at once, with one line that brings it") {
  auto e = windows_machine();
  std::erase_if(e.host_compilers,
                [](const auto& c) { return c.kind == CompilerKind::clang || !c.library_dir.empty(); });
  e.host_compilers.push_back(compiler(CompilerKind::clang, "14.0.6", "x86_64-pc-linux-gnu"));
  const auto error = refusal(windows_need(), e);
  CHECK(error.code == "TCH003");
  CHECK(error.message.find("no clang++ 19 or newer and no mingw-w64") != std::string::npos);
  CHECK(error.hint == "apt-get install clang-19 g++-mingw-w64-x86-64-posix");
}

TEST_CASE("Windows wheels are cross-built on x86_64 alone") {
  auto e = windows_machine();
  e.platform = "linux_aarch64";
  const auto error = refusal(windows_need(), e);
  CHECK(error.code == "TCH006");
  CHECK(error.message.find("linux_x86_64") != std::string::npos);
}
