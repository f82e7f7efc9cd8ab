#include "support/fake_toolchain/fake_machine.hpp"

#include <doctest/doctest.h>

using namespace sagekit;
namespace fs = std::filesystem;

namespace {

// The one nvcc of a machine.
Nvcc only_nvcc(const FakeMachine& machine, const ProbeOptions& options) {
  const auto e = machine.probe(options);
  REQUIRE(e.nvcc.size() == 1);
  return e.nvcc[0];
}
Nvcc only_nvcc(const FakeMachine& machine) { return only_nvcc(machine, machine.options()); }

}  // namespace

TEST_CASE("an nvcc says its release, codes and host limits") {
  const FakeMachine machine;
  const auto tree = machine.make("nvcc", "usr/local/cuda-13.0", {"13.0.88", "sm_121 sm_80 sm_90"});
  const auto nvcc = only_nvcc(machine);
  CHECK(nvcc.ready);
  CHECK(nvcc.why_not.empty());
  CHECK(nvcc.version == "13.0.88");
  CHECK(nvcc.cuda == "13.0");
  CHECK(nvcc.code == std::vector<Arch>{{{8, 0}}, {{9, 0}}, {{12, 1}}});
  CHECK(nvcc.max_gcc == "15");
  CHECK(nvcc.max_clang == "21");
  CHECK(nvcc.root == fs::canonical(tree));
  CHECK(nvcc.include_dir == fs::canonical(tree) / "include");
  CHECK(nvcc.library_dir == fs::canonical(tree) / "lib");
  CHECK(nvcc.source == ToolSource::system);
  CHECK(nvcc.found_by == "/usr/local");
  CHECK(nvcc.identity.size() == 64);
}

TEST_CASE("one nvcc under many names, wrappers too, is one") {
  const FakeMachine machine;
  const auto tree = machine.make("nvcc", "usr/local/cuda-13.0", {"13.0.88"});
  fs::create_symlink("cuda-13.0", machine.root() / "usr/local/cuda");
  machine.write(machine.root() / "usr/bin/nvcc", "#!/bin/sh\nexec '" + (tree / "bin/nvcc").string() + "' \"$@\"\n",
                true);
  auto options = machine.options();
  options.cuda_homes = {machine.root() / "usr/local/cuda", machine.root() / "nowhere"};
  const auto e = machine.probe(options);
  REQUIRE(e.nvcc.size() == 1);
  CHECK(e.nvcc[0].ready);
  CHECK(e.nvcc[0].found_by == "PATH");
  CHECK(e.nvcc[0].executable == fs::canonical(tree) / "bin/nvcc");
  REQUIRE(e.notes.size() == 1);
  CHECK(e.notes[0] ==
        "CUDA_HOME or CUDA_PATH names " + (machine.root() / "nowhere").string() + ", which has no bin/nvcc");
}

TEST_CASE("a link to the program alone is followed, a link to its folder is kept") {
  const FakeMachine machine;
  const auto tree = machine.make("nvcc", "tree", {"13.0.88"});
  fs::create_symlink(tree / "bin/nvcc", machine.root() / "usr/bin/nvcc");
  for (const auto* part : {"prelude.sh", "nvcc.version", "nvcc.codes"})
    fs::copy(tree / "bin" / part, machine.root() / "usr/bin" / part, fs::copy_options::overwrite_existing);
  CHECK(only_nvcc(machine).executable == fs::canonical(tree) / "bin/nvcc");
  CHECK(only_nvcc(machine).ready);

  const FakeMachine other;
  const auto real = other.make("nvcc", "opt/cuda-13.0", {"13.0.88"});
  fs::create_symlink("cuda-13.0", other.root() / "opt/cuda");
  CHECK(only_nvcc(other).executable == other.root() / "opt/cuda/bin/nvcc");
}

