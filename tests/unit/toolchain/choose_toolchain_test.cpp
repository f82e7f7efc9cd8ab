#include "tools_fixture.hpp"

using namespace sagekit;
using namespace sagekit::tools;

TEST_CASE("each part is the newest that fits") {
  const auto t = choose_toolchain(need(), machine());
  REQUIRE(t);
  CHECK(t->nvcc.version == "12.8.93");
  CHECK(t->host_compiler.kind == CompilerKind::gcc);
  CHECK(t->host_compiler.version == "13.2.0");
  CHECK(t->python.version == "3.12.9");
  CHECK(t->torch.cuda == "12.8");
}

TEST_CASE("a given folder comes before what is installed, though older") {
  auto e = machine();
  e.nvcc[2].source = ToolSource::folder;
  e.pythons[2].source = ToolSource::folder;
  const auto t = choose_toolchain(need(), e);
  REQUIRE(t);
  CHECK(t->nvcc.version == "12.8.61");
  CHECK(t->python.version == "3.12.1");
}

TEST_CASE("what a cell does not need stays empty") {
  ToolchainNeed n;
  n.platform = "linux_x86_64";
  const auto t = choose_toolchain(n, machine());
  REQUIRE(t);
  CHECK(t->nvcc.version.empty());
  CHECK(t->python.version.empty());
  CHECK(t->torch.version.empty());
  CHECK(t->host_compiler.version == "15.1.0");  // no nvcc sets a limit
}

TEST_CASE("a missing nvcc is named beside those that are here") {
  auto e = machine();
  auto n = need();
  n.cuda = "12.9";
  e.nvcc[1].ready = false;
  e.nvcc[1].why_not = "cicc is missing";
  const auto error = refusal(n, e);
  CHECK(error.code == "TCH001");
  CHECK(error.message ==
        "no nvcc 12.9 on this machine; there is 13.0 (/cuda-13.0.88/bin/nvcc), 12.8 (/cuda-12.8.61/bin/nvcc); "
        "12.8 (/cuda-12.8.93/bin/nvcc) cannot be used: cicc is missing");
  e.nvcc.clear();
  CHECK(refusal(n, e).message == "no nvcc 12.9 on this machine; there is none at all");
}

TEST_CASE("a fetched nvcc that cannot be used is no lack that a fetch mends") {
  auto e = machine();
  auto n = need();
  n.cuda = "12.9";
  auto broken = nvcc("12.9.86");
  broken.executable = "/store/nvcc-12.9.86-linux_x86_64-1f2e3d4c5b6a/bin/nvcc";
  broken.source = ToolSource::wheels;
  broken.ready = false;
  broken.why_not = "cudafe++ is missing beside nvcc: the tree is incomplete";
  SUBCASE("it says its release") {}
  SUBCASE("its folder does") { broken.cuda.clear(); }
  e.nvcc.push_back(broken);
  const auto error = refusal(n, e);
  CHECK(error.code == "TCH008");
  CHECK(error.message ==
        "nvcc 12.9 is here (/store/nvcc-12.9.86-linux_x86_64-1f2e3d4c5b6a/bin/nvcc) and cannot be used: cudafe++ is "
        "missing beside nvcc: the tree is incomplete");
  CHECK(error.hint ==
        "sagekit toolchain remove nvcc-12.9.86-linux_x86_64-1f2e3d4c5b6a; then sagekit toolchain fetch --cuda 12.9 "
        "brings it anew");
  n.cuda = "12.7";
  CHECK(refusal(n, e).code == "TCH001");
}

TEST_CASE("where the machine stops every nvcc its cure is said, whatever brought the nvcc") {
  auto e = machine();
  for (auto& n : e.nvcc) {
    n.ready = false;
    n.mend = "unset TMPDIR";
  }
  CHECK(refusal(need(), e).code == "TCH008");
  CHECK(refusal(need(), e).hint == "unset TMPDIR");
}

