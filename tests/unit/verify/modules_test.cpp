#include "spec/libraries.hpp"
#include "unit/verify/module_package.hpp"

using namespace sagekit;
using namespace sagekit::test;

namespace {

ModulePackage needing(const std::vector<std::string>& libraries, const std::vector<std::string>& requires_dist = {}) {
  auto module = right_module();
  module.needed = {"libc.so.6"};
  module.needed.insert(module.needed.end(), libraries.begin(), libraries.end());
  auto package = package_of(module);
  package.requires_dist = requires_dist;
  return package;
}

}  // namespace

TEST_CASE("a right module breaks no rule") {
  const auto report = package_of(right_module()).judge(Policy::own);
  CAPTURE(failures(report));
  CHECK(report.pass);
  for (const auto* code : {"ELF001", "ELF002", "ELF003", "ELF004", "ELF005", "ELF006", "ELF008", "ELF009", "ELF010",
                           "ELF011", "ELF012", "ELF013", "PYA001", "PYA002", "PYA003", "PYA004", "PYA005", "PYA006",
                           "TAB001", "TAB002", "TAB003", "TAB004", "LBC003", "LBC006", "LBC007"}) {
    CAPTURE(code);
    CHECK(passed(report, code));
  }
}

TEST_CASE("who brings each library is read without a complaint") {
  for (const auto& problem : library_data_problems()) FAIL_CHECK(problem.message);
  CHECK(library_origins("libcusparse.so.12").size() == 2);
  CHECK(library_origins("CUDART64_12.dll").size() == 1);
  CHECK(library_origins("libcuda.so.1").front().driver);
  CHECK(library_origins("libfoo.so.1").empty());
}

TEST_CASE("libraries of the tag's systems, the driver and the requirements are there") {
  CHECK(passed(needing({"libz.so.1", "libexpat.so.1", "libcuda.so.1", "ld-linux-x86-64.so.2"}).judge(), "ELF002"));
  CHECK(passed(needing({"libtorch_cpu.so", "libc10.so", "libcudart.so.13"}, {"torch>=2.9"}).judge(), "ELF002"));
  CHECK(passed(needing({"libcublas.so.12"}, {"nvidia-cublas-cu12; extra == \"cuda\""}).judge(), "ELF002"));
  CHECK(passed(needing({"libcublas.so.12"}, {"cuda-toolkit[cublas]==12.*"}).judge(), "ELF002"));
}

TEST_CASE("a library that nobody brings is named") {
  check_warns(needing({"libopenblas.so.0"}), "ELF002", "libopenblas.so.0");
  check_warns(needing({"libtorch_cpu.so"}), "ELF002", "no Requires-Dist");
  check_warns(needing({"libpython3.12.so.1.0"}), "ELF002", "libpython3.12");
  auto old = needing({"libmvec.so.1"});
  CHECK(passed(old.judge(), "ELF002"));
  old.name = "tiny-1.0-cp312-cp312-manylinux2014_x86_64.whl";
  check_warns(old, "ELF002", "libmvec.so.1");
}

TEST_CASE("a library of another CUDA than the wheel's is refused even with torch") {
  auto package = needing({"libcudart.so.12"}, {"torch==2.11.*"});
  CHECK(passed(package.judge(), "ELF002"));
  package.name = "tiny-1.0+cu130-cp312-cp312-manylinux_2_28_x86_64.whl";
  check_warns(package, "ELF002", "CUDA 12");
  package.name = "tiny-1.0+cu128-cp312-cp312-manylinux_2_28_x86_64.whl";
  CHECK(passed(package.judge(), "ELF002"));
}

TEST_CASE("on musl, libstdc++ is not there by itself") {
  auto module = right_module();
  module.needed = {"libc.musl-x86_64.so.1", "libz.so.1"};
  module.versions.clear();
  auto package = package_of(module);
  package.name = "tiny-1.0-cp312-cp312-musllinux_1_2_x86_64.whl";
  CHECK(passed(package.judge(), "ELF002"));
  module.needed.push_back("libstdc++.so.6");
  package.files[0].second = module.build();
  CHECK(holds(said_of(package.judge(), "ELF002"), "libstdc++.so.6"));
}

TEST_CASE("a library in the wheel is found by its file name and a run path") {
  auto library = right_module();
  library.soname = "libinner.so.1";
  library.exports = {"inner"};
  library.undefined = {"malloc"};
  auto package = needing({"libinner.so.1"});
  package.files.emplace_back("tiny/libinner.so.1", library.build());
  CHECK(passed(package.judge(), "ELF011"));
  CHECK(passed(package.judge(), "ELF012"));
  package.files[1].first = "tiny.libs/libinner.so.1";
  CHECK(holds(said_of(package.judge(Policy::own), "ELF012"), "libinner.so.1"));
  auto module = right_module();
  module.needed.emplace_back("libinner.so.1");
  module.runpath = "$ORIGIN/../tiny.libs";
  package.files[0].second = module.build();
  CHECK(passed(package.judge(), "ELF012"));
  package.files[1].first = "tiny.libs/libother.so";
  check_warns(package, "ELF011", "libother.so");
}

TEST_CASE("run paths of the build machine, relative ones and empty ones are named") {
  for (const auto& [path, text] : {std::pair{"/opt/lib", "build machine"},
                                   std::pair{"../lib", "below the current folder"}, std::pair{"$ORIGIN:", "empty"}}) {
    auto module = right_module();
    module.runpath = path;
    check_warns(package_of(module), "ELF003", text);
  }
}

TEST_CASE("what hardened systems refuse is named") {
  auto module = right_module();
  module.tags = {{22, 0}};
  check_warns(package_of(module), "ELF008", "write into its code");
  module = right_module();
  module.load_flags = 7;
  check_warns(package_of(module), "ELF009", "writable and executable");
  module = right_module();
  module.stack_flags = {7};
  check_warns(package_of(module), "ELF004", "executable stack");
  module = right_module();
  module.type = 2;
  check_warns(package_of(module), "ELF010", "program");
}

TEST_CASE("what breaks nothing is only told") {
  auto module = right_module();
  module.segments.clear();
  CHECK(package_of(module).judge(Policy::own).pass);
  CHECK(holds(told(package_of(module).judge(), "ELF013"), "stay writable"));
  module = right_module();
  module.more = {{".debug_info", std::string(2 << 20, 'x'), 1, 0}};
  CHECK(holds(said_of(package_of(module).judge(Policy::own), "ELF005"), "2048 KiB"));
  CHECK(package_of(module).judge().pass);
}

TEST_CASE("a module of another machine or system is refused") {
  auto module = right_module();
  module.machine = 183;
  check_fails(package_of(module), "ELF001", "aarch64");
  auto package = package_of(right_module());
  package.files.emplace_back("tiny/_b.pyd", PeBuilder().build());
  check_fails(package, "ELF006", "_b.pyd");
}
