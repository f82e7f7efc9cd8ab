#include "spec/data.hpp"

#include "spec/windows_data.hpp"

#include <sagekit/naming.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace sagekit;

namespace {

VersionNumber version(const char* text) { return parse_version_number(text).value(); }
Arch arch(const char* text) { return parse_arch(text).value(); }

}  // namespace

TEST_CASE("the embedded data reads without a complaint") {
  for (const Diagnostic& problem : core_data_problems()) FAIL_CHECK(problem.where.file, ": ", problem.message);
  CHECK_FALSE(core_data().torches.empty());
  CHECK_FALSE(gpu_data().models.empty());
  CHECK_FALSE(core_data().nvcc_arches.empty());
  CHECK(builtin_schemes().size() == 4);
  CHECK(published_schemes().size() > 20);
}

TEST_CASE("a torch that was published is not absent") {
  CHECK_FALSE(torch_absence("2.8.0", "12.9", "linux_x86_64", "3.12"));
  CHECK_FALSE(torch_absence("2.8.0", "12.9", "win_amd64", "3.12"));
  CHECK_FALSE(torch_absence("2.7.0", "12.8", "linux_x86_64", "3.13"));
  CHECK_FALSE(torch_absence("2.11.0", "13.0", "linux_aarch64", "3.14t"));
  CHECK_FALSE(torch_absence("2.15.0", "13.2", "linux_x86_64", "3.15"));
}

TEST_CASE("a torch that was never published says so, with a source") {
  const auto never = [](const char* torch, const char* cuda, const char* platform, const char* python) {
    const auto absence = torch_absence(torch, cuda, platform, python);
    REQUIRE(absence);
    CHECK_FALSE(absence->source.empty());
    return absence->reason;
  };
  CHECK(never("2.6.0", "12.8", "linux_x86_64", "3.12").find("never published for CUDA 12.8") != std::string::npos);
  CHECK(never("2.7.0", "12.9", "win_amd64", "3.12").find("12.6, 12.8") != std::string::npos);
  CHECK(never("2.15.0", "12.6", "linux_x86_64", "3.12").find("12.6") != std::string::npos);
  CHECK(never("2.15.0", "13.2", "linux_x86_64", "3.10").find("Python 3.10") != std::string::npos);
  CHECK(never("2.6.0", "12.4", "linux_aarch64", "3.12").find("linux_aarch64") != std::string::npos);
  CHECK(never("2.99.0", "13.0", "linux_x86_64", "3.12").find("not a known release") != std::string::npos);
}

TEST_CASE("the package index has one CUDA build of each torch at most for a platform") {
  for (const TorchRelease& release : core_data().torches) {
    std::set<std::string> seen;
    for (const TorchBuild& build : release.builds)
      if (build.on_package_index)
        for (const std::string& platform : build.platforms)
          CHECK_MESSAGE(seen.insert(platform).second, release.version);
  }
}

TEST_CASE("GPUs have names from 7.5 to 12.1") {
  CHECK(gpu_names({12, 1}) == std::vector<std::string>{"GB10 (DGX Spark)"});
  for (const Capability c :
       {Capability{7, 5}, {8, 0}, {8, 6}, {8, 7}, {8, 9}, {9, 0}, {10, 0}, {10, 3}, {11, 0}, {12, 0}})
    CHECK_MESSAGE(!gpu_names(c).empty(), to_string(c));
  CHECK(gpu_names({13, 7}).empty());
  CHECK(gpu_names({9, 0}, "x86_64") == std::vector<std::string>{"H100", "H200", "H800", "H20", "H20-3e"});
  CHECK(gpu_names({12, 1}, "x86_64").empty());
  CHECK(gpu_names({12, 1}, "aarch64") == gpu_names({12, 1}));
}

TEST_CASE("GPUs of the past are marked, current ones are not") {
  for (const auto& models : gpu_data().models) {
    CAPTURE(to_string(models.capability));
    CHECK(models.legacy == (models.capability < Capability{7, 5}));
    for (const auto& name : models.aarch64)
      CHECK_MESSAGE(std::ranges::find(models.names, name) != models.names.end(), name);
  }
}

