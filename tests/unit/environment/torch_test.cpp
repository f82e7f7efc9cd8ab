#include "support/fake_toolchain/fake_machine.hpp"

#include <doctest/doctest.h>

#include <fstream>

using namespace sagekit;
namespace fs = std::filesystem;

namespace {

TorchSysroot only_torch(const FakeMachine& machine, const fs::path& folder) {
  auto options = machine.options();
  options.folders = {folder};
  const auto e = machine.probe(options);
  REQUIRE(e.torches.size() == 1);
  return e.torches[0];
}

}  // namespace

TEST_CASE("an unpacked wheel is a torch, by the folder that holds it or by itself") {
  const FakeMachine machine;
  const auto folder = machine.make("torch", "wheel", {"2.11.0+cu130"});
  const auto torch = only_torch(machine, folder);
  CHECK(torch.ready);
  CHECK(torch.root == folder / "torch");
  CHECK(torch.version == "2.11.0");
  CHECK(torch.local == "cu130");
  CHECK(torch.cuda == "13.0");
  CHECK(torch.platform == "linux_x86_64");
  CHECK(torch.cxx11_abi);
  CHECK(torch.python.empty());
  CHECK(torch.interpreter.empty());
  CHECK(torch.source == ToolSource::folder);
  CHECK(only_torch(machine, folder / "torch").root == folder / "torch");
}

TEST_CASE("an installed torch names the interpreter that can import it") {
  const FakeMachine machine;
  machine.make("python", "usr", {"3.12.1"});
  machine.make("torch", "usr/lib/python3.12/site-packages", {"2.8.0+cu128", "12.8"});
  const auto e = machine.probe();
  REQUIRE(e.torches.size() == 1);
  CHECK(e.torches[0].python == "3.12");
  CHECK(e.torches[0].interpreter == machine.root() / "usr/bin/python3");
  CHECK(e.torches[0].source == ToolSource::system);
}

TEST_CASE("other platforms and builds without CUDA are told by the files") {
  const FakeMachine machine;
  CHECK(only_torch(machine, machine.make("torch", "arm", {"2.11.0+cu130", "13.0", "aarch64"})).platform ==
        "linux_aarch64");
  const auto cpu = only_torch(machine, machine.make("torch", "cpu", {"2.8.0+cpu", ""}));
  CHECK(cpu.cuda.empty());
  CHECK(cpu.local == "cpu");
  CHECK(cpu.ready);
  const auto windows = machine.make("torch", "win", {"2.8.0+cu128", "12.8"});
  fs::rename(windows / "torch/lib/libc10.so", windows / "torch/lib/torch_cpu.dll");
  const auto bare = only_torch(machine, windows);
  CHECK(bare.platform == "win_amd64");
  CHECK(bare.why_not.find("stable/library.h") != std::string::npos);
  fs::create_directories(windows / "torch/include/torch/csrc/stable");
  std::ofstream(windows / "torch/include/torch/csrc/stable/library.h") << "#pragma once\n";
  const auto torch = only_torch(machine, windows);
  CHECK(torch.ready);
  CHECK(torch.platform == "win_amd64");
  CHECK_FALSE(torch.identity.empty());
}

TEST_CASE("the old ABI is read from the CMake file, and must stand there before 2.7") {
  const FakeMachine machine;
  const auto folder = machine.make("torch", "wheel", {"2.6.0+cu124", "12.4"});
  const auto config = folder / "torch/share/cmake/Torch/TorchConfig.cmake";
  machine.write(config, "set(TORCH_CXX_FLAGS \"-D_GLIBCXX_USE_CXX11_ABI=0\")\n");
  CHECK_FALSE(only_torch(machine, folder).cxx11_abi);
  CHECK(only_torch(machine, folder).ready);
  fs::remove(config);
  CHECK(only_torch(machine, folder).why_not ==
        "share/cmake/Torch/TorchConfig.cmake does not say _GLIBCXX_USE_CXX11_ABI");
  machine.write(folder / "torch/version.py", "__version__ = '2.10.0+cu128'\ncuda: Optional[str] = '12.8'\n");
  CHECK(only_torch(machine, folder).ready);
  CHECK(only_torch(machine, folder).cxx11_abi);
}

TEST_CASE("what is no usable torch says why") {
  const FakeMachine machine;
  const auto folder = machine.make("torch", "wheel", {"2.11.0+cu130"});
  const auto root = folder / "torch";
  machine.write(root / "lib/libc10.so",
                "\x7f"
                "ELF short");
  CHECK(only_torch(machine, folder).why_not == "lib/libc10.so is not an x86_64 or aarch64 Linux library");
  fs::remove(root / "lib/libc10.so");
  CHECK(only_torch(machine, folder).why_not == "no lib/libc10.so: unpack the whole wheel, not its headers alone");
  machine.write(root / "version.py", "import os\n");
  CHECK(only_torch(machine, folder).why_not == "its version.py says no __version__");
}

TEST_CASE("by its RECORD a torch is the same for every Python, installed or unpacked") {
  const FakeMachine machine;
  const std::string rows =
      "torch/version.py,sha256=aa,10\ntorch/include/torch/extension.h,sha256=bb,20\ntorch/lib/libc10.so,sha256=cc,30\n";
  const auto identity = [&](const std::string& dir, const std::string& record) {
    const auto folder = machine.make("torch", dir, {"2.11.0+cu130"});
    machine.write(folder / "torch-2.11.0.dist-info/RECORD", record);
    return only_torch(machine, folder).identity;
  };
  const auto first = identity("a", rows);
  CHECK(identity("b", "torch/lib/libtorch_python.so,sha256=other,1\r\n" + rows) == first);
  CHECK(identity("c", rows + "torch-2.11.0.dist-info/INSTALLER,,\ntorch/__pycache__/x.pyc,,\n") == first);
  CHECK(identity("d", "torch/include/torch/extension.h,sha256=changed,20\n") != first);
}

TEST_CASE("without a RECORD the listing of its headers counts") {
  const FakeMachine machine;
  const auto folder = machine.make("torch", "wheel", {"2.11.0+cu130"});
  const auto before = only_torch(machine, folder).identity;
  CHECK(only_torch(machine, machine.make("torch", "other", {"2.11.0+cu130"})).identity == before);
  machine.write(folder / "torch/include/ATen/new.h", "");
  CHECK(only_torch(machine, folder).identity != before);
}