TEST_CASE("an nvcc too old for an arch says since when it is known") {
  auto n = need();
  n.gencode.push_back({{{12, 1}, ArchSuffix::a}, {{12, 1}, ArchSuffix::a}});
  auto e = machine();
  e.nvcc = {nvcc("12.8.93", {{{9, 0}}, {{12, 0}}})};
  const auto error = refusal(n, e);
  CHECK(error.code == "TCH002");
  CHECK(error.message == "nvcc 12.8.93 (/cuda-12.8.93/bin/nvcc) cannot compile for 12.1a; it knows 9.0 12.0");
  CHECK(error.hint == "12.1a needs nvcc 12.9 or newer; or leave it out of --arch");
}

TEST_CASE("an arch that is listed may still be too new with its suffix") {
  auto n = need();
  n.gencode = {{{{12, 0}, ArchSuffix::f}, {{12, 0}, ArchSuffix::f}}};
  CHECK(refusal(n, machine()).code == "TCH002");
  n.cuda = "13.0";
  n.torch = "2.11.0";
  CHECK(choose_toolchain(n, machine()));
}

TEST_CASE("clang is taken when no gcc is accepted, and none is an error with the limits") {
  auto e = machine();
  std::erase_if(e.host_compilers,
                [](const HostCompiler& c) { return c.kind == CompilerKind::gcc && c.version != "15.1.0"; });
  CHECK(choose_toolchain(need(), e)->host_compiler.kind == CompilerKind::clang);
  e.host_compilers.erase(e.host_compilers.begin());
  e.host_compilers.push_back(compiler(CompilerKind::clang, "20.1.0"));
  const auto error = refusal(need(), e);
  CHECK(error.code == "TCH003");
  CHECK(error.message ==
        "no C++ compiler for linux_x86_64 that nvcc 12.8 accepts (gcc up to 14, clang before 20); there is gcc "
        "15.1.0 for x86_64-linux-gnu, clang 20.1.0 for x86_64-linux-gnu");
  CHECK(error.hint == "apt-get install g++-14  # or an older one");
  e.host_compilers.clear();
  CHECK(refusal(need(), e).hint == "apt-get install g++");
}

TEST_CASE("aarch64 wheels need the cross compiler, headers and a torch for that CPU") {
  auto e = machine();
  auto n = need();
  n.platform = "linux_aarch64";
  auto error = refusal(n, e);
  CHECK(error.code == "TCH003");
  CHECK(error.hint == "apt-get install g++-aarch64-linux-gnu");
  e.host_compilers.push_back(compiler(CompilerKind::gcc, "12.2.0", "aarch64-linux-gnu"));
  error = refusal(n, e);
  CHECK(error.code == "TCH005");
  CHECK(error.hint.starts_with("sagekit toolchain fetch --torch 2.8.0 --cuda 12.8 --platform linux_aarch64 brings it"));
  n.python = "3.9";
  CHECK(refusal(n, e).code == "TCH004");
  n.python = "3.12";
  e.pythons.push_back(python("3.12.3", "cp312", "aarch64"));
  e.torches.push_back(torch("2.8.0", "12.8", "linux_aarch64"));
  const auto t = choose_toolchain(n, e);
  REQUIRE(t);
  CHECK(t->host_compiler.target == "aarch64-linux-gnu");
  CHECK(t->python.version == "3.12.3");
  CHECK(t->torch.platform == "linux_aarch64");
}

TEST_CASE("this machine's own headers serve for another CPU when none for it are here") {
  auto e = machine();
  e.host_compilers.push_back(compiler(CompilerKind::gcc, "12.2.0", "aarch64-linux-gnu"));
  e.torches.push_back(torch("2.8.0", "12.8", "linux_aarch64"));
  for (auto& p : e.pythons) p.identity = "identity of " + p.version;
  auto n = need();
  n.platform = "linux_aarch64";
  const auto t = choose_toolchain(n, e);
  REQUIRE(t);
  CHECK(t->python.version == "3.12.9");
  CHECK(t->python.source == ToolSource::derived);
  CHECK(t->python.executable.empty());
  CHECK(t->python.soabi == "cpython-312-aarch64-linux-gnu");
  CHECK(t->python.include_dirs == e.pythons[3].include_dirs);
  CHECK(t->python.identity != e.pythons[3].identity);
  n.python = "3.13t";
  CHECK(choose_toolchain(n, e)->python.soabi == "cpython-313t-aarch64-linux-gnu");
}

