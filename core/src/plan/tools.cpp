#include "plan/tools.hpp"

#include "support/format.hpp"

#include <algorithm>

namespace sagekit {

MachineCheck::MachineCheck(const Environment& environment, const Matrix& matrix, const std::string& backend)
    : m_environment(environment),
      m_matrix(matrix),
      m_setup_py(backend == "setup-py"),
      m_compilers(matrix.torch.size() * matrix.cuda.size() * matrix.platform.size()),
      m_pythons(matrix.platform.size() * matrix.python.size()) {}

std::unique_ptr<Error> MachineCheck::ask(const ToolchainNeed& need) const {
  auto toolchain = choose_toolchain(need, m_environment);
  return toolchain ? nullptr : std::make_unique<Error>(std::move(toolchain).error());
}

std::unique_ptr<Error> MachineCheck::ask_interpreter(Point p) const {
  const auto& torch = m_matrix.torch.values[p.torch];
  const auto& cuda = m_matrix.cuda.values[p.cuda];
  const auto& python = m_matrix.python.values[p.python];
  const auto& platform = m_matrix.platform.values[p.platform];
  const auto found = std::ranges::any_of(m_environment.torches, [&](const TorchSysroot& sysroot) {
    return sysroot.ready && !sysroot.interpreter.empty() && sysroot.version == torch && sysroot.cuda == cuda &&
           sysroot.python == python && sysroot.platform == platform;
  });
  if (found) return nullptr;
  return std::make_unique<Error>(
      Error{ErrorKind::machine,
            "PLN011",
            fmt::format("setup.py needs a Python {} with torch {} for CUDA {} installed, this machine has none", python,
                        torch, cuda),
            {},
            "install that torch for that Python, or use --backend direct"});
}

const Error* MachineCheck::missing(Point p, const std::vector<Gencode>& gencode, bool torch, bool python) {
  ToolchainNeed need;
  need.platform = m_matrix.platform.values[p.platform];
  auto& compilers = m_compilers[m_matrix.triple(p)];
  if (!compilers) {
    auto whole = need;
    whole.cuda = m_matrix.cuda.values[p.cuda];
    whole.static_runtime = !torch;  // as link_argv has it
    if (torch) whole.torch = m_matrix.torch.values[p.torch];
    whole.gencode = gencode;
    compilers = ask(whole);
  }
  if (*compilers) return compilers->get();
  if (m_setup_py && torch) {
    auto& answer = m_interpreters[{m_matrix.triple(p), p.python}];
    if (!answer) answer = ask_interpreter(p);
    if (*answer) return answer->get();
  }
  if (!python) return nullptr;
  auto& pythons = m_pythons[p.platform * m_matrix.python.size() + p.python];
  if (!pythons) {
    need.python = m_matrix.python.values[p.python];
    pythons = ask(need);
  }
  return pythons->get();
}

}  // namespace sagekit
