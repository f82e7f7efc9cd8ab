#include "plugin/sample_artifacts.hpp"

#include "support/text.hpp"

namespace sagekit {

namespace {

std::string module_path(const std::string& name) { return replace_all(name, ".", "/") + ".so"; }

GpuCode code(Arch arch, bool ptx, std::uint64_t count) {
  GpuCode out;
  out.arch = arch;
  out.ptx = ptx;
  out.count = count;
  out.bytes = count;
  return out;
}

}  // namespace

JudgedArtifact empty_artifact() { return {}; }

JudgedArtifact minimal_artifact(const Spec& spec) {
  const std::string name = spec.kernels.empty() ? "package.module" : spec.kernels.front().module;
  JudgedArtifact out{spec.metadata.name, "1.0", "3.12", "2.11.0", "13.0", "linux_x86_64", {}, {}, {}};
  out.modules.push_back({name, module_path(name), {"libc.so.6"}, {"PyInit_module"}, {"malloc"}, {}});
  out.modules.front().gpu.push_back(code({{9, 0}, ArchSuffix::none}, false, 1));
  out.files = {module_path(name), "package/__init__.py"};
  out.read_file = [](std::string_view path) -> std::optional<std::string> {
    if (path == "package/__init__.py") return "import torch\n";
    return std::nullopt;
  };
  return out;
}

JudgedArtifact extreme_artifact(const Spec& spec) {
  const std::string odd = "\xff\xfe \xc3\xa9\n\t\x1b[31m";
  const std::string nul("nul\0inside", 10);
  const std::string lengthy(65536, 'x');
  JudgedArtifact out{odd, lengthy, "3.999999999999999999999", "-1", "13.0.0.0.0", nul, {}, {}, {}};
  std::vector<std::string> names = {"", ".", odd, nul, lengthy};
  for (const KernelSpec& kernel : spec.kernels) names.push_back(kernel.module);
  for (int i = 0; i < 200; ++i) names.push_back("package.module" + std::to_string(i));
  for (const std::string& name : names) {
    JudgedModule module{name, module_path(name), {"", odd, lengthy}, {"", nul, lengthy}, {"", odd, nul}, {}};
    module.gpu.push_back(code({{0, 0}, ArchSuffix::none}, true, 0));
    module.gpu.push_back(code({{9999, 9}, ArchSuffix::f}, false, UINT64_MAX));
    out.files.push_back(module.path);
    out.modules.push_back(std::move(module));
  }
  out.modules.push_back(out.modules.back());  // one module twice
  for (const PackageFiles& files : spec.package_files) out.files.push_back(files.to + "/__init__.py");
  out.read_file = [text = odd + nul + std::string(1u << 20, '(')](std::string_view) { return std::optional(text); };
  return out;
}

}  // namespace sagekit