TEST_CASE("sources rank: given folders, the machine's own, then what was provisioned; the newest inside a rank") {
  auto e = machine();
  e.nvcc[1].source = ToolSource::wheels;  // 12.8.93
  CHECK(choose_toolchain(need(), e)->nvcc.version == "12.8.61");
  e.nvcc[2].source = ToolSource::redist;
  CHECK(choose_toolchain(need(), e)->nvcc.version == "12.8.93");
  e.nvcc[2].source = ToolSource::folder;
  CHECK(choose_toolchain(need(), e)->nvcc.version == "12.8.61");
}

TEST_CASE("what was given and cannot be used is not quietly replaced") {
  auto e = machine();
  e.torches[1].ready = false;
  e.torches[1].source = ToolSource::folder;
  e.torches[1].why_not = "no lib/libc10.so";
  auto installed = torch("2.8.0", "12.8");
  installed.root = "/installed";
  e.torches.push_back(installed);
  auto error = refusal(need(), e);
  CHECK(error.code == "TCH008");
  CHECK(error.message == "the given torch /torch-2.8.0-12.8-linux_x86_64 cannot be used: no lib/libc10.so");
  e.torches[1].platform = "linux_aarch64";  // not the one that is asked for
  CHECK(choose_toolchain(need(), e)->torch.root == "/installed");

  Python headers;
  headers.include_dirs = {"/given"};
  headers.source = ToolSource::folder;
  headers.why_not = "no Python.h in it";
  e.pythons.push_back(headers);
  error = refusal(need(), e);
  CHECK(error.code == "TCH008");
  CHECK(error.message == "the given Python /given cannot be used: no Python.h in it");
  e.pythons.back().abi = "cp314";
  CHECK(choose_toolchain(need(), e));
}

TEST_CASE("a module with the CUDA runtime linked in needs that library for the other CPU") {
  auto e = machine();
  e.host_compilers.push_back(compiler(CompilerKind::gcc, "12.2.0", "aarch64-linux-gnu"));
  auto n = need();
  n.torch.clear();
  n.static_runtime = true;
  CHECK(choose_toolchain(n, e));
  n.platform = "linux_aarch64";
  const auto error = refusal(n, e);
  CHECK(error.code == "TCH007");
  CHECK(error.message.starts_with("no libcudart_static.a for linux_aarch64 in CUDA 12.8"));
  const auto hint = [&](const char* include_dir, ToolSource source) {
    for (auto& nvcc : e.nvcc) {
      nvcc.root = "/cuda";
      nvcc.include_dir = include_dir;
      nvcc.source = source;
    }
    return refusal(n, e).hint;
  };
  const std::string own = ", link /cuda/include and /cuda/lib into /cuda/targets/x86_64-linux";
  const std::string put = "put lib/libcudart*.* of CUDA 12.8 for linux_aarch64 into /cuda/targets/sbsa-linux/lib";
  CHECK(hint("/cuda/targets/x86_64-linux/include", ToolSource::system) == put);
  CHECK(hint("/cuda/include", ToolSource::system) == put + own);
  const auto fetched = hint("/cuda/include", ToolSource::wheels);
  CHECK(fetched.starts_with("copy /cuda to a folder DIR, put lib/libcudart*.*"));
  CHECK(
      fetched.ends_with("link DIR/include and DIR/lib into DIR/targets/x86_64-linux, and give it with --toolchain "
                        "folder:DIR"));
  const auto all = std::exchange(e.nvcc, {});
  CHECK(refusal(n, e).code == "TCH007");  // what a fetch brings lacks it too
  e.nvcc = all;
  for (auto& nvcc : e.nvcc) nvcc.cross_library_dir = "/cuda/targets/sbsa-linux/lib";
  CHECK(choose_toolchain(n, e));
}