TEST_CASE("equal compilers in other places are equal, a changed one is not") {
  const FakeMachine machine;
  const auto a = machine.make("nvcc", "usr/local/cuda-a", {"13.0.88"});
  machine.make("nvcc", "usr/local/cuda-b", {"13.0.88"});
  const auto identity = [&] {
    const auto e = machine.probe();
    REQUIRE(e.nvcc.size() == 2);
    return std::pair(e.nvcc[0].identity, e.nvcc[1].identity);
  };
  const auto [first, second] = identity();
  CHECK(first == second);
  for (const auto* part : {"bin/ptxas", "nvvm/bin/cicc", "bin/cudafe++", "bin/fatbinary", "bin/nvcc"}) {
    const auto before = read_file(a / part).value();
    machine.write(a / part, before + "# patched\n", true);
    CHECK_MESSAGE(identity().first != first, part);
    machine.write(a / part, before, true);
  }
  CHECK(identity().first == first);
  machine.write(a / "nvvm/libdevice/libdevice.10.bc", "BC");
  CHECK(identity().first != first);
}

TEST_CASE("an incomplete tree says what it lacks") {
  const FakeMachine machine;
  const auto tree = machine.make("nvcc", "usr/local/cuda", {"13.0.88"});
  const auto without = [&](const fs::path& part) {
    fs::rename(tree / part, tree / "away");
    const auto nvcc = only_nvcc(machine);
    fs::rename(tree / "away", tree / part);
    CHECK_FALSE(nvcc.ready);
    CHECK(nvcc.identity.empty());
    return nvcc.why_not;
  };
  const std::string root = fs::canonical(tree).string();
  CHECK(without("nvvm/bin/cicc") == "cicc is missing beside nvcc: the tree is incomplete");
  CHECK(without("bin/fatbinary") == "fatbinary is missing beside nvcc: the tree is incomplete");
  CHECK(without("include/cuda_runtime.h") == "no cuda_runtime.h in " + root + "/include");
  CHECK(without("lib") == "no libcudart.so* in lib64, lib or targets/*/lib of " + root);
  CHECK(without("include/crt") == root + "/include/crt/host_config.h does not say which host compilers it accepts");
  CHECK(only_nvcc(machine).ready);
}

TEST_CASE("programs unpacked without their modes are named with the cure") {
  const FakeMachine machine;
  const auto tree = machine.make("nvcc", "usr/local/cuda", {"13.0.88"});
  fs::permissions(tree / "bin/ptxas", fs::perms::owner_read);
  CHECK(only_nvcc(machine).why_not ==
        (fs::canonical(tree) / "bin/ptxas").string() + " may not be executed: chmod a+x it");
  fs::permissions(tree / "bin/nvcc", fs::perms::owner_read);
  CHECK(only_nvcc(machine).why_not == (tree / "bin/nvcc").string() + " may not be executed: chmod a+x it");
}

TEST_CASE("a targets folder that hides the headers is told, one that holds them is used") {
  const FakeMachine machine;
  const auto tree = machine.make("nvcc", "usr/local/cuda", {"13.0.88"});
  const auto targets = tree / "targets";
  fs::create_directory(targets);
  CHECK(only_nvcc(machine).ready);  // a profile that knows no targets folder does not look there
  machine.write(tree / "bin/nvcc.profile", "INCLUDES += \"-I$(TOP)/$(_TARGET_DIR_)/include\"\n");
  CHECK(only_nvcc(machine).why_not.starts_with("the folder " + fs::canonical(targets).string() + " hides "));
  const std::string machine_name = machine.probe().machine;
  const auto target = targets / ((machine_name == "aarch64" ? "sbsa" : machine_name) + "-linux");
  fs::create_directories(target / "include/crt");
  machine.write(target / "include/cuda_runtime.h", "");
  fs::copy(tree / "include/crt", target / "include/crt");
  CHECK(only_nvcc(machine).why_not.find(" hides ") != std::string::npos);  // cccl is still hidden
  fs::create_directory(target / "include/cccl");
  const auto nvcc = only_nvcc(machine);
  CHECK(nvcc.ready);
  CHECK(nvcc.include_dir == fs::canonical(target) / "include");
}

