#pragma once
// A small spec with every rule in it, environments by hand, and short ways to plan.

#include <sagekit/plan.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace sagekit::test {

/// Two torch modules: `pkg._a` (python_free, two sources, shimmed) for 8.0 and 9.0, `pkg._b` (own bindings, no PTX) for
/// 9.0 and 12.0.
inline const std::string k_head = R"(
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
features = ["new"]
[[source.revision]]
commit = "2222222222222222222222222222222222222222"
tree = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
date = "2025-01-01T00:00:00Z"
version = "1.1.0"
names = ["v1.1.0"]
features = ["old"]
defects = ["wrong-on-90", "slow"]
[[source.defect]]
id = "wrong-on-90"
message = "wrong results on Hopper"
capabilities = ["9.0"]
refuse = true
edit = "mend"
source = "thread 1"
[[source.defect]]
id = "slow"
message = "slow everywhere"
source = "thread 2"
[[source.edit]]
id = "mend"
file = "a.py"
find = "x"
replace = "y"
when = { backends = ["setup-py"] }
reason = "the fault"
source = "thread 1"
[[arch]]
capability = "8.0"
gencode = ["8.0"]
source = "setup.py"
[[arch]]
capability = "9.0"
gencode = ["9.0a"]
cuda = ">=12.3"
warning = "needs a new driver"
source = "setup.py"
[[arch]]
capability = "10.0"
excluded = "the code refuses it"
source = "core.py"
[[arch]]
capability = "10.3"
gencode = ["10.3a"]
on_request = true
ptx_allowed = false
source = "setup.py"
[[arch]]
capability = "12.0"
gencode = ["12.0a"]
cuda = ">=12.8"
source = "setup.py"
[[arch]]
capability = "12.1"
gencode = ["12.1a"]
when = { features = ["new"] }
source = "commit 3"
)";

inline const std::string k_kernels = R"(
[build]
cxx_flags = ["-O3"]
nvcc_flags = ["-O3", "--use_fast_math"]
link_flags = ["-Wl,-z,now"]
include_dirs = ["csrc/third"]
torch_libraries = ["c10", "torch_cpu"]
standards = [{ standard = "c++17", torch = "<2.13" }, { standard = "c++20", torch = ">=2.13" }]
link_cost = { cpu_seconds = 1, memory_mib = 100 }
[[build.shim]]
name = "lean"
file = "torch/extension.h"
text = "#pragma once\n"
[[kernel]]
module = "pkg._a"
capabilities = ["8.0", "9.0", "12.1"]
sources = ["csrc/a1.cu", "csrc/a2.cu"]
bindings = ["csrc/a.cpp"]
python_free = true
source_shim = "lean"
source_cost = { cpu_seconds = 10, memory_mib = 1000 }
binding_cost = { cpu_seconds = 5, memory_mib = 700 }
source = "setup.py"
[[kernel]]
module = "pkg._b"
capabilities = ["9.0", "10.3", "12.0", "12.1"]
sources = ["csrc/b.cu"]
libraries = ["cuda"]
ptx = false
source_cost = { cpu_seconds = 40, memory_mib = 2000 }
source = "setup.py"
)";

inline const std::string k_matrix = R"(
[[matrix.include]]
torch = ["2.8.0", "2.11.0"]
cuda = ["12.8", "13.0"]
python = ["3.11", "3.12"]
platform = ["linux_x86_64", "linux_aarch64"]
source = "test"
[[matrix.include]]
torch = ["2.8.0"]
cuda = ["12.8"]
python = ["3.12"]
platform = ["linux_x86_64", "win_amd64"]
source = "test"
[[matrix.exclude]]
torch = ["2.11"]
cuda = ["12.8"]
reason = "not wanted"
source = "us"
[[profile]]
name = "default"
cells = ["*-pytorch211-cu130-*"]
[[profile]]
name = "old"
cells = ["*"]
revision = "v1.1.0"
[[profile]]
name = "hopper"
cells = ["*", "!*-python311"]
platforms = ["linux_x86_64", "linux_aarch64"]
arches = "9.0"
[[profile]]
name = "all"
cells = ["*"]
platforms = ["linux_x86_64", "linux_aarch64", "win_amd64"]
)";

inline const std::string k_tail = R"(
[naming]
default = "own"
[[naming.scheme]]
name = "own"
version = "{version}+cu{cuda_digits}.torch{torch_minor}"
[metadata]
name = "Demo-Pkg"
requires_dist = ["torch=={torch_minor}.*", "einops"]
[[advice]]
capabilities = ["12.1"]
text = "12.1 needs a new Triton"
source = "us"
)";

/// No torch, no Python API: one shared library.
inline const std::string k_plain_kernels = R"(
[build]
standards = [{ standard = "c++17", torch = "<2.13" }, { standard = "c++20" }]
[[kernel]]
module = "pkg._plain"
capabilities = ["8.0"]
sources = ["plain.cu"]
torch_free = true
plain_module = true
source = "us"
)";

