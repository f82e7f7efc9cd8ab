#include "support/fake_toolchain/fake_machine.hpp"
#include "support/text.hpp"

#include <doctest/doctest.h>

using namespace sagekit;
namespace fs = std::filesystem;

TEST_CASE("an empty machine is described, with nothing on it") {
  const FakeMachine machine;
  const auto e = machine.probe();
  CHECK(e.os == "linux");
  CHECK(e.platform == "linux_" + e.machine);
  CHECK(e.glibc.starts_with("2."));
  CHECK(e.cpus >= 1);
  CHECK(e.memory_bytes > 0);
  CHECK(e.nvcc.empty());
  CHECK(e.host_compilers.empty());
  CHECK(e.pythons.empty());
  CHECK(e.torches.empty());
  CHECK(e.gpus.empty());
  CHECK(e.notes.empty());
}

TEST_CASE("compilers on PATH are found once each, under their shortest name") {
  const FakeMachine machine;
  machine.make("cxx", "usr", {"12.2.0", "x86_64-linux-gnu-g++-12"});
  for (const auto* name : {"g++", "g++-12"})
    fs::create_symlink("x86_64-linux-gnu-g++-12", machine.root() / "usr/bin" / name);
  // What a link tells is beside the name it was started by.
  for (const auto* name : {"g++.version", "g++.target"})
    fs::create_symlink("x86_64-linux-gnu-g++-12" + fs::path(name).extension().string(),
                       machine.root() / "usr/bin" / name);
  machine.make("cxx", "usr", {"19.1.7", "clang++-19", "x86_64-pc-linux-gnu", "clang"});
  machine.make("cxx", "usr", {"12.2.0", "aarch64-linux-gnu-g++", "aarch64-linux-gnu"});
  auto options = machine.options();
  options.path.push_back(machine.root() / "usr/../usr/bin");
  options.path.emplace_back("usr/bin");
  const auto e = machine.probe(options);
  REQUIRE(e.host_compilers.size() == 3);
  CHECK(e.host_compilers[0].kind == CompilerKind::clang);
  CHECK(e.host_compilers[0].version == "19.1.7");
  CHECK(e.host_compilers[0].target == "x86_64-pc-linux-gnu");
  CHECK(e.host_compilers[2].target == "aarch64-linux-gnu");
  CHECK(e.host_compilers[1].executable.filename() == "g++");
  CHECK(e.host_compilers[1].version == "12.2.0");
  CHECK(e.host_compilers[1].ready);
  CHECK(count_of(machine.starts(), "\n") == 3);
}

TEST_CASE("a launcher such as ccache does not make two compilers one") {
  const FakeMachine machine;
  machine.make("cxx", "usr", {"12.2.0", "launcher"});
  for (const auto* name : {"g++", "clang++"}) {
    fs::create_symlink("launcher", machine.root() / "usr/bin" / name);
    for (const auto* kind : {".version", ".target"})
      fs::create_symlink(std::string("launcher") + kind, machine.root() / "usr/bin" / (std::string(name) + kind));
  }
  CHECK(machine.probe().host_compilers.size() == 2);
}

TEST_CASE("all programs together cost no more than their time") {
  const FakeMachine machine;
  machine.make("cxx", "usr", {"12.2.0"});
  auto options = machine.options();
  options.all_seconds = 0;
  const auto e = machine.probe(options);
  REQUIRE(e.host_compilers.size() == 1);
  CHECK_FALSE(e.host_compilers[0].ready);
  CHECK(e.host_compilers[0].why_not == "was not asked: the programs before it took 0 s");
}

TEST_CASE("a program that never answers costs its timeout and is shown with the reason") {
  const FakeMachine machine;
  machine.make("cxx", "usr", {"12.2.0"});
  machine.make("cxx", "usr", {"13.2.0", "g++-13"});
  machine.write(machine.root() / "usr/bin/g++-13.hang", "");
  auto options = machine.options();
  options.timeout_seconds = 1;
  const auto e = machine.probe(options);
  REQUIRE(e.host_compilers.size() == 2);
  CHECK(e.host_compilers[0].ready);
  CHECK(e.host_compilers[0].version == "12.2.0");
  CHECK_FALSE(e.host_compilers[1].ready);
  CHECK(e.host_compilers[1].why_not == "gave no answer within 1 s");
}

TEST_CASE("the machine is looked at only when it is wanted") {
  const FakeMachine machine;
  machine.make("cxx", "usr", {"12.2.0"});
  auto options = machine.options();
  options.system = false;
  CHECK(machine.probe(options).host_compilers.empty());
  options.folders = {machine.root() / "usr"};
  const auto e = machine.probe(options);
  REQUIRE(e.host_compilers.size() == 1);
  CHECK(e.host_compilers[0].source == ToolSource::folder);
}

