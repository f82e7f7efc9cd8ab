#include "verify/runs_on.hpp"

#include "support/pe_builder.hpp"
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

/// A stranger's files with code for 9.0, as far as the table looks at them.
Artifact artifact_of(const GpuCode& code, bool windows) {
  MemberFacts member;
  member.path = windows ? "tiny/_k.cp312-win_amd64.pyd" : "tiny/_k" + k_suffix;
  if (windows)
    member.pe = PeFacts{};
  else
    member.elf = ElfFacts{};
  member.gpu = {code};
  Artifact artifact;
  artifact.members = {member};
  return artifact;
}

GpuCode code_90(const std::string& toolkit, bool ptx) {
  GpuCode code;
  code.ptx = ptx;
  code.arch = Arch{{9, 0}};
  code.count = 1;
  code.toolkit = toolkit;
  return code;
}

const RunsOn& row(const std::vector<RunsOn>& table, Capability gpu) {
  const auto found = std::ranges::find(table, gpu, &RunsOn::capability);
  REQUIRE(found != table.end());
  return *found;
}

}  // namespace

TEST_CASE("what a module runs on that was cut is not known, whether code of it is left or not") {
  for (const bool loaded : {true, false})
    for (const bool windows : {true, false}) {
      auto code = code_90("12.8", false);
      code.loaded = loaded;
      auto artifact = artifact_of(code, windows);
      if (!loaded) CHECK(runs_on(artifact, {}).empty());
      artifact.members.front().problems = {
          {Severity::error, windows ? "INS031" : "INS022", "it lies outside the file", {}, {}}};
      const auto table = runs_on(artifact, {});
      REQUIRE_FALSE(table.empty());
      for (const auto& one : table) {
        CHECK(one.verdict == RunVerdict::unknown);
        CHECK(reason_has(one, "_k cannot be judged (INS0"));
      }
    }
}

TEST_CASE("of a cut module for Windows nobody says that it was linked wrongly") {
  PeBuilder pe;
  const auto first = plain({90});
  pe.gpu = first + plain({80});
  const auto whole = pe.build();
  const auto at = whole.find(first);
  REQUIRE(at != std::string::npos);
  for (const auto size : {at, at + first.size() + 40}) {
    CAPTURE(size - at);
    WheelBuilder wheel;
    wheel.files.emplace_back("tiny_kernels/_a.pyd", whole.substr(0, size));
    const auto report = judged_wheel(wheel);
    CHECK_FALSE(trouble(report, "INS031").empty());
    for (const auto& one : trouble(report, "FAT105")) CHECK(one.result == FindingResult::skipped);
  }
}

TEST_CASE("what failed on a GPU lowers that GPU's row, and no other") {
  const auto artifact = artifact_of(code_90("12.8", false), false);
  Finding wrong{"RUN101", Severity::error, FindingResult::fail, "sageattn in 1 of 4 cases: worse than 0.999", {}, {}};
  const auto table = [&](std::size_t passed) {
    return runs_on(artifact, {wrong}, GpuGate{{9, 0}, "NVIDIA H200", 4, passed});
  };
  CHECK(row(table(4), {9, 0}).verdict == RunVerdict::yes);
  CHECK(row(table(3), {9, 0}).verdict == RunVerdict::part);
  CHECK(reason_has(row(table(3), {9, 0}), "1 of 4 cases failed on this machine's NVIDIA H200 (RUN101: sageattn"));
  CHECK(row(table(0), {9, 0}).verdict == RunVerdict::no);
  CHECK(row(runs_on(artifact, {wrong}, GpuGate{{8, 0}, "NVIDIA A100", 4, 0}), {9, 0}).verdict == RunVerdict::yes);
  CHECK(row(runs_on(artifact, {}, GpuGate{{9, 0}, "NVIDIA H200", 0, 0}), {9, 0}).verdict == RunVerdict::yes);
}

