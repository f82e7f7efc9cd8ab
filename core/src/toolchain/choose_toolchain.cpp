#include "spec/data.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/toolchain.hpp>

#include <algorithm>
#include <charconv>

namespace sagekit {

namespace {

int major_of(std::string_view version) {
  int major = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  return major;
}

bool newer(std::string_view a, std::string_view b) {
  const auto left = parse_version_number(a), right = parse_version_number(b);
  if (!left || !right) return left.has_value() && !right.has_value();
  return *left > *right;
}

// A folder that was given on purpose comes before what happens to be installed; then the newest; then the order given.
template <class Tool, class Fits>
const Tool* best(const std::vector<Tool>& tools, Fits fits) {
  const Tool* chosen = nullptr;
  for (const auto& tool : tools) {
    if (!tool.ready || !fits(tool)) continue;
    const bool given = tool.source == "folder", before = chosen != nullptr && chosen->source == "folder";
    if (chosen == nullptr || (given && !before) || (given == before && newer(tool.version, chosen->version)))
      chosen = &tool;
  }
  return chosen;
}

// "there is 13.0 (/usr/local/cuda/bin/nvcc); 12.8 (/opt/x) cannot be used: why". `say` names one tool.
template <class Tool, class Say>
std::string what_is_here(const std::vector<Tool>& tools, std::string_view none, Say say) {
  std::vector<std::string> ready, broken;
  for (const auto& tool : tools) {
    auto name = say(tool);
    auto& list = tool.ready ? ready : broken;
    if (!tool.ready) name += " cannot be used: " + tool.why_not;
    if (std::ranges::find(list, name) == list.end()) list.push_back(std::move(name));
  }
  const std::string here = ready.empty() ? std::string(none) : "there is " + join(ready, ", ");
  return broken.empty() ? here : here + "; " + join(broken, "; ");
}

// The CPU of a platform: "x86_64" of "linux_x86_64".
std::string machine_of(const std::string& platform) {
  return platform.substr(std::min(platform.find('_') + 1, platform.size()));
}

Status check_platform(const ToolchainNeed& need, const Environment& environment) {
  if (need.platform.starts_with("win"))
    return fail(ErrorKind::machine, "TCH006",
                fmt::format("{} wheels cannot be built on {}: their host code needs MSVC and Windows' torch libraries",
                            need.platform, environment.platform),
                "plan and verify them here; build them on Windows");
  if (need.platform == environment.platform ||
      (need.platform == "linux_aarch64" && environment.platform == "linux_x86_64"))
    return {};
  return fail(ErrorKind::machine, "TCH006",
              fmt::format("{} wheels cannot be built on {}: no cross build between the two is known", need.platform,
                          environment.platform),
              "build them on a machine of that platform");
}

Result<Nvcc> choose_nvcc(const ToolchainNeed& need, const Environment& environment) {
  const auto* nvcc = best(environment.nvcc, [&](const Nvcc& n) { return n.cuda == need.cuda; });
  // What was given on purpose and cannot be used is never quietly replaced by what happens to be installed.
  const auto broken = std::ranges::find_if(environment.nvcc, [&](const Nvcc& n) {
    return n.source == "folder" && !n.ready && (n.cuda.empty() || n.cuda == need.cuda);
  });
  if (broken != environment.nvcc.end() && (nvcc == nullptr || nvcc->source != "folder"))
    return fail(ErrorKind::machine, "TCH001",
                fmt::format("the given nvcc {} cannot be used: {}", broken->executable.string(), broken->why_not),
                "mend it, or build without --toolchain folder: to use what is installed");
  if (nvcc == nullptr)
    return fail(ErrorKind::machine, "TCH001",
                fmt::format("no nvcc {} on this machine; {}", need.cuda,
                            what_is_here(environment.nvcc, "there is none at all",
                                         [](const Nvcc& n) {
                                           return n.cuda.empty()
                                                      ? n.executable.string()
                                                      : fmt::format("{} ({})", n.cuda, n.executable.string());
                                         })),
                fmt::format("install CUDA toolkit {}, or give an unpacked one with --toolchain folder:DIR", need.cuda));

  // --list-gpu-code never shows a or f variants; from which release on it compiles those is known data.
  const auto cuda = parse_version_number(nvcc->cuda);
  const auto knows = [&](const Arch& arch) {
    const Arch plain{arch.capability, ArchSuffix::none};
    return std::ranges::find(nvcc->code, plain) != nvcc->code.end() &&
           (arch.suffix == ArchSuffix::none || (cuda && nvcc_supports(*cuda, arch)));
  };
  std::vector<std::string> unknown;
  std::string since;
  for (const auto& gencode : need.gencode)
    for (const Arch& arch : {gencode.compute, gencode.code}) {
      if (knows(arch) || std::ranges::find(unknown, to_string(arch)) != unknown.end()) continue;
      unknown.push_back(to_string(arch));
      if (const auto first = first_nvcc_for(arch))
        since = fmt::format("{} needs nvcc {} or newer", to_string(arch), to_string(*first));
    }
  if (unknown.empty()) return *nvcc;
  std::vector<std::string> known;
  for (const auto& arch : nvcc->code) known.push_back(to_string(arch));
  return fail(ErrorKind::machine, "TCH002",
              fmt::format("nvcc {} ({}) cannot compile for {}; it knows {}", nvcc->version, nvcc->executable.string(),
                          join(unknown, ", "), join(known, " ")),
              since.empty() ? "leave that arch out of --arch" : since + "; or leave it out of --arch");
}

bool accepts(const Nvcc& nvcc, const HostCompiler& compiler) {
  const std::string& limit = compiler.kind == "gcc" ? nvcc.max_gcc : nvcc.max_clang;
  if (limit.empty()) return false;
  const int major = major_of(compiler.version);
  return compiler.kind == "gcc" ? major <= major_of(limit) : major < major_of(limit);
}

std::string accepted_words(const Nvcc& nvcc) {
  std::vector<std::string> words;
  if (!nvcc.max_gcc.empty()) words.push_back("gcc up to " + nvcc.max_gcc);
  if (!nvcc.max_clang.empty()) words.push_back("clang before " + nvcc.max_clang);
  return join(words, ", ");
}

Result<HostCompiler> choose_host_compiler(const ToolchainNeed& need, const Nvcc& nvcc, const Environment& environment) {
  const std::string machine = machine_of(need.platform);
  const bool cross = need.platform != environment.platform;
  const auto fits = [&](const HostCompiler& c) {
    return c.target.starts_with(machine + "-") && (need.cuda.empty() || accepts(nvcc, c));
  };
  for (const std::string_view kind : {"gcc", "clang"})
    if (const auto* chosen = best(environment.host_compilers, [&](const auto& c) { return c.kind == kind && fits(c); }))
      return *chosen;
  const std::string wanted =
      need.cuda.empty() ? "" : fmt::format(" that nvcc {} accepts ({})", nvcc.cuda, accepted_words(nvcc));
  const auto say = [](const HostCompiler& c) {
    return c.version.empty() ? c.executable.string() : fmt::format("{} {} for {}", c.kind, c.version, c.target);
  };
  const std::string suffix = need.cuda.empty() || nvcc.max_gcc.empty() ? "" : "-" + nvcc.max_gcc + " or older";
  return fail(ErrorKind::machine, "TCH003",
              fmt::format("no C++ compiler for {}{}; {}", need.platform, wanted,
                          what_is_here(environment.host_compilers, "there is none at all", say)),
              cross ? fmt::format("apt-get install g++-{}-linux-gnu", replace_all(machine, "_", "-"))
                    : fmt::format("apt-get install g++{}", suffix));
}

// Header folders are for one CPU; the SOABI says which. One that names none is the machine's own.
bool is_for(const Python& python, const std::string& platform, const Environment& environment) {
  for (const auto* known : {"linux_x86_64", "linux_aarch64"})
    if (python.soabi.find(machine_of(known)) != std::string::npos) return platform == known;
  return platform == environment.platform;
}

Result<Python> choose_python(const ToolchainNeed& need, const Environment& environment) {
  // "3.13t" asks for the free-threaded build, "3.13" for the other.
  const std::string abi = "cp" + replace_all(need.python, ".", "");
  const auto* python =
      best(environment.pythons, [&](const Python& p) { return p.abi == abi && is_for(p, need.platform, environment); });
  if (python != nullptr) return *python;
  const auto say = [](const Python& p) {
    if (p.version.empty()) return p.executable.string();
    return fmt::format("{}{} ({})", p.version, p.abi.ends_with('t') ? " free-threaded" : "", p.executable.string());
  };
  return fail(ErrorKind::machine, "TCH004",
              fmt::format("no Python {} with headers for {}; {}", need.python, need.platform,
                          what_is_here(environment.pythons, "there is no Python at all", say)),
              fmt::format("uv python install {0}, or apt-get install libpython{0}-dev where the distribution has it",
                          need.python));
}

Result<TorchSysroot> choose_torch(const ToolchainNeed& need, const Python& python, const Environment& environment) {
  const auto fits = [&](const TorchSysroot& t) {
    return t.version == need.torch && t.cuda == need.cuda && t.platform == need.platform;
  };
  // Its headers are the same for every Python; the cell's own is preferred because it can also be imported there.
  const auto* torch = best(environment.torches, [&](const TorchSysroot& t) {
    return fits(t) && !python.executable.empty() && t.interpreter == python.executable;
  });
  const auto* any = best(environment.torches, fits);
  if (torch == nullptr || (any->source == "folder" && torch->source != "folder")) torch = any;
  if (torch != nullptr) return *torch;
  const std::string build = need.cuda.empty() ? "+cpu" : "+cu" + replace_all(need.cuda, ".", "");
  const auto say = [](const TorchSysroot& t) {
    return fmt::format("{}{} {} ({})", t.version, t.local.empty() ? "" : "+" + t.local, t.platform, t.root.string());
  };
  return fail(ErrorKind::machine, "TCH005",
              fmt::format("no torch {}{} for {}; {}", need.torch, build, need.platform,
                          what_is_here(environment.torches, "there is no torch at all", say)),
              "unpack that torch wheel (any Python's) and give its folder with --toolchain folder:DIR");
}

}  // namespace

Result<Toolchain> choose_toolchain(const ToolchainNeed& need, const Environment& environment) {
  TRY(check_platform(need, environment));
  Toolchain toolchain;
  if (!need.cuda.empty()) {
    TRY_ASSIGN(toolchain.nvcc, choose_nvcc(need, environment));
  }
  TRY_ASSIGN(toolchain.host_compiler, choose_host_compiler(need, toolchain.nvcc, environment));
  if (!need.python.empty()) {
    TRY_ASSIGN(toolchain.python, choose_python(need, environment));
  }
  if (!need.torch.empty()) {
    TRY_ASSIGN(toolchain.torch, choose_torch(need, toolchain.python, environment));
  }
  return toolchain;
}

}  // namespace sagekit
