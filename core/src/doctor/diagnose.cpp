#include "spec/companions_json.hpp"
#include "spec/platform.hpp"
#include "support/format.hpp"
#include "support/json.hpp"

#include <sagekit/doctor.hpp>
#include <sagekit/toolchain.hpp>

#include <algorithm>

namespace sagekit {

namespace {

template <class Tool, class Say>
ToolchainPart part(PartKind kind, std::string what, const Result<Tool>& tool, Say say) {
  if (tool) return {kind, PartState::here, std::move(what), say(*tool), ""};
  return {kind, PartState::lacking, std::move(what), tool.error().message, tool.error().hint};
}

/// What would be fetched is not lacking. `absent`: the code of "there is none"; one that is there and does not serve is
/// not mended by another copy of it.
template <class Tool>
void may_be_fetched(ToolchainPart& part, const Result<Tool>& tool, const char* absent, const TreeNeed& need,
                    const ToolchainOptions& options, const std::string& command) {
  if (tool || tool.error().code != absent || !can_fetch(need, options)) return;
  part.state = PartState::fetchable;
  const auto has = [&](ToolSource source) {
    auto alone = options;
    alone.provision.sources = {source};
    return can_fetch(need, alone);
  };
  const auto source = std::ranges::find_if(options.provision.sources, has);  // there is one: it can be fetched
  part.found = fmt::format("not here; build fetches it from {}",
                           *source == ToolSource::redist ? "NVIDIA's archive" : "the package index");
  if (!only_on_torch_index(need, true).empty()) part.found += ", if that has it: the public one does not";
  part.mend = command;
}

/// Without them the fetch may bring a tree of the other source, which then does not count.
std::string source_words(const ToolchainOptions& options) {
  if (options.stored == ToolchainOptions().stored || options.provision.sources.size() != 1) return {};
  return fmt::format(" --toolchain {}", to_string(options.provision.sources.front()));
}

std::vector<ToolchainPart> parts_of(const Cell& cell, const Spec& spec, const Environment& environment,
                                    const ToolchainOptions& options) {
  const ToolchainNeed need{cell.cuda,    cell.torch,          cell.python, cell.platform,
                           cell.gencode, cell.static_runtime, cell.abi3};
  // No tool mends a platform that nothing builds: the plan knows it of the cell's modules.
  if (!cell.lacks.empty() && cell.lacks.front().kind == LackKind::platform) {
    const auto& error = cell.lacks.front().error;
    return {{PartKind::platform, PartState::lacking, cell.platform, error.message, error.hint}};
  }

  std::vector<ToolchainPart> parts;
  const auto nvcc = choose_nvcc(need, environment);
  parts.push_back(part(PartKind::nvcc, "nvcc " + cell.cuda, nvcc,
                       [](const Nvcc& n) { return fmt::format("{} {}", n.version, n.executable.string()); }));
  const auto fetch = fmt::format("sagekit toolchain fetch --cuda {}{}{}", cell.cuda, options.provision.fetch_flags,
                                 source_words(options));
  may_be_fetched(parts.back(), nvcc, "TCH001", {TreeKind::nvcc, cell.cuda, "", environment.platform}, options, fetch);
  auto compiler_need = need;
  if (!nvcc) compiler_need.cuda.clear();  // which compilers it accepts is known when it is here
  const auto say = [](const HostCompiler& c) {
    return fmt::format("{} {} {}", to_string(c.kind), c.version, c.executable.string());
  };
  if (is_windows(cell.platform))
    parts.push_back(part(
        PartKind::host_compiler, "C++ compilers for Windows",
        choose_windows_compilers(compiler_need, nvcc.value_or(Nvcc{}), environment), [&](const WindowsCompilers& c) {
          const bool mingw = c.mingw.kind == CompilerKind::gcc;
          return fmt::format("{}, {} {} (C library: {}), {}", say(c.clang), mingw ? "mingw" : "Microsoft's",
                             say(c.mingw), c.mingw.c_runtime, say(c.device));
        }));
  else
    parts.push_back(part(PartKind::host_compiler, "C++ compiler",
                         choose_host_compiler(compiler_need, nvcc.value_or(Nvcc{}), environment), say));
  if (!cell.torch.empty()) {
    const auto torch = choose_torch(need, {}, environment);
    parts.push_back(
        part(PartKind::torch, "torch " + cell.torch, torch, [](const TorchSysroot& t) { return t.root.string(); }));
    may_be_fetched(parts.back(), torch, "TCH005", {TreeKind::torch, cell.cuda, cell.torch, cell.platform}, options,
                   fmt::format("{} --torch {}{}{}", fetch, cell.torch,
                               cell.platform == environment.platform ? "" : " --platform " + cell.platform,
                               nvcc ? " --no-nvcc" : ""));
  }
  if (!std::ranges::all_of(spec.kernels, &KernelSpec::plain_module))
    parts.push_back(part(PartKind::python_headers, "Python " + cell.python + " headers",
                         choose_python(need, environment),
                         [](const Python& p) { return p.include_dirs.front().string(); }));
  return parts;
}

/// "comes" is how docs/json.md has called it from the first.
const char* name_of(PartState state) {
  if (state == PartState::here) return "here";
  return state == PartState::fetchable ? "comes" : "lacking";
}

const char* name_of(PartKind kind) {
  switch (kind) {
    case PartKind::platform: return "platform";
    case PartKind::nvcc: return "nvcc";
    case PartKind::host_compiler: return "host-compiler";
    case PartKind::torch: return "torch";
    case PartKind::source: return "source";
    case PartKind::store: return "store";
    case PartKind::python_headers: break;
  }
  return "python";
}

}  // namespace

bool Diagnosis::lacking() const {
  return std::ranges::any_of(cells, [](const CellDiagnosis& cell) {
    return std::ranges::find(cell.parts, PartState::lacking, &ToolchainPart::state) != cell.parts.end();
  });
}

Diagnosis diagnose(const Spec& spec, const PlannedMachine& machine, const ToolchainOptions& options) {
  Diagnosis diagnosis;
  for (const auto& cell : machine.plan.cells)
    diagnosis.cells.push_back({cell.id, parts_of(cell, spec, machine.environment, options), cell.notes});
  diagnosis.companions = spec.companions;
  return diagnosis;
}

std::string diagnosis_json(const Diagnosis& diagnosis) {
  auto cells = Json::array();
  for (const auto& cell : diagnosis.cells) {
    auto parts = Json::array();
    for (const auto& part : cell.parts)
      parts.push_back({{"kind", name_of(part.kind)},
                       {"what", part.what},
                       {"state", name_of(part.state)},
                       {"found", part.found},
                       {"mend", part.mend}});
    cells.push_back({{"cell", cell.cell}, {"parts", parts}, {"notes", cell.notes}});
  }
  const auto companions = companions_json(diagnosis.companions);
  return json_text({{"schema", "sagekit.doctor/1"}, {"cells", cells}, {"companions", companions}});
}

}  // namespace sagekit
