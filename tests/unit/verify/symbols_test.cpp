#include "elf/symbol_name.hpp"
#include "support/text.hpp"
#include "support/wheel_builder.hpp"
#include "unit/verify/fixture.hpp"

using namespace sagekit;
using namespace sagekit::test;

namespace {

const std::string k_error = "_ZN3c105ErrorC1ENS_14SourceLocationE";  // c10::Error

/// A torch of four libraries: libtorch needs the others, as the real one does.
class FakeTorch {
 public:
  explicit FakeTorch(bool stubs = false) {
    library("libc10.so", {k_error}, stubs ? Names{} : Names{"libc.so.6"});
    library("libtorch_cpu.so", {"_ZN2at5emptyEv"}, stubs ? Names{} : Names{"libc10.so"});
    library("libtorch_cuda.so", {"_ZN2at4cuda4blasE"}, stubs ? Names{} : Names{"libc10.so"});
    library("libtorch.so", {}, stubs ? Names{} : Names{"libtorch_cpu.so", "libtorch_cuda.so"});
    torch.root = m_folder.path() / "torch";
    torch.version = "2.11.0";
    torch.cuda = "13.0";
    torch.platform = "linux_x86_64";
    torch.ready = true;
  }

  VerifyOptions options() const {
    VerifyOptions options;
    options.torches = {torch};
    return options;
  }
  std::filesystem::path file(const std::string& name) const { return m_folder.path() / "torch/lib" / name; }

  TorchSysroot torch;

