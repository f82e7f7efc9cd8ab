#pragma once
// A small spec with everything a judge looks at, and the staged files of one of its cells: right by default, wrong
// where a test changes them.

#include "support/fatbin_builder.hpp"
#include "support/file.hpp"
#include "support/sha256.hpp"

#include <sagekit/command.hpp>
#include <sagekit/spec.hpp>
#include <sagekit/verify.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace sagekit::test {

inline constexpr std::string_view k_commit = "1111111111111111111111111111111111111111";

/// `demo._a` for 8.0 and 9.0, takes PTX; `demo._b` for 9.0a only; `demo/raw.so` for ctypes.
inline const std::string k_demo_toml = R"(
schema = 1
[plugin]
name = "demo"
version = "0.1.0"
license = "Apache-2.0"
[source]
url = "https://example.org/demo"
default = "1111111111111111111111111111111111111111"
[[source.revision]]
commit = "1111111111111111111111111111111111111111"
tree = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
date = "2026-01-17T17:43:28Z"
version = "1.2.0"
names = ["main"]
defects = []
[[source.revision]]
commit = "2222222222222222222222222222222222222222"
tree = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
date = "2025-01-01T00:00:00Z"
version = "1.1.0"
names = ["v1.1.0"]
defects = ["traps"]
[[source.defect]]
id = "twice"
message = "the fake replaces the kernel"
capabilities = ["9.0"]
refuse = true
duplicate_def_file = "demo/ops.py"
source = "thread 1"
[[source.defect]]
id = "traps"
message = "kernels are traps"
refuse = true
source = "thread 2"
[[arch]]
capability = "8.0"
gencode = ["8.0"]
source = "x"
[[arch]]
capability = "9.0"
gencode = ["9.0a"]
source = "x"
[[arch]]
capability = "8.6"
gencode = ["8.6"]
on_request = true
source = "x"
[[arch]]
capability = "8.9"
gencode = ["8.9"]
on_request = true
source = "x"
[[arch]]
capability = "10.0"
gencode = ["10.0a"]
on_request = true
source = "x"
[[arch]]
capability = "12.0"
gencode = ["12.0"]
on_request = true
source = "x"
[[kernel]]
module = "demo._a"
capabilities = ["8.0", "9.0"]
sources = ["a.cu"]
bindings = ["a.cpp"]
source = "x"
[[kernel]]
module = "demo._b"
capabilities = ["9.0"]
sources = ["b.cu"]
bindings = ["b.cpp"]
ptx = false
source = "x"
[[kernel]]
module = "demo.raw"
capabilities = ["8.0", "9.0"]
sources = ["raw.cu"]
plain_module = true
torch_free = true
ptx = false
source = "x"
[[dispatch]]
capability = "8.0"
modules = ["demo._a"]
path = "the first kernel"
source = "x"
[[dispatch]]
capability = "8.6"
modules = []
path = "Triton"
source = "x"
[[dispatch]]
capability = "8.9"
modules = ["demo._a"]
path = "the first kernel"
source = "x"
[[dispatch]]
capability = "9.0"
modules = ["demo._a", "demo._b"]
path = "both kernels"
source = "x"
[[dispatch]]
capability = "10.0"
refused = "it raises ValueError"
source = "x"
[[dispatch]]
capability = "12.0"
modules = ["demo._a"]
source = "x"
[[package_files]]
from = "demo"
to = "demo"
include = ["**/*.py"]
exclude = []
[[matrix.include]]
torch = ["2.11.0"]
cuda = ["13.0"]
python = ["3.12"]
platform = ["linux_x86_64"]
source = "x"
[[profile]]
name = "default"
description = "one cell"
cells = ["*"]
[metadata]
name = "demo"
summary = "A demo."
license = "Apache-2.0"
license_files = ["LICENSE"]
readme = "README.md"
requires_python = ">=3.9"
requires_dist = ["torch=={torch_minor}.*"]
classifiers = []
urls = ["Homepage, https://example.org/demo"]
[verify]
size_mib = [0, 1]
import_modules = ["demo", "demo._a", "demo._b"]
needed_allowed = ["libc10.so", "libtorch*.so"]
glibc_max = "2.34"
)";

inline Spec demo_spec(std::string text = k_demo_toml) {
  auto spec = parse_spec(text, "demo.toml");
  if (!spec) {
    std::string why;
    for (const auto& one : spec.error()) why += one.message + "; ";
    FAIL(why);
  }
  return std::move(*spec);
}

/// Machine code and PTX of a module, as a section.
inline ElfBuilder::Section fatbin_section(const std::vector<std::pair<unsigned, char>>& cubins,
                                          const std::vector<unsigned>& ptx = {}) {
  FatbinBuilder fatbin;
  for (const auto& [sm, suffix] : cubins) {
    CubinBuilder cubin;
    cubin.sm = sm;
    cubin.accelerated = suffix == 'a';
    cubin.options = "-arch sm_" + std::to_string(sm) + (suffix ? std::string(1, suffix) : "") + " -m 64";
    fatbin.cubin(sm, suffix, cubin.build());
  }
  for (const unsigned sm : ptx) fatbin.ptx(sm, 0, sample_ptx("sm_" + std::to_string(sm)));
  return {".nv_fatbin", fatbin.build(), 1, 0};
}

