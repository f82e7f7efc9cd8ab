#include "verify/runs_on.hpp"

#include "support/wheel_builder.hpp"
#include "unit/verify/fixture.hpp"

using namespace sagekit;
using namespace sagekit::test;

namespace {

using Names = std::vector<std::string>;

WheelReport judged_wheel(const WheelBuilder& wheel, const VerifyOptions& options = {}) {
  const auto folder = scratch();
  const auto file = folder.path() / wheel.file_name;
  REQUIRE(write_file_atomic(file, wheel.zip().build()));
  ScriptedRunner runner;
  const auto report = verify_wheel(file, "", {}, options, runner);
  if (!report) FAIL(report.error().message);
  return *report;
}

/// A stranger's wheel of modules, each with this fatbin.
WheelBuilder stranger(const std::vector<std::pair<std::string, std::string>>& fatbins, const std::string& init = "") {
  WheelBuilder wheel;
  for (const auto& [name, fatbin] : fatbins) {
    auto module = demo_module(init.empty() ? name : init, {});
    module.more = {{".nv_fatbin", fatbin, 1, 0}};
    module.undefined = {"PyModule_Create2"};
    wheel.files.emplace_back("tiny_kernels/" + name + k_suffix, module.build());
  }
  return wheel;
}

std::string cubin(unsigned sm) {
  CubinBuilder one;
  one.sm = sm;
  one.accelerated = false;
  one.options = "-arch sm_" + std::to_string(sm);
  return one.build();
}

std::string plain(const std::vector<unsigned>& arches) {
  FatbinBuilder fatbin;
  for (const unsigned sm : arches) fatbin.cubin(sm, 0, cubin(sm));
  return fatbin.build();
}

bool reason_has(const RunsOn& row, std::string_view part) {
  CAPTURE(row.reason);
  return row.reason.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("an entry that says one arch and holds another runs on no GPU that would take it") {
  FatbinBuilder fatbin;
  fatbin.cubin(90, 0, cubin(90));
  fatbin.cubin(120, 0, cubin(90));
  const auto report = judged_wheel(stranger({{"_k", fatbin.build()}}));
  CHECK_FALSE(trouble(report, "FAT008").empty());
  CHECK(row(report, {9, 0}).verdict == "yes");
  CHECK(row(report, {12, 0}).verdict == "no");
  CHECK(reason_has(row(report, {12, 0}), "FAT008"));
  CHECK(row(report, {12, 0}).failing == Names{"tiny_kernels._k"});
}

TEST_CASE("one wrong entry among right ones of its arch leaves a part") {
  FatbinBuilder right, wrong;
  right.cubin(120, 0, cubin(120));
  wrong.cubin(120, 0, cubin(90));
  const auto report = judged_wheel(stranger({{"_k", right.build() + wrong.build()}}));
  CHECK(row(report, {12, 0}).verdict == "part");
}

TEST_CASE("code that cannot be read is unknown, and no yes") {
  FatbinBuilder fatbin;
  fatbin.cubin(90, 0, cubin(90));
  fatbin.cubin(120, 0, std::string(200, 'x'));
  const auto image = judged_wheel(stranger({{"_k", fatbin.build()}}));
  CHECK(row(image, {9, 0}).verdict == "yes");
  CHECK(row(image, {12, 0}).verdict == "unknown");
  const auto cut = plain({90});
  const auto container = judged_wheel(stranger({{"_k", plain({80}) + cut.substr(0, cut.size() / 2)}}));
  CHECK(row(container, {8, 0}).verdict == "unknown");
  CHECK(row(container, {9, 0}).verdict == "unknown");
}

TEST_CASE("a module that Python cannot import runs nowhere") {
  const auto report = judged_wheel(stranger({{"_k", plain({90})}}, "_other"));
  CHECK_FALSE(trouble(report, "PYA002").empty());
  CHECK(row(report, {9, 0}).verdict == "no");
  CHECK(reason_has(row(report, {9, 0}), "_k does not load (PYA002"));
  for (const auto& one : report.runs_on) CHECK(one.verdict == "no");
}

TEST_CASE("a module of the package that cannot be imported leaves a part of any GPU, known dispatch or not") {
  auto wheel = stranger({{"_k", plain({90})}});
  auto broken = demo_module("_other", {});
  broken.undefined = {"PyModule_Create2"};
  wheel.files.emplace_back("tiny_kernels/_broken" + k_suffix, broken.build());
  const auto strange = judged_wheel(wheel);
  CHECK(row(strange, {9, 0}).verdict == "part");
  CHECK(row(strange, {9, 0}).failing == Names{"tiny_kernels._broken"});

  DemoBuild demo;
  demo.files["demo/_b" + k_suffix] = demo_module("_other", {{90, 'a'}}).build();
  const auto report = judge_build(demo, demo_spec());
  CHECK(row(report, {9, 0}).verdict == "no");  // calls it
  CHECK(reason_has(row(report, {9, 0}), "it would call _b, which does not load (PYA002"));
  CHECK(row(report, {8, 0}).verdict == "part");  // does not
  CHECK(row(report, {8, 0}).failing == Names{"demo._b"});
  CHECK(row(report, {8, 6}).verdict == "part");
}

TEST_CASE("a suffix of one Python in a wheel for many leaves a part, in a wheel for another nothing") {
  auto wheel = stranger({});
  wheel.files.emplace_back("tiny_kernels/_k" + k_suffix, demo_module("_k", {{90, 0}}).build());
  wheel.file_name = "tiny_kernels-1.2.0-cp312-abi3-manylinux_2_28_x86_64.whl";
  CHECK(row(judged_wheel(wheel), {9, 0}).verdict == "part");
  wheel.file_name = "tiny_kernels-1.2.0-cp311-cp311-manylinux_2_28_x86_64.whl";
  CHECK(row(judged_wheel(wheel), {9, 0}).verdict == "no");
}

TEST_CASE("without dispatch some modules are a part, and the row names those that lack the code") {
  const auto report =
      judged_wheel(stranger({{"_a", plain({80, 90})}, {"_b", plain({90})}, {"_c", plain({90})}, {"_d", plain({90})}}));
  CHECK(row(report, {9, 0}).verdict == "yes");
  CHECK(row(report, {9, 0}).failing.empty());
  const RunsOn& old = row(report, {8, 0});
  CHECK(old.verdict == "part");
  CHECK(old.modules == Names{"tiny_kernels._a"});
  CHECK(old.failing == Names{"tiny_kernels._b", "tiny_kernels._c", "tiny_kernels._d"});
  CHECK(old.reason ==
        "3 of 4 modules with GPU code have none for it: _b, _c, _d; which the package calls is not known");
  CHECK(row(report, {12, 0}).reason == "no module has code for it");
}

TEST_CASE("PTX in one module is a jit for the whole, where all have something") {
  FatbinBuilder ptx;
  ptx.ptx(80, 0, sample_ptx("sm_80"));
  CHECK(row(judged_wheel(stranger({{"_a", plain({90})}, {"_b", ptx.build()}})), {9, 0}).verdict == "jit");
}

TEST_CASE("a package that cannot be imported at all runs nowhere") {
  DemoBuild demo;
  demo.files.erase("demo/__init__.py");
  const auto report = judge_build(demo, demo_spec());
  for (const auto& one : report.runs_on) CHECK(one.verdict == "no");
  CHECK(reason_has(row(report, {8, 0}), "cannot be imported (CNT003"));
}

TEST_CASE("the JSON names the modules that fail") {
  const auto json = verify_json({judged_wheel(stranger({{"_a", plain({80})}, {"_b", plain({90})}}))}, false);
  CHECK(json.find("\"verdict\": \"part\"") != std::string::npos);
  CHECK(json.find("\"failing_modules\": [") != std::string::npos);
}