TEST_CASE("code needs the driver of its toolkit's family, PTX that of the toolkit itself") {
  CHECK(driver_for("13.0", false).linux_branch == "580");
  CHECK(driver_for("13.5", false).linux_branch == "580");
  CHECK(driver_for("12.8", false).linux_branch == "525");
  CHECK(driver_for("12.8", true).linux_branch == "570");
  CHECK(driver_for("13.5", true).linux_branch.empty());
  CHECK(driver_for("", false).linux_branch.empty());
  CHECK(driver_for("odd", true).linux_branch.empty());
  CHECK_FALSE(gpu_data().zstd_driver.linux_branch.empty());
  // Windows has other numbers, and a family's first driver is a later one than its first toolkit's.
  CHECK(driver_for("12.0", false).windows == "528.33");
  CHECK(driver_for("12.0", true).windows == "527.41");
  CHECK(driver_for("12.8", true).windows == "570.65");
  CHECK(driver_for("13.0", false).windows == "580");
  CHECK(driver_for("odd", true).windows.empty());
  CHECK_FALSE(gpu_data().zstd_driver.windows.empty());
}

TEST_CASE("a GPU needs the first driver that knows it, whatever runs on it") {
  CHECK(first_driver_of({12, 0}).linux_branch == "570");
  CHECK(first_driver_of({12, 0}).windows == "570.65");
  CHECK(first_driver_of({12, 1}).linux_branch == "580");
  CHECK(first_driver_of({7, 5}).linux_branch.empty());
  CHECK(first_driver_of({13, 7}).windows.empty());
  // None is older than the driver that came with the first nvcc for it.
  for (const auto& models : gpu_data().models) {
    CAPTURE(to_string(models.capability));
    if (models.driver.linux_branch.empty()) continue;
    const auto since = first_nvcc_for({models.capability, ArchSuffix::none});
    REQUIRE(since);
    CHECK(models.driver.linux_branch >= driver_for(to_string(*since), true).linux_branch);
    CHECK(models.driver.windows >= driver_for(to_string(*since), true).windows);
  }
}

TEST_CASE("nvcc knows an arch from its first release on") {
  CHECK_FALSE(nvcc_supports(version("12.8"), arch("12.1a")));
  CHECK(nvcc_supports(version("12.9"), arch("12.1a")));
  CHECK_FALSE(nvcc_supports(version("12.8"), arch("12.0f")));
  CHECK(nvcc_supports(version("12.8"), arch("12.0a")));
  CHECK_FALSE(nvcc_supports(version("12.6"), arch("12.0a")));
  CHECK(nvcc_supports(version("12.9"), arch("7.0")));
  CHECK_FALSE(nvcc_supports(version("13.0"), arch("7.0")));
  CHECK(nvcc_supports(version("13.0.1"), arch("9.0a")));
  CHECK_FALSE(nvcc_supports(version("13.0"), arch("9.9")));
  CHECK(first_nvcc_for(arch("12.1a")) == version("12.9"));
  CHECK_FALSE(first_nvcc_for(arch("8.0a")));
  CHECK(nvcc_absence(version("12.8"), arch("12.1a"))->reason ==
        "nvcc 12.8 cannot compile for sm_121a: 12.9 is the first that can");
  CHECK(nvcc_absence(version("13.2"), arch("6.0"))->reason.find("dropped in 13.0") != std::string::npos);
}

TEST_CASE("what building for Windows takes, and what Windows' libraries lack, is data") {
  const auto& windows = windows_data();
  for (const Diagnostic& problem : windows.problems) FAIL_CHECK(problem.where.file, ": ", problem.message);
  CHECK(windows.least_clang == 19);
  REQUIRE_FALSE(windows.mingw.empty());
  CHECK(windows.mingw.front().runtime == "UCRT");
  CHECK(std::ranges::count(windows.mingw, true, &MingwKind::everywhere) == 1);
  CHECK(absent_on_windows("python3.dll", "PyOS_BeforeFork"));
  CHECK_FALSE(absent_on_windows("python3.dll", "PyModule_Create2"));
  CHECK_FALSE(absent_on_windows("torch_cpu.dll", "PyOS_BeforeFork"));
}