/// A module that is right for the demo.
inline ModuleBuilder demo_module(const std::string& init, const std::vector<std::pair<unsigned, char>>& cubins) {
  ModuleBuilder module;
  module.soname.clear();
  module.runpath.clear();
  module.needed = {"libc.so.6", "libtorch_cpu.so"};
  module.versions = {{"libc.so.6", {"GLIBC_2.2.5", "GLIBC_2.17"}}};
  module.symbol_versions = {{"malloc", "GLIBC_2.2.5"}};
  module.exports = {"answer"};
  if (!init.empty()) module.exports.push_back("PyInit_" + init);
  if (!cubins.empty()) module.more = {fatbin_section(cubins)};
  return module;
}

inline const std::string k_suffix = ".cpython-312-x86_64-linux-gnu.so";

/// The demo's staged files and cell, in a temporary folder.
struct DemoBuild {
  std::map<std::string, std::string> files{
      {"demo/__init__.py", "from . import ops\n"},
      {"demo/ops.py", "def run():\n    pass\n"},
      {"demo/_a" + k_suffix, demo_module("_a", {{80, 0}, {90, 'a'}}).build()},
      {"demo/_b" + k_suffix, demo_module("_b", {{90, 'a'}}).build()},
      {"demo/raw.so", demo_module("", {{80, 0}, {90, 'a'}}).build()},
  };
  std::map<std::string, std::string> licenses{{"LICENSE", "Do what you like.\n"}};
  CellBuild build;

  DemoBuild() {
    Cell& cell = build.cell;
    cell.id = "demo-pytorch211-cu130-python312";
    cell.python = "3.12";
    cell.torch = "2.11.0";
    cell.cuda = "13.0";
    cell.platform = "linux_x86_64";
    cell.arches = {{{8, 0}, false, ArchSuffix::none, false}, {{9, 0}, true, ArchSuffix::a, false}};
    cell.gencode = {{{{8, 0}}, {{8, 0}}, false}, {{{9, 0}, ArchSuffix::a}, {{9, 0}, ArchSuffix::a}, false}};
    cell.distribution = "demo";
    cell.version = "1.2.0+cu130.torch2.11.20260117.g1111111";
    cell.wheel = "demo-1.2.0+cu130.torch2.11.20260117.g1111111-cp312-cp312-linux_x86_64.whl";
    cell.tags = {"cp312-cp312-linux_x86_64"};
    cell.requires_dist = {"torch==2.11.*"};
    build.commit = k_commit;
    build.readme = "# Demo\n\nA demo.\n";
    build.provenance = {"nvcc 13.0.88"};
  }

  /// Writes the files below `folder` and returns the build that points to them.
  const CellBuild& stage(const std::filesystem::path& folder) {
    build.files = write(files, folder / "files");
    build.licenses = write(licenses, folder / "licenses");
    return build;
  }

 private:
  static std::vector<StagedFile> write(const std::map<std::string, std::string>& texts,
                                       const std::filesystem::path& folder) {
    std::vector<StagedFile> staged;
    for (const auto& [path, bytes] : texts) {
      const auto file = folder / path;
      std::filesystem::create_directories(file.parent_path());
      REQUIRE(write_file_atomic(file, bytes));
      staged.push_back({path, file, sha256_hex(bytes), bytes.size()});
    }
    return staged;
  }
};

inline TemporaryFolder scratch() {
  auto folder = TemporaryFolder::create(std::filesystem::temp_directory_path(), "sagekit test \xc3\xa4");
  REQUIRE(folder);
  return std::move(*folder);
}

/// Answers by hand what an interpreter would say.
class ScriptedRunner : public CommandRunner {
 public:
  std::vector<CommandResult> answers;  ///< one a call; the last again and again
  std::vector<Command> calls;
  Result<CommandResult> run(const Command& command, std::stop_token = {}) override {
    const std::lock_guard lock(m_mutex);
    calls.push_back(command);
    if (answers.empty()) return fail(ErrorKind::machine, "CMD001", "nothing runs here");
    return answers[std::min(calls.size(), answers.size()) - 1];
  }

 private:
  std::mutex m_mutex;
};

/// All findings of a code that are not a pass.
inline std::vector<Finding> trouble(const WheelReport& report, std::string_view code) {
  std::vector<Finding> found;
  for (const auto& one : report.findings)
    if (one.code == code && one.result != FindingResult::pass) found.push_back(one);
  return found;
}

inline bool passed(const WheelReport& report, std::string_view code) {
  return trouble(report, code).empty() && std::ranges::count(report.findings, code, &Finding::code) > 0;
}

/// "CODE message; ..." of everything that failed.
inline std::string failures(const WheelReport& report) {
  std::string text;
  for (const auto& one : report.findings)
    if (one.result == FindingResult::fail) text += one.code + " " + one.where + ": " + one.message + "; ";
  return text;
}

inline const RunsOn& row(const WheelReport& report, Capability gpu) {
  const auto found = std::ranges::find(report.runs_on, gpu, &RunsOn::capability);
  REQUIRE(found != report.runs_on.end());
  return *found;
}

/// verify_build's report, whichever way it went.
inline WheelReport judge_build(DemoBuild& demo, const Spec& spec, const VerifyOptions& options = {}) {
  const auto folder = scratch();
  ScriptedRunner runner;
  const auto verdict = verify_build(spec, nullptr, demo.stage(folder.path()), options, runner);
  if (!verdict) FAIL(verdict.error().message);
  return *verdict ? (*verdict)->report() : verdict->error();
}

}  // namespace sagekit::test
