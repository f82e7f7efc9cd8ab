#include "plan/tools.hpp"

#include "spec/platform.hpp"
#include "support/format.hpp"

#include <algorithm>

namespace sagekit {
namespace {

/// Takes the tool, or notes that it is missing.
template <class Tool>
bool take(Result<Tool> found, Tool& tool, LackKind kind, std::vector<Lack>& lacks) {
  if (found) {
    tool = std::move(*found);
    return true;
  }
  const auto given = found.error().code == "TCH008";
  lacks.push_back({given ? LackKind::given_tool : kind, std::move(found).error()});
  return false;
}

/// What of an nvcc is missing: the compiler itself, or something that it cannot do.
LackKind nvcc_lack(const Result<Nvcc>& nvcc) {
  if (nvcc || nvcc.error().code == "TCH001") return LackKind::nvcc;
  return nvcc.error().code == "TCH002" ? LackKind::nvcc_arch : LackKind::cuda_runtime;
}

}  // namespace

MachineCheck::MachineCheck(const Environment& environment, const Matrix& matrix, Backend backend, std::size_t choices)
    : m_environment(environment),
      m_matrix(matrix),
      m_setup_py(backend == Backend::setup_py),
      m_triples(matrix.torch.size() * matrix.cuda.size() * matrix.platform.size()),
      m_compilers(choices * m_triples),
      m_pythons(matrix.platform.size() * matrix.python.size()) {}

ToolchainNeed MachineCheck::need_of(Point p) const {
  ToolchainNeed need;
  need.cuda = m_matrix.cuda.values[p.cuda];
  need.torch = m_matrix.torch.values[p.torch];
  need.python = m_matrix.python.values[p.python];
  need.platform = m_matrix.platform.values[p.platform];
  need.limited_api = !m_matrix.python.least[p.python].empty();
  need.stable = need.limited_api && !m_matrix.torch.least[p.torch].empty();
  return need;
}

MachineCheck::Compilers MachineCheck::find_compilers(Point p, const ToolNeeds& needs) const {
  Compilers found;
  auto need = need_of(p);
  need.gencode = needs.gencode;
  need.static_runtime = needs.static_runtime;
  need.stable = need.stable && needs.device_alone;
  if (auto possible = check_platform(need, m_environment); !possible) {
    found.lacks.push_back({LackKind::platform, std::move(possible).error()});
    return found;  // no tool would help
  }
  auto& tools = found.toolchain;
  if (!need.cuda.empty()) {
    auto nvcc = choose_nvcc(need, m_environment);
    const auto kind = nvcc_lack(nvcc);
    // Which host compilers an nvcc takes is known only of one that is here.
    auto host_need = need;
    if (!take(std::move(nvcc), tools.nvcc, kind, found.lacks)) host_need.cuda.clear();
    take_compilers(host_need, found);
  } else {
    take(choose_host_compiler(need, {}, m_environment), tools.host_compiler, LackKind::host_compiler, found.lacks);
  }
  if (needs.torch && !need.torch.empty())
    take(choose_torch(need, {}, m_environment), tools.torch, LackKind::torch, found.lacks);
  return found;
}

void MachineCheck::take_compilers(const ToolchainNeed& need, Compilers& found) const {
  auto& tools = found.toolchain;
  if (!is_windows(need.platform)) {
    take(choose_host_compiler(need, tools.nvcc, m_environment), tools.host_compiler, LackKind::host_compiler,
         found.lacks);
    return;
  }
  WindowsCompilers compilers;
  take(choose_windows_compilers(need, tools.nvcc, m_environment), compilers, LackKind::host_compiler, found.lacks);
  tools.host_compiler = std::move(compilers.clang);
  tools.mingw = std::move(compilers.mingw);
  tools.device_compiler = std::move(compilers.device);
  tools.windows_linker = std::move(compilers.linker);
}

Result<TorchSysroot> MachineCheck::find_importable_torch(Point p) const {
  const auto need = need_of(p);
  const auto found = std::ranges::find_if(m_environment.torches, [&](const TorchSysroot& sysroot) {
    return sysroot.ready && !sysroot.interpreter.empty() && sysroot.version == need.torch &&
           sysroot.cuda == need.cuda && sysroot.python == need.python && sysroot.platform == need.platform;
  });
  if (found != m_environment.torches.end()) return *found;
  return fail(ErrorKind::machine, "PLN011",
              fmt::format("setup.py needs a Python {} with torch {} for CUDA {} installed, this machine has none",
                          need.python, need.torch, need.cuda),
              "install that torch for that Python, or use --backend direct");
}

Result<Python> MachineCheck::find_python(Point p) const { return choose_python(need_of(p), m_environment); }

CellTools MachineCheck::tools_for(Point p, std::size_t choice, const ToolNeeds& needs) {
  const auto triple = m_matrix.triple(p);
  auto& compilers = m_compilers[choice * m_triples + triple];
  if (!compilers) compilers = find_compilers(p, needs);
  CellTools tools;
  tools.lacks = compilers->lacks;
  if (!tools.lacks.empty() && tools.lacks.front().kind == LackKind::platform) return tools;

  const TorchSysroot* torch = &compilers->toolchain.torch;
  if (m_setup_py && needs.torch && tools.lacks.empty()) {
    auto known = m_torches.find({triple, p.python});
    if (known == m_torches.end())
      known = m_torches.emplace(std::pair{triple, p.python}, find_importable_torch(p)).first;
    if (known->second)
      torch = &*known->second;
    else
      tools.lacks.push_back({LackKind::interpreter, known->second.error()});
  }
  const Python* python = nullptr;
  if (needs.python || m_setup_py) {
    auto& known = m_pythons[p.platform * m_matrix.python.size() + p.python];
    if (!known) known = find_python(p);
    if (*known)
      python = &**known;
    else
      tools.lacks.push_back(
          {known->error().code == "TCH008" ? LackKind::given_tool : LackKind::python_headers, known->error()});
  }
  if (!tools.lacks.empty()) return tools;
  auto toolchain = std::make_shared<Toolchain>(compilers->toolchain);
  toolchain->python = python ? *python : Python{};
  toolchain->torch = *torch;
  tools.toolchain = std::move(toolchain);
  return tools;
}

}  // namespace sagekit