TEST_CASE("a folder may hold several things one level down, and one that holds nothing is named") {
  const FakeMachine machine;
  machine.make("nvcc", "tools/cuda", {"13.0.88"});
  machine.make("torch", "tools/sysroot", {"2.11.0+cu130"});
  machine.make("torch", "tools", {"2.8.0+cu128", "12.8"});
  machine.make("python", "tools/py", {"3.12.1"});
  auto options = machine.options();
  options.system = false;
  options.folders = {machine.root() / "tools", machine.root() / "usr", machine.root() / "nowhere"};
  const auto e = machine.probe(options);
  REQUIRE(e.nvcc.size() == 1);
  CHECK(e.nvcc[0].found_by == "folder");
  REQUIRE(e.torches.size() == 2);
  CHECK(e.torches[0].version == "2.11.0");
  CHECK(e.torches[1].version == "2.8.0");
  CHECK(e.pythons.size() == 1);
  REQUIRE(e.notes.size() == 2);
  CHECK(e.notes[0] ==
        (machine.root() / "usr").string() + " holds no nvcc, compiler, torch or Python, nor does a folder in it");
  CHECK(e.notes[1] == (machine.root() / "nowhere").string() + " is not a folder");
}

TEST_CASE("what is ready comes first, then given folders, then the newest") {
  const FakeMachine machine;
  machine.make("nvcc", "usr/local/cuda-12.8", {"12.8.93"});
  machine.make("nvcc", "usr/local/cuda-13.0", {"13.0.88"});
  machine.make("nvcc", "usr/local/cuda-13.5", {"13.5.37"});
  machine.make("nvcc", "given", {"12.9.86"});
  fs::remove(machine.root() / "usr/local/cuda-13.5/bin/ptxas");
  auto options = machine.options();
  options.folders = {machine.root() / "given"};
  const auto e = machine.probe(options);
  REQUIRE(e.nvcc.size() == 4);
  CHECK(e.nvcc[0].version == "12.9.86");
  CHECK(e.nvcc[1].version == "13.0.88");
  CHECK(e.nvcc[2].version == "12.8.93");
  CHECK_FALSE(e.nvcc[3].ready);
}

TEST_CASE("provisioned trees keep their source and come after what the machine has") {
  const FakeMachine machine;
  machine.make("nvcc", "usr/local/cuda-12.8", {"12.8.93"});
  machine.make("nvcc", "store/nvcc-13.0.88-linux_x86_64-0123", {"13.0.88"});
  machine.make("torch", "store/torch-2.11.0-linux_aarch64-4567", {"2.11.0+cu130", "13.0", "aarch64"});
  auto options = machine.options();
  options.provisioned = {{machine.root() / "store/nvcc-13.0.88-linux_x86_64-0123", ToolSource::wheels},
                         {machine.root() / "store/torch-2.11.0-linux_aarch64-4567", ToolSource::redist}};
  const auto e = machine.probe(options);
  REQUIRE(e.nvcc.size() == 2);
  CHECK(e.nvcc[0].source == ToolSource::system);
  CHECK(e.nvcc[1].source == ToolSource::wheels);
  CHECK(e.nvcc[1].ready);
  REQUIRE(e.torches.size() == 1);
  CHECK(e.torches[0].source == ToolSource::redist);
  CHECK(e.torches[0].platform == "linux_aarch64");
  CHECK(e.notes.empty());
}

TEST_CASE("of two equal compilers the one that PATH names first comes first") {
  const FakeMachine machine;
  machine.make("cxx", "z", {"13.3.0"});
  machine.make("cxx", "a", {"13.3.0"});
  auto options = machine.options();
  options.path = {machine.root() / "z/bin", machine.root() / "a/bin"};
  auto e = machine.probe(options);
  REQUIRE(e.host_compilers.size() == 2);
  CHECK(e.host_compilers[0].executable == machine.root() / "z/bin/g++");
  std::swap(options.path[0], options.path[1]);
  CHECK(machine.probe(options).host_compilers[0].executable == machine.root() / "a/bin/g++");
}

TEST_CASE("the JSON forms name their schema and hold every tool") {
  const FakeMachine machine;
  machine.make("nvcc", "usr/local/cuda-13.0", {"13.0.88", "sm_90 sm_121"});
  machine.make("cxx", "usr", {"12.2.0"});
  machine.make("python", "usr", {"3.12.1"});
  machine.make("torch", "usr/lib/python3.12/site-packages", {"2.11.0+cu130"});
  auto e = machine.probe();
  e.gpus = {{"NVIDIA GB10", {12, 1}, "580.1"}};
  const std::string env = environment_json(e);
  CHECK(env.starts_with("{\n  \"schema\": \"sagekit.env/1\""));
  CHECK(env.find("\"sm_90\",\n        \"sm_121\"") != std::string::npos);
  CHECK(env.find("\"capability\": \"12.1\"") != std::string::npos);
  CHECK(env == environment_json(e));
  const std::string list = toolchains_json(e);
  CHECK(list.starts_with("{\n  \"schema\": \"sagekit.toolchains/1\""));
  for (const auto* kind : {"nvcc", "torch", "python", "host-compiler"})
    CHECK(list.find("\"kind\": \"" + std::string(kind) + "\"") != std::string::npos);
  CHECK(list.find(e.nvcc[0].identity) != std::string::npos);
}