TEST_CASE("an nvcc that fails or answers nonsense is shown, not used") {
  const FakeMachine machine;
  const auto tree = machine.make("nvcc", "usr/local/cuda", {"13.0.88"});
  machine.write(tree / "bin/nvcc.fail", "\nlibc.so.6: version GLIBC_2.99 not found\nmore\n");
  CHECK(only_nvcc(machine).why_not == "does not start: libc.so.6: version GLIBC_2.99 not found (exit code 1)");
  fs::remove(tree / "bin/nvcc.fail");
  machine.write(tree / "bin/nvcc.codes", "rubbish sm_x sm_1 sm_12345678\n");
  CHECK(only_nvcc(machine).why_not == "--list-gpu-code lists nothing");
  machine.write(tree / "bin/nvcc", "#!/bin/sh\necho hello\n", true);
  CHECK(only_nvcc(machine).why_not == "--version does not say a release");
  machine.write(tree / "bin/nvcc", "not a program", true);
  CHECK(only_nvcc(machine).why_not.starts_with("cannot start "));
}

TEST_CASE("an nvcc that fails where TMPDIR cannot be written says so, and what to do") {
  const FakeMachine machine;
  const auto tree = machine.make("nvcc", "usr/local/cuda-13.0", {"13.0.88"});
  const auto own = read_file(tree / "bin/nvcc").value();
  machine.write(
      tree / "bin/nvcc",
      "#!/bin/sh\n[ \"$1\" != --list-gpu-code ] || [ -d \"${TMPDIR:-/tmp}\" ] || { echo \"Could not open output "
      "file '$TMPDIR/tmpxft'\" >&2; exit 1; }\n" +
          own.substr(own.find('\n') + 1),
      true);
  CHECK(only_nvcc(machine).ready);
  auto options = machine.options();
  const auto gone = (machine.root() / "gone").string();
  options.child_environment["TMPDIR"] = gone;
  const auto nvcc = only_nvcc(machine, options);
  CHECK_FALSE(nvcc.ready);
  CHECK(nvcc.cuda == "13.0");
  CHECK_MESSAGE(nvcc.why_not.starts_with("TMPDIR names " + gone + ", which is no folder; --list-gpu-code: "),
                nvcc.why_not);
  CHECK(nvcc.mend.starts_with("unset TMPDIR"));
}

TEST_CASE("an nvcc that starts nothing because nothing more may start is not the one at fault") {
  const FakeMachine machine;
  const auto tree = machine.make("nvcc", "usr/local/cuda-13.0", {"13.0.88"});
  machine.write(tree / "bin/nvcc", "#!/bin/sh\necho 'fork: Resource temporarily unavailable' >&2\nexit 1\n", true);
  const auto nvcc = only_nvcc(machine);
  CHECK_FALSE(nvcc.ready);
  CHECK(nvcc.mend.starts_with("raise this user's limits"));
}

TEST_CASE("a fetched tree without its nvcc is shown as one that cannot be used") {
  const FakeMachine machine;
  const auto tree = machine.make("nvcc", "store/nvcc-13.0.88-linux_x86_64-1f2e3d4c5b6a", {"13.0.88"});
  fs::remove(tree / "bin/nvcc");
  auto options = machine.options();
  options.provisioned = {{tree, ToolSource::wheels}};
  const auto nvcc = only_nvcc(machine, options);
  CHECK_FALSE(nvcc.ready);
  CHECK(nvcc.why_not == "nvcc itself is missing: the tree is incomplete");
}

TEST_CASE("CUDA wheels in an interpreter's packages are found") {
  const FakeMachine machine;
  machine.make("python", "usr", {"3.12.1"});
  const fs::path site = "usr/lib/python3.12/site-packages";
  machine.make("nvcc", (site / "nvidia/cu13").string(), {"13.0.88"});
  const auto nvcc = only_nvcc(machine);
  CHECK(nvcc.ready);
  CHECK(nvcc.found_by == "site-packages");
}

TEST_CASE("the CUDA 12 compiler wheel is no nvcc and is said to be none") {
  const FakeMachine machine;
  machine.make("python", "usr", {"3.12.1"});
  const auto wheel = machine.root() / "usr/lib/python3.12/site-packages/nvidia/cuda_nvcc";
  machine.write(wheel / "bin/ptxas", "", true);
  const auto e = machine.probe();
  CHECK(e.nvcc.empty());
  REQUIRE(e.notes.size() == 1);
  CHECK(e.notes[0] == wheel.string() + " is the CUDA 12 compiler package: it holds no nvcc");
}