TEST_CASE("the driver is that of the modules' system") {
  const auto driver = [](const std::string& toolkit, bool ptx, bool windows, Capability gpu = {9, 0}) {
    const auto found = row(runs_on(artifact_of(code_90(toolkit, ptx), windows), {}), gpu);
    return found.driver + " " + found.driver_system;
  };
  CHECK(driver("12.8", false, false) == "525 linux");
  CHECK(driver("12.8", false, true) == "528.33 windows");
  CHECK(driver("12.8", true, true) == "570.65 windows");
  CHECK(driver("13.0", false, true) == "580 windows");
  // No driver before the first that knows a GPU compiles for it, old as the PTX may be.
  CHECK(driver("12.4", true, false) == "550 linux");
  CHECK(driver("12.4", true, false, {12, 0}) == "570 linux");
  CHECK(driver("12.4", true, true, {12, 0}) == "570.65 windows");
  CHECK(driver("13.1", true, false, {12, 0}) == "590 linux");
  // Modules for two CUDA releases stand for each other; those of one are needed together.
  auto bundle = artifact_of(code_90("12.8", false), false);
  bundle.members.push_back(artifact_of(code_90("13.0", false), false).members.front());
  bundle.members.back().path = "two/" + bundle.members.back().path;
  CHECK(row(runs_on(bundle, {}), {9, 0}).driver == "580");
  bundle.members.front().elf->needed = {"libcudart.so.12"};
  bundle.members.back().elf->needed = {"libcudart.so.13"};
  CHECK(row(runs_on(bundle, {}), {9, 0}).driver == "525");
  auto both = artifact_of(code_90("12.8", false), false);
  both.members.push_back(artifact_of(code_90("12.8", false), true).members.front());
  std::ranges::sort(both.members, {}, &MemberFacts::path);
  CHECK(row(runs_on(both, {}), {9, 0}).driver.empty());
}

TEST_CASE("a module with other bytes than RECORD says is not known to run") {
  auto wheel = stranger({{"_k", plain({90})}});
  wheel.record = wheel.right_record();
  auto& module = wheel.files.back().second;
  module.back() = static_cast<char>(module.back() ^ 1);
  const auto report = judged_wheel(wheel);
  REQUIRE(trouble(report, "INF016").size() == 1);
  CHECK(row(report, {9, 0}).verdict == RunVerdict::unknown);
  CHECK(reason_has(row(report, {9, 0}), "is not the file that was built (INF016"));
}

TEST_CASE("what pip installs all the same lowers no row") {
  const auto right = stranger({{"_k", plain({90})}});
  for (void (*change)(WheelBuilder&) : std::vector<void (*)(WheelBuilder&)>{
           [](WheelBuilder& w) { w.metadata.replace(w.metadata.find("1.2.0"), 5, "1.3.0"); },
           [](WheelBuilder& w) { w.wheel.replace(w.wheel.find("Root-Is-Purelib: false\n"), 23, ""); },
           [](WheelBuilder& w) { w.extra_record = "not_there.py,,\n"; },
           [](WheelBuilder& w) { w.files.emplace_back("tiny_kernels\\\\x.py", "x"); },
           [](WheelBuilder& w) { w.files.emplace_back("other-1.2.0.data/purelib/x.py", "x"); },
       }) {
    auto wheel = right;
    change(wheel);
    const auto report = judged_wheel(wheel);
    CHECK_FALSE(report.pass);
    CHECK(row(report, {9, 0}).verdict == RunVerdict::yes);
  }
}

TEST_CASE("a shared object that .data/data puts beside the libraries of Python is judged, and no module of it") {
  WheelBuilder wheel;
  auto module = demo_module("_k", {});
  module.runpath = "/home/me/build";
  module.more = {{".nv_fatbin", plain({90}), 1, 0}};
  const std::string path = "tiny_kernels-1.2.0.data/data/lib/libk.so";
  wheel.files.emplace_back(path, module.build());
  const auto report = judged_wheel(wheel);
  CHECK(trouble(report, "INF129").empty());  // its place is where it goes, whatever WHEEL calls pure
  REQUIRE_FALSE(trouble(report, "ELF003").empty());
  CHECK(trouble(report, "ELF003")[0].where == path);
  CHECK(row(report, {9, 0}).verdict == RunVerdict::yes);
  CHECK(row(report, {8, 0}).verdict == RunVerdict::unknown);  // nothing imports it: the package may do without
  for (const auto& finding : report.findings) CHECK_FALSE((finding.code == "PYA002" && finding.where == path));
}

TEST_CASE("an entry that says one arch and holds another runs on no GPU that would take it") {
  FatbinBuilder fatbin;
  fatbin.cubin(90, 0, cubin(90));
  fatbin.cubin(120, 0, cubin(90));
  const auto report = judged_wheel(stranger({{"_k", fatbin.build()}}));
  CHECK_FALSE(trouble(report, "FAT008").empty());
  CHECK(row(report, {9, 0}).verdict == RunVerdict::yes);
  CHECK(row(report, {12, 0}).verdict == RunVerdict::no);
  CHECK(reason_has(row(report, {12, 0}), "FAT008"));
  CHECK(row(report, {12, 0}).failing == Names{"tiny_kernels._k"});
}

