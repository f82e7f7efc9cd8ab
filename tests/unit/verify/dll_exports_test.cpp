// WIN007: imports of Windows modules against the export tables of real DLLs; WIN008: was it ever run there?
#include "unit/verify/module_package.hpp"
#include "verify/build_provenance.hpp"

using namespace sagekit;
using namespace sagekit::test;

namespace {

/// A torch for Windows as `toolchain fetch` lays it out: DLLs of names alone, beside the RECORD of the wheel.
class WindowsTorch {
 public:
  explicit WindowsTorch(const std::string& version, const std::vector<std::string>& of_cpu) {
    torch.root = m_folder.path() / "torch";
    torch.version = version;
    torch.cuda = "13.0";
    torch.platform = "win_amd64";
    torch.ready = true;
    dll("torch_cpu.dll", of_cpu);
    dll("cudart64_13.dll", {"cudaLaunchKernel"});
    dll("torch_cuda.dll", {"aoti_torch_get_current_cuda_stream"});
    record("torch/lib/torch_cpu.dll,sha256=x,1\n");
  }

  void dll(const std::string& name, const std::vector<std::string>& exports) {
    PeBuilder pe;
    pe.imports = {};
    pe.exports = exports;
    std::ranges::sort(pe.exports);
    REQUIRE(write_file_atomic(torch.root / "lib" / name, pe.build()));
  }
  void record(const std::string& rows) {
    REQUIRE(write_file_atomic(m_folder.path() / ("torch-" + torch.version + ".dist-info/RECORD"), rows));
  }

  TorchSysroot torch;

