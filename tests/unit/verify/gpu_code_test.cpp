#include "unit/verify/fixture.hpp"

using namespace sagekit;
using namespace sagekit::test;

namespace {

using Code = std::vector<sass::Instruction>;

const Code k_full = {sass::set_stack, sass::store, sass::exit, sass::endless},
           k_trap = {sass::set_stack, sass::trap, sass::endless},
           k_empty = {sass::set_stack, sass::exit, sass::endless},
           // FP8 under an arch guard: one path of the kernel needs it, the other does not.
    k_fp8 = {sass::set_stack, sass::skip_one_if, sass::qmma, sass::hmma, sass::store, sass::exit, sass::endless},
           k_fp8_on_80 = {sass::set_stack, sass::old_skip_one_if, sass::trap, sass::hmma, sass::store,
                          sass::exit,      sass::endless},
           // A check of the arguments that traps, unrolled further on one arch.
    k_checks = {sass::set_stack, sass::store, sass::trap, sass::hmma, sass::exit, sass::endless},
           k_checks_twice = {sass::set_stack, sass::store, sass::trap, sass::trap,
                             sass::hmma,      sass::hmma,  sass::exit, sass::endless};

struct Kernel {
  unsigned sm = 90;
  char suffix = 'a';
  std::vector<std::pair<std::string, Code>> kernels = {{"one", k_full}, {"two", k_full}};
  unsigned toolkit = 130;
  std::optional<unsigned> virtual_sm = {};
};

std::string fatbin_of(const std::vector<Kernel>& images) {
  FatbinBuilder fatbin;
  for (const auto& image : images) {
    CubinBuilder cubin;
    cubin.sm = image.sm;
    cubin.accelerated = image.suffix == 'a';
    cubin.options = "-arch sm_" + std::to_string(image.sm) + (image.suffix ? std::string(1, image.suffix) : "");
    cubin.toolkit = image.toolkit;
    cubin.virtual_sm = image.virtual_sm;
    cubin.kernels.clear();
    for (const auto& [name, code] : image.kernels) cubin.bodies.push_back({.name = name, .code = code});
    fatbin.cubin(image.sm, image.suffix, cubin.build());
  }
  return fatbin.build();
}

/// `demo._a`, for 8.0 and 9.0a, with these images.
WheelReport judged(const std::vector<Kernel>& images, const std::string& policy = "own",
                   const Spec& spec = demo_spec()) {
  DemoBuild demo;
  auto module = demo_module("_a", {});
  module.more = {{".nv_fatbin", fatbin_of(images), 1, 0}};
  demo.files["demo/_a" + k_suffix] = module.build();
  VerifyOptions options;
  options.policy = policy;
  return judge_build(demo, spec, options);
}

Kernel for_80() { return {.sm = 80, .suffix = 0}; }

std::vector<std::string> results(const WheelReport& report, std::string_view code) {
  std::vector<std::string> all;
  for (const auto& one : report.findings)
    if (one.code == code && one.where == "demo/_a" + k_suffix)
      all.push_back(one.result == FindingResult::fail ? "fail" : one.result == FindingResult::warn ? "warn" : "note");
  return all;
}

using Results = std::vector<std::string>;

bool says(const WheelReport& report, std::string_view code, std::string_view part) {
  return std::ranges::any_of(report.findings, [&](const Finding& one) {
    return one.code == code && (one.message + one.hint).find(part) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("kernels with bodies on each arch pass every rule of GPU code") {
  const auto report = judged({for_80(), {}});
  for (const auto code : {"FAT106", "FAT107", "FAT108", "FAT109", "FAT112", "FAT113", "FAT114"}) {
    CAPTURE(code);
    CHECK(results(report, code).empty());
    CHECK(passed(report, code));
  }
}

TEST_CASE("a trap on one arch fails our own wheel and warns of others'") {
  Kernel hollow;
  hollow.kernels[1].second = k_trap;
  CHECK(results(judged({for_80(), hollow}), "FAT109") == Results{"fail"});
  CHECK(results(judged({for_80(), hollow}, "others"), "FAT109") == Results{"warn"});
  CHECK(says(judged({for_80(), hollow}), "FAT109", "2 kernels for 9.0a 1 is a trap, such as two"));
}

TEST_CASE("a kernel that is empty on one arch only is hollow there, one that is empty everywhere is meant so") {
  Kernel empty_90, empty_80 = for_80();
  empty_90.kernels[0].second = k_empty;
  CHECK(results(judged({for_80(), empty_90}), "FAT109") == Results{"fail"});
  empty_80.kernels[0].second = k_empty;
  const auto everywhere = judged({empty_80, empty_90});
  CHECK(results(everywhere, "FAT109") == Results{"note"});
  CHECK(everywhere.pass == judged({for_80(), {}}).pass);
}

TEST_CASE("traps among other instructions are a fault where another arch has tensor-core instructions") {
  Kernel for_90;
  for_90.kernels[1].second = k_fp8;
  Kernel old = for_80();
  old.kernels[1].second = k_fp8_on_80;
  const auto report = judged({old, for_90});
  CHECK(results(report, "FAT109") == Results{"fail"});
  CHECK(says(report, "FAT109", "2 kernels for 8.0 1 has traps where its image for another arch has tensor-core"));
  CHECK(row(report, {8, 0}).verdict == RunVerdict::part);
  CHECK(row(report, {8, 0}).reason.find("1 of 2 kernels") != std::string::npos);
  CHECK(row(report, {8, 0}).failing == std::vector<std::string>{"demo._a"});
  CHECK(results(judged({old, for_90}, "others"), "FAT109") == Results{"warn"});
}

TEST_CASE("checks that trap are no fault, however often an arch has them") {
  Kernel for_90;
  for_90.kernels[1].second = k_checks_twice;
  Kernel old = for_80();
  old.kernels[1].second = k_checks;
  for (const auto& images : {std::vector{old, for_90}, std::vector{old}, std::vector{for_90}})
    CHECK(results(judged(images), "FAT109").empty());
}

TEST_CASE("the image that the driver loads decides: machine code for 8.0 on an 8.9 GPU") {
  Kernel old = for_80();
  for (auto& [name, code] : old.kernels)
    code = {sass::set_stack, sass::hmma, sass::shuffle, sass::trap, sass::store, sass::exit};
  const auto report = judged({old, {}});
  CHECK(results(report, "FAT108") == Results{"fail"});
  CHECK(row(report, {8, 0}).verdict == RunVerdict::no);
  CHECK(row(report, {8, 9}).verdict == RunVerdict::no);
  CHECK(row(report, {8, 9}).reason.find("no kernel for 8.0 that does anything") != std::string::npos);
  // With an image of its own it does not load the older one.
  const auto both = judged({old, {.sm = 89, .suffix = 0}, {}});
  CHECK(row(both, {8, 0}).verdict == RunVerdict::no);
  CHECK(row(both, {8, 9}).verdict == RunVerdict::yes);
}

TEST_CASE("traps in a module that the package does not call on that GPU are only told") {
  auto spec = demo_spec();
  std::erase_if(spec.dispatch, [](const DispatchSpec& row) { return row.capability.major == 8; });
  Kernel hollow = for_80();
  hollow.kernels[1].second = k_trap;
  CHECK(results(judged({hollow, {}}, "own", spec), "FAT109") == Results{"note"});
  CHECK(results(judged({hollow, {}}), "FAT109") == Results{"fail"});
}

TEST_CASE("a module that does nothing on an arch is named as such") {
  Kernel hollow;
  for (auto& [name, code] : hollow.kernels) code = k_empty;
  const auto report = judged({for_80(), hollow});
  CHECK(results(report, "FAT108") == Results{"fail"});
  CHECK(results(report, "FAT109").empty());
  CHECK(says(report, "FAT108", "none of its 2 kernels does anything on 9.0a: 2 are empty"));
}

TEST_CASE("machine code of another virtual arch than asked for is found") {
  Kernel old;
  old.virtual_sm = 80;
  CHECK(results(judged({for_80(), old}), "FAT106") == Results{"fail"});
  CHECK(results(judged({for_80(), old}, "others"), "FAT106") == Results{"note"});
  CHECK(says(judged({for_80(), old}), "FAT106", "9.0a was compiled from compute_80"));
}

TEST_CASE("local memory over the plugin's limit is found") {
  auto spec = demo_spec();
  Kernel spilling;
  spilling.kernels[0].second = {sass::set_stack, sass::store_local_16, sass::load_local_4, sass::store, sass::exit};
  CHECK(results(judged({for_80(), spilling}, "own", spec), "FAT110").empty());
  spec.verify.local_bytes_max = 20;
  CHECK(results(judged({for_80(), spilling}, "own", spec), "FAT110").empty());
  CHECK(passed(judged({for_80(), spilling}, "own", spec), "FAT110"));
  spec.verify.local_bytes_max = 19;
  CHECK(results(judged({for_80(), spilling}, "own", spec), "FAT110") == Results{"warn"});
}

TEST_CASE("code of an nvcc that cannot build the arch is found") {
  auto spec = demo_spec();
  for (auto& row : spec.arches) row.cuda = *parse_version_range(">=12.8");
  Kernel old;
  old.toolkit = 124;
  CHECK(results(judged({for_80(), {}}, "own", spec), "FAT114").empty());
  CHECK(results(judged({for_80(), old}, "own", spec), "FAT114") == Results{"fail"});
  CHECK(says(judged({for_80(), old}, "own", spec), "FAT114", "made by nvcc 12.4, but 9.0 needs >=12.8"));
}

TEST_CASE("images without any kernel, fatbins without a wrapper and PTX for one GPU are found") {
  Kernel none;
  none.kernels.clear();
  CHECK(results(judged({none}, "others"), "FAT113") == Results{"note"});
  CHECK(results(judged({for_80(), {}}), "FAT111") == Results{"note"});

  DemoBuild demo;
  auto module = demo_module("_a", {});
  FatbinBuilder fatbin;
  fatbin.ptx(90, 'a', sample_ptx("sm_90a"));
  module.more = {{".nv_fatbin", fatbin.build(), 1, 0}};
  demo.files["demo/_a" + k_suffix] = module.build();
  const auto report = judge_build(demo, demo_spec());
  CHECK(results(report, "FAT107") == Results{"warn"});
  CHECK(says(report, "FAT107", "exactly that GPU"));
}

TEST_CASE("where only PTX is there for an arch, the finding says what that costs") {
  DemoBuild demo;
  auto module = demo_module("_a", {});
  module.more = {fatbin_section({{80, 0}}, {80})};
  demo.files["demo/_a" + k_suffix] = module.build();
  const auto report = judge_build(demo, demo_spec());
  CHECK(results(report, "FAT101") == Results{"fail"});
  CHECK(says(report, "FAT101", "PTX for 8.0 is all there is for 9.0a"));
}