inline const std::string k_plain_matrix = R"(
[[matrix.include]]
torch = []
cuda = ["13.0"]
python = ["3.12"]
platform = ["linux_x86_64"]
source = "test"
)";

inline Spec spec_of(std::string_view text) {
  auto spec = parse_spec(text, "test.toml");
  if (!spec)
    for (const auto& problem : spec.error()) MESSAGE(problem.code, " ", problem.where.line, ": ", problem.message);
  REQUIRE(spec.has_value());
  return *spec;
}

inline Spec demo_spec() { return spec_of(k_head + k_kernels + k_matrix + k_tail); }

/// A machine that has nothing but itself.
inline Environment bare_machine() {
  Environment e;
  e.os = "linux";
  e.machine = "x86_64";
  e.platform = "linux_x86_64";
  e.glibc = "2.36";
  e.cpus = 4;
  e.memory_bytes = std::uint64_t{16} << 30;
  return e;
}

/// nvcc 13.0, g++ 12, Python 3.12, torch 2.11.0 for CUDA 13.0.
inline Environment cuda13_machine() {
  auto e = bare_machine();
  Nvcc nvcc;
  nvcc.executable = "/opt/cuda/bin/nvcc";
  nvcc.root = "/opt/cuda";
  nvcc.include_dir = "/opt/cuda/include";
  nvcc.library_dir = "/opt/cuda/lib64";
  nvcc.version = "13.0.88";
  nvcc.cuda = "13.0";
  for (const auto capability : {Capability{8, 0}, Capability{8, 6}, Capability{8, 9}, Capability{9, 0},
                                Capability{10, 0}, Capability{10, 3}, Capability{12, 0}, Capability{12, 1}})
    nvcc.code.push_back({capability, ArchSuffix::none});
  nvcc.max_gcc = "15";
  nvcc.max_clang = "21";
  nvcc.source = ToolSource::system;
  nvcc.ready = true;
  e.nvcc = {nvcc};
  HostCompiler gcc;
  gcc.executable = "/usr/bin/g++";
  gcc.kind = CompilerKind::gcc;
  gcc.version = "12.2.0";
  gcc.target = "x86_64-linux-gnu";
  gcc.source = ToolSource::system;
  gcc.ready = true;
  e.host_compilers = {gcc};
  Python python;
  python.executable = "/usr/bin/python3.12";
  python.version = "3.12.1";
  python.minor = "3.12";
  python.abi = "cp312";
  python.soabi = "cpython-312-x86_64-linux-gnu";
  python.include_dirs = {"/usr/include/python3.12"};
  python.source = ToolSource::system;
  python.ready = true;
  e.pythons = {python};
  TorchSysroot torch;
  torch.root = "/opt/torch";
  torch.version = "2.11.0";
  torch.local = "cu130";
  torch.cuda = "13.0";
  torch.platform = "linux_x86_64";
  torch.source = ToolSource::folder;
  torch.ready = true;
  e.torches = {torch};
  return e;
}

inline Plan plan_of(const Spec& spec, const Request& request = {}, const Environment& machine = bare_machine()) {
  auto plan = make_plan(spec, request, machine);
  if (!plan) MESSAGE(plan.error().code, ": ", plan.error().message, " / ", plan.error().hint);
  REQUIRE(plan.has_value());
  return *plan;
}

inline Error error_of(const Spec& spec, const Request& request) {
  auto plan = make_plan(spec, request, bare_machine());
  REQUIRE_FALSE(plan.has_value());
  return plan.error();
}

inline std::vector<std::string> ids_of(const Plan& plan) {
  std::vector<std::string> ids;
  for (const auto& cell : plan.cells) ids.push_back(cell.id);
  return ids;
}

inline std::vector<std::string> excluded_ids_of(const Plan& plan) {
  std::vector<std::string> ids;
  for (const auto& cell : plan.excluded) ids.push_back(cell.id);
  return ids;
}

inline std::vector<std::string> arches_of(const Cell& cell) {
  std::vector<std::string> names;
  for (const auto& arch : cell.arches) names.push_back(to_string(arch));
  return names;
}

/// The first step whose id starts like this.
inline const Step& step_of(const Plan& plan, std::string_view id) {
  const auto found = std::ranges::find_if(plan.steps, [&](const Step& step) { return step.id.starts_with(id); });
  REQUIRE_MESSAGE(found != plan.steps.end(), id);
  return *found;
}

inline bool has(const std::vector<std::string>& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

inline bool mentions(const std::vector<std::string>& list, std::string_view part) {
  return std::ranges::any_of(list, [&](const auto& item) { return item.find(part) != std::string::npos; });
}

using Words = std::vector<std::string>;

}  // namespace sagekit::test
