// Triton, and the tools that it starts while a program runs: ptxas and a C compiler.
#include "checkup/looks.hpp"
#include "environment/probes.hpp"
#include "pypa/metadata_reader.hpp"
#include "pypa/requirement_reader.hpp"
#include "pypa/version_order.hpp"
#include "spec/data.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <algorithm>

namespace sagekit {

namespace {

namespace fs = std::filesystem;
using enum CheckupState;

/// "12.8" of what `ptxas --version` says; "" = it does not start, or says nothing.
std::string release_of(const fs::path& ptxas, const Look& look) {
  const auto said = ProbeContext{look.options.probe, look.runner}.output_of({ptxas.string(), "--version"});
  const auto at = said ? said->find("release ") : std::string::npos;
  return at == std::string::npos ? "" : leading_version(std::string_view(*said).substr(at + 8));
}

/// Triton asks for the arch-specific target from 9.0 on: sm_90a (triton/backends/nvidia/compiler.py,
/// sm_arch_from_capability).
bool assembles(const std::string& release, Capability gpu) {
  const auto cuda = parse_version_number(release);
  if (!cuda) return false;
  const Arch wanted{gpu, gpu >= Capability{9, 0} ? ArchSuffix::a : ArchSuffix::none};
  return std::ranges::any_of(core_data().nvcc_arches, [&](const NvccArch& one) {
    return one.arch == wanted && one.since <= *cuda && (!one.until || *cuda < *one.until);
  });
}

/// Which of its two ptxas Triton takes for a GPU: since 3.6 it has one of its own for 10.0 and newer (get_ptxas).
struct Ptxas {
  fs::path path;
  std::string variable;  ///< that would name another
};

Ptxas ptxas_for(const Look& look, const fs::path& triton, Capability gpu) {
  const fs::path folder = triton / "backends/nvidia/bin";
  const bool newer = gpu >= Capability{10, 0} && is_file(folder / "ptxas-blackwell");
  Ptxas ptxas{folder / (newer ? "ptxas-blackwell" : "ptxas"),
              newer ? "TRITON_PTXAS_BLACKWELL_PATH" : "TRITON_PTXAS_PATH"};
  if (const auto named = look.variable(ptxas.variable.c_str()); !named.empty() && is_executable(named))
    ptxas.path = named;
  else if (!is_file(ptxas.path))
    for (const auto* older : {"common/../third_party/cuda/bin/ptxas", "third_party/cuda/bin/ptxas"})
      if (is_file(triton / older)) ptxas.path = triton / older;
  return ptxas;
}

/// A ptxas of this machine that knows the GPU.
fs::path better_ptxas(const Look& look, Capability gpu) {
  auto folders = look.options.probe.path;
  for (const auto& home : look.options.probe.cuda_homes) folders.push_back(home / "bin");
  folders.push_back(look.options.probe.root / "usr/local/cuda/bin");
  for (const auto& folder : folders)
    if (is_executable(folder / "ptxas") && assembles(release_of(folder / "ptxas", look), gpu)) return folder / "ptxas";
  return {};
}

/// The triton that torch's METADATA asks for: "==3.6.0", from torch 2.14 on "~=3.8.0"; "" = it asks for none.
std::string asked_by_torch(const Look& look) {
  const auto torches = look.python.named("torch");
  if (torches.empty()) return {};
  const auto text = read_file(torches.front()->info / "METADATA");
  return text ? required_range(read_headers(*text).all("Requires-Dist"), "triton") : std::string();
}

std::string installed_triton(const Look& look) {
  for (const auto* name : {"triton", "triton-windows", "pytorch-triton"})
    if (const auto ones = look.python.named(name); !ones.empty() && !ones.front()->version.empty())
      return ones.front()->version;
  return {};
}

/// Is that the triton, whatever build of it? Where torch asks for none, any is.
bool is_right(std::string_view installed, std::string_view asked) {
  return asked.empty() || specifiers_allow(asked, installed) == std::optional(true);
}

/// A triton that is newer than torch's own would be the wrong one: where this one is torch's own, a newer torch brings
/// a newer one.
std::string newer_triton(const Look& look) {
  const auto asked = asked_by_torch(look);
  if (asked.empty()) return look.pip("install -U triton");
  return is_right(installed_triton(look), asked) ? new_torch(look, true) : look.pip("install " + right_triton(look));
}

void look_at_ptxas(Look& look, const fs::path& triton) {
  for (const auto& gpu : look.kinds_of_gpu()) {
    const auto ptxas = ptxas_for(look, triton, gpu.capability);
    const std::string what = "ptxas for " + to_string(gpu.capability);
    const std::string hurts = "each Triton kernel is assembled by it at its first call";
    if (!is_file(ptxas.path)) {
      look.add("ptxas", what, wrong, fmt::format("{} is not there", ptxas.path.string()), hurts,
               look.pip("install --force-reinstall " + right_triton(look)));
      continue;
    }
    const auto release = release_of(ptxas.path, look);
    const auto text = fmt::format("{} {}", release, ptxas.path.string());
    if (release.empty())
      look.add("ptxas", what, wrong, fmt::format("{} does not start", ptxas.path.string()), hurts,
               look.pip("install --force-reinstall " + right_triton(look)));
    else if (assembles(release, gpu.capability))
      look.add("ptxas", what, good, text);
    else if (const auto other = better_ptxas(look, gpu.capability); !other.empty())
      look.add("ptxas", what, wrong, text, fmt::format("it does not know {}", to_string(gpu.capability)),
               fmt::format("export {}={}", ptxas.variable, shell_word(other.string())), "WHY510");
    else
      look.add("ptxas", what, wrong, text, fmt::format("it does not know {}", to_string(gpu.capability)),
               newer_triton(look), "WHY510");
  }
}

/// triton/runtime/build.py: CC, else gcc, else clang.
void look_at_compiler(Look& look) {
  const auto named = look.variable("CC");
  const auto first_word = split_words(named).empty() ? std::string() : split_words(named).front();
  fs::path compiler;
  if (!named.empty())
    compiler = named.find('/') != std::string::npos ? fs::path(named) : look.program(first_word);
  else
    for (const auto* name : {"gcc", "clang"})
      if (compiler.empty()) compiler = look.program(name);
  const std::string hurts = "Triton compiles a launcher in C for each kernel at its first call";
  if (compiler.empty() || !is_executable(compiler))
    look.add("c-compiler", "C compiler for Triton", wrong,
             named.empty() ? "no gcc and no clang on PATH" : fmt::format("CC is {}, which is no program", named), hurts,
             named.empty() ? "sudo apt-get install gcc" : "unset CC", "WHY518");
  else
    look.add("c-compiler", "C compiler for Triton", good, compiler.string() + (named.empty() ? "" : " (CC)"));
  const auto probed =
      probe_python({look.options.interpreter, ToolSource::system, "--interpreter"}, {look.options.probe, look.runner});
  if (probed.python.include_dirs.empty())
    look.add("python-headers", "Python.h", wrong, probed.python.why_not, "that launcher includes it",
             look.python.base_prefix == look.options.probe.root / "usr"
                 ? fmt::format("sudo apt-get install libpython{}-dev", look.python.minor)
                 : fmt::format("uv python install {} brings one with headers", look.python.minor),
             "WHY519");
}

}  // namespace

std::string right_triton(const Look& look) { return "triton" + asked_by_torch(look); }

void look_at_triton(Look& look) {
  const auto* module = look.python.module("triton");
  const bool needed = std::ranges::any_of(
      look.known, [&](const KnownPackage& package) { return !look.python.named(package.name).empty(); });
  if (module == nullptr || module->bare) {
    if (!look.wants_torch()) return;  // without torch there are no Triton kernels
    // A torch that is still to come brings its own.
    look.add("triton", "Triton", needed ? wrong : warning, "not installed in this Python",
             "SageAttention's Python code imports it, and some GPUs run nothing else",
             look.torch ? look.pip("install " + right_triton(look)) : new_torch(look, false), "WHY416");
    return;
  }
  const auto version = installed_triton(look);
  const auto asked = asked_by_torch(look);
  const auto text = fmt::format("{} {}", version.empty() ? "of an unknown version" : version, module->folder.string());
  if (!version.empty() && !is_right(version, asked))
    look.add("triton", "Triton", warning, text,
             fmt::format("torch {} was made for Triton {}", look.torch ? look.torch->version : "",
                         asked.starts_with("==") ? asked.substr(2) : asked),
             look.pip("install " + right_triton(look)), "WHY527");
  else
    look.add("triton", "Triton", good, text);
  look_at_ptxas(look, module->folder);
  look_at_compiler(look);
}

}  // namespace sagekit