TEST_CASE("one wrong entry among right ones of its arch leaves a part") {
  FatbinBuilder right, wrong;
  right.cubin(120, 0, cubin(120));
  wrong.cubin(120, 0, cubin(90));
  const auto report = judged_wheel(stranger({{"_k", right.build() + wrong.build()}}));
  CHECK(row(report, {12, 0}).verdict == RunVerdict::part);
}

TEST_CASE("code that cannot be read is unknown, and no yes") {
  FatbinBuilder fatbin;
  fatbin.cubin(90, 0, cubin(90));
  fatbin.cubin(120, 0, std::string(200, 'x'));
  const auto image = judged_wheel(stranger({{"_k", fatbin.build()}}));
  CHECK(row(image, {9, 0}).verdict == RunVerdict::yes);
  CHECK(row(image, {12, 0}).verdict == RunVerdict::unknown);
  const auto cut = plain({90});
  const auto container = judged_wheel(stranger({{"_k", plain({80}) + cut.substr(0, cut.size() / 2)}}));
  CHECK(row(container, {8, 0}).verdict == RunVerdict::unknown);
  CHECK(row(container, {9, 0}).verdict == RunVerdict::unknown);
}

TEST_CASE("a module that has its runtime linked in tells its CUDA by the toolkit's other libraries") {
  const auto loads = [](const char* library) {
    MemberFacts member;
    member.elf.emplace().needed = {"libc.so.6", library};
    return cuda_runtime(member);
  };
  CHECK(loads("libcudart.so.12") == "12");
  CHECK(loads("libnvrtc.so.12") == "12");
  CHECK(loads("libcublasLt.so.13") == "13");
  CHECK(loads("libnvJitLink.so.13") == "13");
  // Their numbers are not the toolkit's.
  for (const auto* other : {"libcufft.so.11", "libcurand.so.10", "libcudnn.so.9", "libnvrtc-builtins.so.12.8"})
    CHECK(loads(other).empty());
}

TEST_CASE("a GPU on one chip with its CPU takes the code of others from some CUDA on") {
  const auto only = judged_wheel(stranger({{"_k", plain({80})}}));
  CHECK(row(only, {8, 6}).verdict == RunVerdict::yes);
  CHECK(row(only, {8, 7}).verdict == RunVerdict::unknown);
  CHECK(reason_has(row(only, {8, 7}), "has code for 8.0 and none for 8.7: CUDA 13.2 and newer load the first"));
  CHECK(row(judged_wheel(stranger({{"_k", plain({80, 87})}})), {8, 7}).verdict == RunVerdict::yes);
  FatbinBuilder both;  // its PTX serves an older CUDA there, too
  both.ptx(80, 0, sample_ptx("sm_80"));
  CHECK(row(judged_wheel(stranger({{"_k", plain({80}) + both.build()}})), {8, 7}).verdict == RunVerdict::jit);
}

TEST_CASE("a module that Python cannot import runs nowhere") {
  const auto report = judged_wheel(stranger({{"_k", plain({90})}}, "_other"));
  CHECK_FALSE(trouble(report, "PYA002").empty());
  CHECK(row(report, {9, 0}).verdict == RunVerdict::no);
  CHECK(reason_has(row(report, {9, 0}), "_k does not load (PYA002"));
  for (const auto& one : report.runs_on) CHECK(one.verdict == RunVerdict::no);
}

TEST_CASE("a module of the package that cannot be imported leaves a part of any GPU, known dispatch or not") {
  auto wheel = stranger({{"_k", plain({90})}});
  auto broken = demo_module("_other", {});
  broken.undefined = {"PyModule_Create2"};
  wheel.files.emplace_back("tiny_kernels/_broken" + k_suffix, broken.build());
  const auto strange = judged_wheel(wheel);
  CHECK(row(strange, {9, 0}).verdict == RunVerdict::part);
  CHECK(row(strange, {9, 0}).failing == Names{"tiny_kernels._broken"});

  DemoBuild demo;
  demo.files["demo/_b" + k_suffix] = demo_module("_other", {{90, 'a'}}).build();
  const auto report = judge_build(demo, demo_spec());
  CHECK(row(report, {9, 0}).verdict == RunVerdict::no);  // calls it
  CHECK(reason_has(row(report, {9, 0}), "it would call _b, which does not load (PYA002"));
  CHECK(row(report, {8, 0}).verdict == RunVerdict::part);  // does not
  CHECK(row(report, {8, 0}).failing == Names{"demo._b"});
  CHECK(row(report, {8, 6}).verdict == RunVerdict::part);
}