 private:
  TemporaryFolder m_folder = scratch();
};

/// For torch 2.9 and every newer one.
ModulePackage wheel_with(const PeImports& imports, const std::vector<TorchSysroot>& torches) {
  PeBuilder pe;
  pe.imports = imports;
  pe.exports = {"PyInit__a"};
  ModulePackage package;
  package.name = "tiny-1.0+cu130.torch2.9andhigher-cp310-abi3-win_amd64.whl";
  package.requires_dist = {"torch>=2.9"};
  package.files = {{"tiny/_a.pyd", pe.build()}};
  package.torches = torches;
  return package;
}

const PeImports k_right = {{"python3.dll", {"PyModule_Create2"}},
                           {"torch_cpu.dll", {"aoti_torch_get_dim"}},
                           {"cudart64_13.dll", {"cudaLaunchKernel"}},
                           {"nvcuda.dll", {"cuTensorMapEncodeTiled"}}};

bool tells(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("names of every torch for Windows that is here pass, and the torches are named") {
  const WindowsTorch old("2.9.1", {"aoti_torch_get_dim"}), young("2.11.0", {"aoti_torch_get_dim"});
  const auto report = wheel_with(k_right, {young.torch, old.torch}).judge();
  CHECK(passed(report, "WIN007"));
  CHECK(tells(told(report, "WIN007"), "cudart64_13.dll and torch_cpu.dll of torch 2.9.1, 2.11.0"));
}

TEST_CASE("the first torch whose DLL lacks a name is said, with the DLL") {
  const WindowsTorch old("2.9.1", {"aoti_torch_get_dim"}), young("2.11.0", {});
  CHECK(tells(said_of(wheel_with(k_right, {young.torch, old.torch}).judge(), "WIN007"),
              "torch 2.11.0 does not export aoti_torch_get_dim (torch_cpu.dll)"));
  auto imports = k_right;
  imports[2].second = {"cudaNobodyHasThis"};
  check_fails(wheel_with(imports, {young.torch, old.torch}), "WIN007", "torch 2.9.1 does not export cudaNobodyHasThis");
}

TEST_CASE("without a torch nothing is passed, and the command that brings one is said") {
  const auto report = wheel_with(k_right, {}).judge();
  const auto found = trouble(report, "WIN007");
  REQUIRE(found.size() == 1);
  CHECK(found[0].result == FindingResult::skipped);
  CHECK(tells(found[0].message, "not checked"));
  CHECK(tells(found[0].hint, "--torch 2.9.1 --cuda 13.0 --platform win_amd64"));
}

TEST_CASE("a torch for another platform, CUDA or older than the wheel's is none of its own") {
  WindowsTorch linux_torch("2.11.0", {}), other("2.11.0", {}), old("2.8.0", {});
  linux_torch.torch.platform = "linux_x86_64";
  other.torch.cuda = "12.8";
  const auto found = trouble(wheel_with(k_right, {linux_torch.torch, other.torch, old.torch}).judge(), "WIN007");
  REQUIRE(found.size() == 1);
  CHECK(found[0].result == FindingResult::skipped);
}

TEST_CASE("a DLL that torch's wheel does not have proves nothing, whatever lies under its name") {
  WindowsTorch torch("2.11.0", {"aoti_torch_get_dim"});
  auto imports = k_right;
  imports.push_back({"torch_cuda.dll", {"aoti_torch_get_current_cuda_stream"}});
  const auto found = trouble(wheel_with(imports, {torch.torch}).judge(), "WIN007");
  REQUIRE(found.size() == 1);
  CHECK(found[0].result == FindingResult::skipped);
  CHECK(tells(found[0].message, "torch_cuda.dll is not here"));
  // A torch with CUDA has it.
  torch.record("torch/lib/torch_cpu.dll,sha256=x,1\ntorch/lib/torch_cuda.dll,sha256=x,1\n");
  CHECK(passed(wheel_with(imports, {torch.torch}).judge(), "WIN007"));
}

TEST_CASE("what Python has on other systems only is missed in its DLL, whatever torch is here") {
  auto imports = k_right;
  imports[0].second.push_back("PyOS_AfterFork_Child");
  check_fails(wheel_with(imports, {}), "WIN007", "python3.dll does not export PyOS_AfterFork_Child");
}

TEST_CASE("a damaged DLL proves nothing") {
  const WindowsTorch torch("2.11.0", {"aoti_torch_get_dim"});
  REQUIRE(write_file_atomic(torch.torch.root / "lib/torch_cpu.dll", "MZ and nothing else"));
  const auto found = trouble(wheel_with(k_right, {torch.torch}).judge(), "WIN007");
  REQUIRE(found.size() == 1);
  CHECK(found[0].result == FindingResult::skipped);
}

namespace {

DemoBuild windows_demo() {
  DemoBuild demo;
  demo.build.cell.platform = "win_amd64";
  return demo;
}

}  // namespace

TEST_CASE("a wheel for Windows is called experimental in its record until somebody ran its commit there") {
  auto spec = demo_spec();
  const auto demo = windows_demo();
  const auto& revision = spec.source.revisions.at(0);
  const auto record = read_provenance(provenance_json(spec, revision, demo.build));
  REQUIRE(record);
  CHECK(record->experimental == "built, not run on Windows");
  CHECK(provenance_of(spec, demo.build).experimental == "built, not run on Windows");

  Artifact artifact;
  artifact.provenance = *record;
  artifact.spec = &spec;
  CHECK(artifact.experimental() == "built, not run on Windows");
  spec.verify.ran = {{"win_amd64", std::string(40, 'f'), "a GPU", "2.11.0", "a thread"}};  // another commit
  CHECK_FALSE(artifact.experimental().empty());
  spec.verify.ran = {{"win_amd64", revision.commit, "a GPU", "2.11.0", "a thread"}};
  CHECK(artifact.experimental().empty());  // of the wheel that was made before the report
  CHECK_FALSE(tells(provenance_json(spec, revision, demo.build), "experimental"));
  const DemoBuild linux_demo;
  CHECK_FALSE(tells(provenance_json(demo_spec(), revision, linux_demo.build), "experimental"));
}

TEST_CASE("nobody knows of a stranger's wheel without a record whether it was run") {
  const auto found = trouble(wheel_with(k_right, {}).judge(), "WIN008");
  REQUIRE(found.size() == 1);
  CHECK(found[0].result == FindingResult::skipped);
  CHECK(tells(found[0].message, "no record"));
}

TEST_CASE("who is told that it runs on a GPU is told that nobody saw it") {
  const auto spec = demo_spec();
  Artifact artifact;
  artifact.provenance.commit = spec.source.revisions.at(0).commit;
  artifact.provenance.platform = "win_amd64";
  artifact.provenance.experimental = "built, not run on Windows";
  artifact.spec = &spec;
  artifact.revision = &spec.source.revisions.at(0);
  for (const auto& [name, bytes] : DemoBuild().files)
    if (name.ends_with(".so")) artifact.members.push_back(read_module(name, Bytes(bytes), {}, 1).facts);
  std::ranges::sort(artifact.members, {}, &MemberFacts::path);
  const auto table = runs_on(artifact, {});
  CHECK(std::ranges::any_of(table, [](const RunsOn& row) { return row.verdict != RunVerdict::no; }));
  for (const auto& row : table)
    CHECK(tells(row.reason, "built, not run on Windows") == (row.verdict != RunVerdict::no));
}