TEST_CASE("a missing nvcc that can be fetched says so") {
  auto e = machine();
  e.nvcc.clear();
  auto n = need();
  CHECK(refusal(n, e).hint.starts_with("sagekit toolchain fetch --cuda 12.8 brings it, or install CUDA toolkit 12.8"));
  n.cuda = "13.4";
  CHECK(refusal(n, e).hint.starts_with("sagekit toolchain fetch --cuda 13.4 brings it"));
  n.cuda = "12.6";
  CHECK(refusal(n, e).hint.starts_with("install CUDA toolkit 12.6, or give"));
}

TEST_CASE("a Python without headers is no Python to build for") {
  auto e = machine();
  std::erase_if(e.pythons, [](const Python& p) { return p.version == "3.12.9"; });
  e.pythons[2].ready = false;
  e.pythons[2].why_not = "no Python.h in /x";
  const auto error = refusal(need(), e);
  CHECK(error.code == "TCH004");
  CHECK(error.message ==
        "no Python 3.12 with headers for linux_x86_64; there is 3.13.0 (/py/3.13.0/bin/python3), 3.13.1 free-threaded "
        "(/py/3.13.1/bin/python3); 3.12.1 (/py/3.12.1/bin/python3) cannot be used: no Python.h in /x");
}

TEST_CASE("of many Pythons the first few are named") {
  auto e = machine();
  auto one = e.pythons.front();
  e.pythons.clear();
  for (const char* version : {"3.13.0", "3.13.1", "3.13.2", "3.13.3", "3.13.4", "3.13.5"}) {
    one.version = version;
    e.pythons.push_back(one);
  }
  const auto message = refusal(need(), e).message;
  CHECK(message.find("3.13.2 (") != std::string::npos);
  CHECK(message.ends_with(" and 3 more"));
  CHECK(message.find("3.13.3") == std::string::npos);
}

TEST_CASE("the free-threaded build of a Python is another Python") {
  auto n = need();
  n.python = "3.13t";
  CHECK(choose_toolchain(n, machine())->python.version == "3.13.1");
  n.python = "3.13";
  CHECK(choose_toolchain(n, machine())->python.version == "3.13.0");
}

TEST_CASE("a torch fits by version, CUDA and platform, whatever Python it is installed for") {
  auto n = need();
  n.torch = "2.7.0";
  const auto error = refusal(n, machine());
  CHECK(error.code == "TCH005");
  CHECK(error.message.starts_with(
      "no torch 2.7.0+cu128 for linux_x86_64; there is 2.11.0+cu130 linux_x86_64 (/torch-2.11.0"));
  CHECK(error.hint.find("--toolchain folder:DIR") != std::string::npos);

  auto e = machine();
  e.torches[1].python = "3.9";
  CHECK(choose_toolchain(need(), e)->torch.root == e.torches[1].root);
  auto own = torch("2.8.0", "12.8");
  own.root = "/own";
  own.interpreter = "/py/3.12.9/bin/python3";
  e.torches.push_back(own);
  CHECK(choose_toolchain(need(), e)->torch.root == "/own");
  e.torches[1].source = ToolSource::folder;
  CHECK(choose_toolchain(need(), e)->torch.root == e.torches[1].root);
}

TEST_CASE("Windows wheels are never built here, and the message says why") {
  auto n = need();
  n.platform = "win_amd64";
  const auto error = refusal(n, machine());
  CHECK(error.code == "TCH006");
  CHECK(error.message.find("MSVC") != std::string::npos);
  auto e = machine();
  e.platform = "linux_aarch64";
  CHECK(refusal(need(), e).code == "TCH006");
}