TEST_CASE("a module that was built and is not there leaves a part where the package does not call it") {
  DemoBuild demo;
  demo.files.erase("demo/_b" + k_suffix);
  const auto report = judge_build(demo, demo_spec());
  CHECK_FALSE(trouble(report, "CNT002").empty());
  CHECK(row(report, {9, 0}).verdict == RunVerdict::no);  // calls it
  for (const Capability other : {Capability{8, 0}, Capability{8, 6}}) {
    CHECK(row(report, other).verdict == RunVerdict::part);
    CHECK(row(report, other).failing == Names{"demo._b"});
    CHECK(reason_has(row(report, other),
                     "_b is not there (CNT002), and whether the package imports without it is not known"));
  }
  // Built for 8.0 alone it needs none.
  demo.build.cell.arches.pop_back();
  demo.build.cell.gencode.pop_back();
  CHECK(row(judge_build(demo, demo_spec()), {8, 6}).failing.empty());
}

TEST_CASE("a suffix of one Python in a wheel for many leaves a part, in a wheel for another nothing") {
  auto wheel = stranger({});
  wheel.files.emplace_back("tiny_kernels/_k" + k_suffix, demo_module("_k", {{90, 0}}).build());
  wheel.file_name = "tiny_kernels-1.2.0-cp312-abi3-manylinux_2_28_x86_64.whl";
  CHECK(row(judged_wheel(wheel), {9, 0}).verdict == RunVerdict::part);
  wheel.file_name = "tiny_kernels-1.2.0-cp311-cp311-manylinux_2_28_x86_64.whl";
  CHECK(row(judged_wheel(wheel), {9, 0}).verdict == RunVerdict::no);
}

TEST_CASE("without dispatch some modules are a part, and the row names those that lack the code") {
  const auto report =
      judged_wheel(stranger({{"_a", plain({80, 90})}, {"_b", plain({90})}, {"_c", plain({90})}, {"_d", plain({90})}}));
  CHECK(row(report, {9, 0}).verdict == RunVerdict::yes);
  CHECK(row(report, {9, 0}).failing.empty());
  const RunsOn& old = row(report, {8, 0});
  CHECK(old.verdict == RunVerdict::part);
  CHECK(old.modules == Names{"tiny_kernels._a"});
  CHECK(old.failing == Names{"tiny_kernels._b", "tiny_kernels._c", "tiny_kernels._d"});
  CHECK(old.reason ==
        "3 of 4 modules with GPU code have none for it: _b, _c, _d; which the package calls is not known");
  CHECK(row(report, {12, 0}).reason == "no module has code for it");
}

TEST_CASE("PTX in one module is a jit for the whole, where all have something") {
  FatbinBuilder ptx;
  ptx.ptx(80, 0, sample_ptx("sm_80"));
  CHECK(row(judged_wheel(stranger({{"_a", plain({90})}, {"_b", ptx.build()}})), {9, 0}).verdict == RunVerdict::jit);
}

TEST_CASE("a package that cannot be imported at all runs nowhere") {
  DemoBuild demo;
  demo.files.erase("demo/__init__.py");
  const auto report = judge_build(demo, demo_spec());
  for (const auto& one : report.runs_on) CHECK(one.verdict == RunVerdict::no);
  CHECK(reason_has(row(report, {8, 0}), "cannot be imported (CNT003"));
}

TEST_CASE("a check that was required and could not be made says nothing of where a wheel runs") {
  VerifyOptions options;
  options.require = {"IMP"};
  const auto report = judged_wheel(stranger({{"_a", plain({90})}}), options);
  CHECK_FALSE(trouble(report, "IMP001").empty());
  CHECK(row(report, {9, 0}).verdict == RunVerdict::yes);
}

TEST_CASE("the JSON names the modules that fail") {
  const auto json = verify_json({judged_wheel(stranger({{"_a", plain({80})}, {"_b", plain({90})}}))}, false);
  CHECK(json.find("\"verdict\": \"part\"") != std::string::npos);
  CHECK(json.find("\"failing_modules\": [") != std::string::npos);
}