 private:
  using Names = std::vector<std::string>;
  void library(const std::string& name, const Names& exports, const Names& needed) {
    ModuleBuilder builder;
    builder.soname = name;
    builder.runpath.clear();
    builder.needed = needed;
    builder.exports = exports;
    builder.undefined.clear();
    REQUIRE(write_file_atomic(file(name), builder.build()));
  }
  TemporaryFolder m_folder = scratch();
};

/// The demo with a module that leaves these symbols open.
DemoBuild demo_with(const std::vector<std::string>& undefined,
                    const std::vector<std::string>& needed = {"libtorch_cpu.so", "libc10.so", "libc.so.6"},
                    const std::function<void(ModuleBuilder&)>& change = {}) {
  DemoBuild demo;
  auto module = demo_module("_a", {{80, 0}, {90, 'a'}});
  module.undefined.insert(module.undefined.end(), undefined.begin(), undefined.end());
  module.needed = needed;
  if (change) change(module);
  demo.files["demo/_a" + k_suffix] = module.build();
  return demo;
}

std::vector<Finding> found_in(DemoBuild demo, const VerifyOptions& options) {
  auto spec = demo_spec();
  spec.verify.needed_allowed.push_back("*");
  return trouble(judge_build(demo, spec, options), "ELF007");
}

bool mentions(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("symbols that the declared torch has pass, and the torch is named") {
  const FakeTorch torch;
  auto demo = demo_with({k_error, "_ZN2at5emptyEv", "PyErr_SetString", "_Py_NoneStruct"});
  const auto report = judge_build(demo, demo_spec(), torch.options());
  CAPTURE(failures(report));
  CHECK(report.pass);
  REQUIRE(passed(report, "ELF007"));
  CHECK(mentions(std::ranges::find(report.findings, "ELF007", &Finding::code)->message, "torch 2.11.0"));
}

TEST_CASE("a symbol that torch lacks keeps the module from every GPU, and the package from those that it calls it on") {
  const FakeTorch torch;
  auto demo = demo_with({k_error});
  const auto right = judge_build(demo, demo_spec(), torch.options());
  REQUIRE(row(right, {8, 0}).verdict == RunVerdict::yes);
  demo = demo_with({"_ZN3c104goneEv"});
  const auto report = judge_build(demo, demo_spec(), torch.options());
  REQUIRE_FALSE(trouble(report, "ELF007").empty());
  for (const Capability gpu : {Capability{8, 0}, Capability{8, 9}, Capability{9, 0}}) {
    CHECK(row(report, gpu).verdict == RunVerdict::no);
    CHECK_MESSAGE(mentions(row(report, gpu).reason, "it would call _a, which does not load (ELF007: "),
                  row(report, gpu).reason);
  }
  CHECK(row(report, {8, 6}).verdict == RunVerdict::part);  // calls none
  CHECK(row(report, {8, 6}).failing == std::vector<std::string>{"demo._a"});
}

TEST_CASE("a symbol that the declared torch lacks fails, by name, module and torch") {
  const FakeTorch torch;
  const auto found = found_in(demo_with({"_ZN3c106detail14torchCheckFailEPKcS2_jRKSs", k_error}), torch.options());
  REQUIRE(found.size() == 1);
  CHECK(found[0].result == FindingResult::fail);
  CHECK(found[0].where == "demo/_a" + k_suffix);
  CHECK(mentions(found[0].message, "torch 2.11.0"));
  CHECK(mentions(found[0].message, "c10::detail::torchCheckFail (_ZN3c106detail14torchCheckFailEPKcS2_jRKSs)"));
  CHECK_FALSE(mentions(found[0].message, k_error));
}

TEST_CASE("many missing symbols are counted, the first are named") {
  const FakeTorch torch;
  const auto found = found_in(demo_with({"aa", "bb", "cc", "dd", "ee"}), torch.options());
  REQUIRE(found.size() == 1);
  CHECK(mentions(found[0].message, "aa, bb, cc, and 2 more"));
}

TEST_CASE("what is weak, or has another library's version, is not torch's to bring") {
  const FakeTorch torch;
  CHECK(found_in(demo_with({}, {"libtorch_cpu.so"}, [](ModuleBuilder& m) { m.undefined_weak = {"gone"}; }),
                 torch.options())
            .empty());
  CHECK(found_in(demo_with({"cudaMalloc", "gomp"}, {"libtorch_cpu.so", "libcudart.so.13", "libgomp.so.1"},
                           [](ModuleBuilder& m) {
                             m.versions.emplace_back("libcudart.so.13", std::vector<std::string>{"libcudart.so.13"});
                             m.versions.emplace_back("libgomp.so.1", std::vector<std::string>{"GOMP_4.0"});
                             m.symbol_versions = {
                                 {"malloc", "GLIBC_2.2.5"}, {"cudaMalloc", "libcudart.so.13"}, {"gomp", "GOMP_4.0"}};
                           }),
                 torch.options())
            .empty());
}

TEST_CASE("the driver's names are the driver's only where it is needed") {
  const FakeTorch torch;
  CHECK(found_in(demo_with({"cuTensorMapEncodeTiled"}, {"libtorch_cpu.so", "libcuda.so.1"}), torch.options()).empty());
  CHECK(found_in(demo_with({"cuTensorMapEncodeTiled"}), torch.options()).size() == 1);
}

TEST_CASE("the loader's reach counts: what needed libraries need, and nothing beside it") {
  const FakeTorch torch;
  CHECK(found_in(demo_with({k_error}, {"libtorch_cpu.so"}), torch.options()).empty());
  CHECK(found_in(demo_with({"_ZN2at4cuda4blasE"}, {"libtorch.so"}), torch.options()).empty());
  CHECK(found_in(demo_with({"_ZN2at4cuda4blasE"}, {"libtorch_cpu.so"}), torch.options()).size() == 1);
  const FakeTorch stubs(true);  // stubs name no libraries
  CHECK(found_in(demo_with({"_ZN2at4cuda4blasE"}, {"libtorch_cpu.so"}), stubs.options()).empty());
  CHECK(found_in(demo_with({"gone"}, {"libtorch_cpu.so"}), stubs.options()).size() == 1);
}

TEST_CASE("a module for every torch from one on is judged without a copy of any") {
  const auto for_every_torch = [](const std::vector<std::string>& undefined) {
    auto demo = demo_with(undefined);
    demo.build.cell.torch_min = "2.9";
    return found_in(std::move(demo), {});
  };
  CHECK(for_every_torch({"aoti_torch_get_dim", "aoti_torch_new_tensor_handle"}).empty());
  const auto newer = for_every_torch({"aoti_torch_get_dim", "torch_call_dispatcher"});
  REQUIRE(newer.size() == 1);
  CHECK(newer[0].result == FindingResult::fail);
  CHECK(mentions(newer[0].message, "torch 2.9 does not have torch_call_dispatcher"));
  const auto nobodys = for_every_torch({"aoti_torch_get_dim", "aoti_torch_nobody_has_this"});
  REQUIRE(nobodys.size() == 1);
  CHECK(mentions(nobodys[0].message, "aoti_torch_nobody_has_this"));
}

TEST_CASE("a module that should need torch and needs none of it has every symbol open") {
  const FakeTorch torch;
  const auto found = found_in(demo_with({k_error}, {"libc.so.6"}), torch.options());
  REQUIRE(found.size() == 1);
  CHECK(found[0].result == FindingResult::fail);
}

TEST_CASE("what another module of the wheel exports is there, when it is needed") {
  const FakeTorch torch;
  const auto together = [](const std::string& needed) {
    auto demo = demo_with({"answer"}, {"libtorch_cpu.so", needed});
    return demo;
  };
  CHECK(found_in(together("raw.so"), torch.options()).empty());
  CHECK(found_in(together("libc.so.6"), torch.options()).size() == 1);
}

TEST_CASE("without a torch of exactly that version, CUDA and CPU the check is skipped, with the way to get one") {
  const auto skipped = [](const TorchSysroot& torch) {
    VerifyOptions options;
    options.torches = {torch};
    options.fetch_flags = " --store k";
    const auto found = found_in(demo_with({"gone"}), options);
    REQUIRE(found.size() == 1);
    CHECK(found[0].result == FindingResult::skipped);
    CHECK(found[0].hint.ends_with(" --store k"));
    CHECK(mentions(found[0].message, "no torch 2.11.0 for CUDA 13.0 on x86_64 here"));
    CHECK(found[0].hint.starts_with("sagekit toolchain fetch --no-nvcc --torch 2.11.0 --cuda "));
  };
  const FakeTorch fake;
  auto torch = fake.torch;
  torch.version = "2.10.0";
  skipped(torch);
  torch = fake.torch;
  torch.cuda = "12.8";
  skipped(torch);
  torch = fake.torch;
  torch.platform = "linux_aarch64";
  skipped(torch);
  torch = fake.torch;
  torch.ready = false;
  skipped(torch);
}

TEST_CASE("skipped fails where the family is required") {
  VerifyOptions options;
  options.require = {"ELF"};
  const auto found = found_in(demo_with({}), options);
  REQUIRE_FALSE(found.empty());
  CHECK(found[0].result == FindingResult::fail);
}

TEST_CASE("an open symbol that a library nobody has here may bring is skipped, not failed") {
  const FakeTorch torch;
  const auto found = found_in(demo_with({"ncclSend"}, {"libtorch_cpu.so", "libnccl.so.2"}), torch.options());
  REQUIRE(found.size() == 1);
  CHECK(found[0].result == FindingResult::skipped);
  CHECK(mentions(found[0].message, "ncclSend may come from libnccl.so.2"));
}

TEST_CASE("a torch that cannot be read is said to be the reason") {
  const FakeTorch torch;
  REQUIRE(write_file_atomic(torch.file("libtorch_cpu.so"), "not a library"));
  const auto found = found_in(demo_with({"gone"}), torch.options());
  REQUIRE(found.size() == 1);
  CHECK(found[0].result == FindingResult::skipped);
  CHECK(mentions(found[0].message, "cannot be read"));
}

TEST_CASE("a stranger's wheel is judged by the torch that its METADATA pins") {
  const auto judge = [](const std::string& requirement, const std::string& symbol, const VerifyOptions& options) {
    WheelBuilder wheel;
    wheel.metadata = replace_all(wheel.metadata, "torch==2.11.*", requirement);
    auto module = demo_module("_k", {{80, 0}});
    module.undefined.push_back(symbol);
    wheel.files.emplace_back("tiny_kernels/_k" + k_suffix, module.build());
    const auto folder = scratch();
    const auto file = folder.path() / wheel.file_name;
    REQUIRE(write_file_atomic(file, wheel.zip().build()));
    ScriptedRunner runner;
    const auto report = verify_wheel(file, "", {}, options, runner);
    REQUIRE(report);
    const auto found = std::ranges::find(report->findings, "ELF007", &Finding::code);
    REQUIRE(found != report->findings.end());
    return *found;
  };
  const FakeTorch torch;
  const auto options = torch.options();
  CHECK(judge("torch==2.11.*", k_error, options).result == FindingResult::pass);
  CHECK(judge("torch (==2.11.0+cu130)", k_error, options).result == FindingResult::pass);
  CHECK(judge("torch==2.11.*; sys_platform == \"linux\"", "gone", options).result == FindingResult::fail);
  const auto other = judge("torch==2.10.*", "gone", options);
  CHECK(other.result == FindingResult::skipped);
  CHECK(other.hint.starts_with("sagekit toolchain fetch --no-nvcc --torch 2.10.0 --cuda "));
  CHECK(judge("torch==2.1", "gone", options).result == FindingResult::skipped);  // not 2.11
  CHECK(judge("torch>=2.6", "gone", options).result == FindingResult::skipped);
}

TEST_CASE("mangled names become words, and others stay as they are") {
  CHECK(readable_name("_ZNK3c105Error4whatEv") == "c10::Error::what");
  CHECK(readable_name("_ZTVN3c105ErrorE") == "vtable of c10::Error");
  CHECK(readable_name("_ZTIN3c105ErrorE") == "typeinfo of c10::Error");
  CHECK(readable_name("_ZNSt13runtime_errorC1EPKc") == "std::runtime_error");
  CHECK(readable_name("_ZdlPvm") == "operator delete");
  CHECK(readable_name("_Z5helloi") == "hello");
  for (const auto* plain : {"memcpy", "_Z", "_ZN", "_ZN99999xE", "_ZN0E", "_ZNSaIcE", ""})
    CHECK(readable_name(plain) == plain);
}
