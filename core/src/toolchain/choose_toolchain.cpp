#include "environment/source_rank.hpp"
#include "spec/data.hpp"
#include "spec/platform.hpp"
#include "spec/windows_data.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"
#include "toolchain/narrowed.hpp"
#include "toolchain/recipe.hpp"
#include "toolchain/unusable_nvcc.hpp"

#include <sagekit/provision.hpp>
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

// By source, then the newest, then the order given.
template <class Tool, class Fits>
const Tool* best(const std::vector<Tool>& tools, Fits fits) {
  const Tool* chosen = nullptr;
  for (const auto& tool : tools) {
    if (!tool.ready || !fits(tool)) continue;
    const int rank = source_rank(tool.source), before = chosen == nullptr ? rank + 1 : source_rank(chosen->source);
    if (rank < before || (rank == before && newer(tool.version, chosen->version))) chosen = &tool;
  }
  return chosen;
}

// What was given on purpose and cannot be used is never quietly replaced by what happens to be installed. `may_fit`:
// could it be the wanted one, as far as is known of it?
template <class Tool, class MayFit>
const Tool* unusable_folder_tool(const std::vector<Tool>& tools, const Tool* chosen, MayFit may_fit) {
  if (chosen != nullptr && chosen->source == ToolSource::folder) return nullptr;
  const auto broken = std::ranges::find_if(
      tools, [&](const Tool& tool) { return tool.source == ToolSource::folder && !tool.ready && may_fit(tool); });
  return broken == tools.end() ? nullptr : &*broken;
}

bool unknown_or(const std::string& value, const std::string& wanted) { return value.empty() || value == wanted; }

// "there is 13.0 (/usr/local/cuda/bin/nvcc); 12.8 (/opt/x) cannot be used: why". `say` names one tool. Of nine Pythons
// the first three are enough to see that the right one is not among them.
template <class Tool, class Say>
std::string what_is_here(const std::vector<Tool>& tools, std::string_view none, Say say) {
  std::vector<std::string> ready, broken;
  for (const auto& tool : tools) {
    auto name = say(tool);
    auto& list = tool.ready ? ready : broken;
    if (!tool.ready) name += " cannot be used: " + tool.why_not;
    if (std::ranges::find(list, name) == list.end()) list.push_back(std::move(name));
  }
  constexpr std::size_t k_named = 3;
  if (ready.size() > k_named + 1) {
    ready[k_named - 1] += fmt::format(" and {} more", ready.size() - k_named);
    ready.resize(k_named);
  }
  const std::string here = ready.empty() ? std::string(none) : "there is " + join(ready, ", ");
  return broken.empty() ? here : here + "; " + join(broken, "; ");
}

std::string accepted_words(const Nvcc& nvcc) {
  std::vector<std::string> words;
  if (!nvcc.max_gcc.empty()) words.push_back("gcc up to " + nvcc.max_gcc);
  if (!nvcc.max_clang.empty()) words.push_back("clang before " + nvcc.max_clang);
  return join(words, ", ");
}

}  // namespace

Status check_platform(const ToolchainNeed& need, const Environment& environment) {
  const auto& platform = need.platform;
  if (is_windows(platform) && need.stable && environment.platform == k_windows_device) return {};
  if (is_windows(platform) && need.stable)
    return fail(ErrorKind::machine, "TCH006",
                fmt::format("{} wheels cannot be built on {}: their GPU code is made beside a compiler for {}",
                            platform, environment.platform, k_windows_device),
                "build them on a machine of that platform");
  if (is_windows(platform))
    return fail(
        ErrorKind::machine, "TCH006",
        fmt::format("{} wheels cannot be built on {}: their host code needs MSVC and Windows' torch libraries",
                    platform, environment.platform),
        "only a source on torch's stable interface is built for Windows here; for this one sagekit generate github "
        "writes the workflow that builds it on Windows, with upstream's setup.py and MSVC");
  if (platform == environment.platform || (platform == "linux_aarch64" && environment.platform == "linux_x86_64"))
    return {};
  return fail(ErrorKind::machine, "TCH006",
              fmt::format("{} wheels cannot be built on {}: no cross build between the two is known", platform,
                          environment.platform),
              "build them on a machine of that platform");
}

Result<Nvcc> choose_nvcc(const ToolchainNeed& need, const Environment& environment) {
  const auto* nvcc = best(environment.nvcc, [&](const Nvcc& n) { return n.cuda == need.cuda; });
  if (const auto* broken =
          unusable_folder_tool(environment.nvcc, nvcc, [&](const Nvcc& n) { return unknown_or(n.cuda, need.cuda); }))
    return fail(ErrorKind::machine, "TCH008",
                fmt::format("the given nvcc {} cannot be used: {}", broken->executable.string(), broken->why_not),
                "mend it, or build without --toolchain folder: to use another one");
  const bool cross_runtime = need.static_runtime && need.platform != environment.platform;
  if (nvcc == nullptr) {
    if (auto error = nvcc_no_fetch_mends(environment, need.cuda)) return std::unexpected(std::move(*error));
    const auto here =
        what_is_here(environment.nvcc, none_there(environment, "there is none at all"), [](const Nvcc& n) {
          return n.cuda.empty() ? n.executable.string() : fmt::format("{} ({})", n.cuda, n.executable.string());
        });
    if (cross_runtime) return no_cross_runtime(need, nullptr, here, environment.fetch_flags);
    const auto fetch = fmt::format("sagekit toolchain fetch --cuda {}{} brings it", need.cuda, environment.fetch_flags);
    return fail(ErrorKind::machine, "TCH001",
                fmt::format("no nvcc {}{}; {}", need.cuda, looked_at(environment, " on this machine"), here),
                mend_there(environment, how_to_get_nvcc(need.cuda, can_fetch_nvcc(need.cuda) ? fetch : "")));
  }

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
  if (unknown.empty() && cross_runtime && nvcc->cross_library_dir.empty()) return no_cross_runtime(need, nvcc, {});
  if (unknown.empty()) return *nvcc;
  std::vector<std::string> known;
  for (const auto& arch : nvcc->code) known.push_back(to_string(arch));
  return fail(ErrorKind::machine, "TCH002",
              fmt::format("nvcc {} ({}) cannot compile for {}; it knows {}", nvcc->version, nvcc->executable.string(),
                          join(unknown, ", "), join(known, " ")),
              since.empty() ? "leave that arch out of --arch" : since + "; or leave it out of --arch");
}

bool accepts(const Nvcc& nvcc, const HostCompiler& compiler) {
  if (!compiler.library_dir.empty()) return false;  // for Windows: nvcc on Linux asks for a compiler of its own system
  const std::string& limit = compiler.kind == CompilerKind::gcc ? nvcc.max_gcc : nvcc.max_clang;
  if (limit.empty()) return false;
  const int major = major_of(compiler.version);
  return compiler.kind == CompilerKind::gcc ? major <= major_of(limit) : major < major_of(limit);
}

Result<HostCompiler> choose_host_compiler(const ToolchainNeed& need, const Nvcc& nvcc, const Environment& environment) {
  const std::string machine(cpu_of_platform(need.platform));
  const bool cross = need.platform != environment.platform;
  const auto fits = [&](const HostCompiler& c) {
    return c.target.starts_with(machine + "-") && c.library_dir.empty() && (need.cuda.empty() || accepts(nvcc, c));
  };
  for (const auto kind : {CompilerKind::gcc, CompilerKind::clang})
    if (const auto* chosen = best(environment.host_compilers, [&](const auto& c) { return c.kind == kind && fits(c); }))
      return *chosen;
  const std::string wanted =
      need.cuda.empty() ? "" : fmt::format(" that nvcc {} accepts ({})", nvcc.cuda, accepted_words(nvcc));
  const auto say = [](const HostCompiler& c) {
    return c.version.empty() ? c.executable.string()
                             : fmt::format("{} {} for {}", to_string(c.kind), c.version, c.target);
  };
  // The distribution's own, unless that is what is here and too new.
  const bool has_gcc = std::ranges::any_of(environment.host_compilers, [&](const HostCompiler& c) {
    return c.kind == CompilerKind::gcc && c.target.starts_with(machine + "-") && c.library_dir.empty();
  });
  const std::string suffix =
      need.cuda.empty() || nvcc.max_gcc.empty() || !has_gcc ? "" : "-" + nvcc.max_gcc + "  # or an older one";
  return fail(ErrorKind::machine, "TCH003",
              fmt::format("no C++ compiler for {}{}; {}", need.platform, wanted,
                          what_is_here(environment.host_compilers, "there is none at all", say)),
              cross ? fmt::format("apt-get install g++-{}-linux-gnu", replace_all(machine, "_", "-"))
                    : fmt::format("apt-get install g++{}", suffix));
}

namespace {

/// Microsoft's folder where one is given, else a mingw: one for the preferred C library, else any.
const HostCompiler* windows_libraries(const std::vector<HostCompiler>& all) {
  if (const auto* microsoft = best(all, [](const HostCompiler& c) { return c.kind == CompilerKind::msvc; }))
    return microsoft;
  const auto is_mingw = [](const HostCompiler& c) { return c.kind == CompilerKind::gcc && !c.library_dir.empty(); };
  for (const auto& kind : windows_data().mingw)
    if (const auto* mingw =
            best(all, [&](const HostCompiler& c) { return is_mingw(c) && c.c_runtime == kind.runtime; }))
      return mingw;
  return best(all, is_mingw);
}

/// The package that every Debian has.
std::string mingw_package() {
  for (const auto& kind : windows_data().mingw)
    if (kind.everywhere) return kind.package;
  return {};
}

/// lld-link beside that clang, where its driver looks first.
std::filesystem::path windows_linker(const HostCompiler& clang) {
  std::error_code error;
  const auto real = std::filesystem::canonical(clang.executable, error);
  if (error) return {};
  auto linker = real.parent_path() / windows_data().linker;
  return std::filesystem::exists(linker, error) ? linker : std::filesystem::path();
}

}  // namespace

Result<WindowsCompilers> choose_windows_compilers(const ToolchainNeed& need, const Nvcc& nvcc,
                                                  const Environment& environment) {
  const auto& all = environment.host_compilers;
  const auto& known = windows_data();
  const auto* clang = best(all, [&](const HostCompiler& c) {
    return c.kind == CompilerKind::clang && major_of(c.version) >= known.least_clang;
  });
  const auto* libraries = windows_libraries(all);
  const auto given = std::ranges::find(all, CompilerKind::msvc, &HostCompiler::kind);
  if (given != all.end() && (libraries == nullptr || libraries->kind != CompilerKind::msvc))
    return fail(ErrorKind::machine, "TCH008",
                fmt::format("Microsoft's headers and libraries in {} cannot be used: {}", given->executable.string(),
                            given->why_not),
                "xwin splat --use-winsysroot-style --output DIR makes such a folder; or build without it, with mingw");
  auto own = need;
  own.platform = environment.platform;
  TRY_ASSIGN(auto device, choose_host_compiler(own, nvcc, environment));
  std::vector<std::string> missing, packages;
  if (clang == nullptr) {
    missing.push_back(fmt::format("no clang++ {} or newer", known.least_clang));
    packages.push_back(known.clang_package);
  }
  if (libraries == nullptr) {
    missing.emplace_back("no mingw-w64 with C++ headers");
    packages.push_back(mingw_package());
  }
  std::filesystem::path linker;
  if (libraries != nullptr && libraries->kind == CompilerKind::msvc) {
    if (clang != nullptr) linker = windows_linker(*clang);
    if (linker.empty()) {
      missing.push_back(fmt::format("no {} beside clang++", known.linker));
      packages.push_back(known.linker_package);
    }
  }
  if (missing.empty()) return WindowsCompilers{*clang, *libraries, std::move(device), std::move(linker)};
  return fail(
      ErrorKind::machine, "TCH003",
      fmt::format("{} on this machine, which cross-building for {} takes", join(missing, " and "), need.platform),
      "apt-get install " + join(packages, " "));
}

namespace {

// Header folders are for one CPU; the SOABI says which. One that names none is the machine's own.
bool is_for(const Python& python, const std::string& platform, const Environment& environment) {
  for (const auto* known : {"linux_x86_64", "linux_aarch64"})
    if (python.soabi.find(cpu_of_platform(known)) != std::string::npos) return platform == known;
  return platform == environment.platform;
}

// Py_LIMITED_API makes a newer Python's headers those of an older one; free-threaded ones refuse it before 3.15.
bool offers_limited_api(const Python& python, const std::string& wanted) {
  const auto has = parse_version_number(python.minor), least = parse_version_number(wanted);
  return has && least && *has >= *least && !python.abi.ends_with('t');
}

// Where an interpreter is, or headers without one.
std::string place_of(const Python& python) {
  return python.executable.empty() && !python.include_dirs.empty() ? python.include_dirs.front().string()
                                                                   : python.executable.string();
}

// The same headers for another CPU or system; `build` puts its pyconfig.h in place.
Python headers_for(Python own, const std::string& platform, const std::string& own_platform) {
  own.executable.clear();
  own.soabi = is_windows(platform) ? std::string()  // its own is in no name of the limited API
                                   : replace_all(own.soabi, cpu_of_platform(own_platform), cpu_of_platform(platform));
  own.source = ToolSource::derived;
  own.identity = sha256_hex(fmt::format("{} for {} 1", own.identity, platform));
  return own;
}

}  // namespace

Result<Python> choose_python(const ToolchainNeed& need, const Environment& environment) {
  // "3.13t" asks for the free-threaded build, "3.13" for the other.
  const std::string abi = "cp" + without_dots(need.python);
  const auto of_platform = [&](const std::string& platform) {
    const auto* exact =
        best(environment.pythons, [&](const Python& p) { return p.abi == abi && is_for(p, platform, environment); });
    if (exact != nullptr || !need.limited_api) return exact;
    return best(environment.pythons, [&](const Python& p) {
      return offers_limited_api(p, need.python) && is_for(p, platform, environment);
    });
  };
  const auto* python = of_platform(need.platform);
  if (const auto* broken =
          unusable_folder_tool(environment.pythons, python, [&](const Python& p) { return unknown_or(p.abi, abi); }))
    return fail(ErrorKind::machine, "TCH008",
                fmt::format("the given Python {} cannot be used: {}", place_of(*broken), broken->why_not),
                "mend it, or leave it out to use another one");
  if (python != nullptr) return *python;
  // Headers for the other CPU differ in a few lines of pyconfig.h, which the build writes (docs/decisions/0007).
  if (need.platform != environment.platform)
    if (const auto* own = of_platform(environment.platform))
      return headers_for(*own, need.platform, environment.platform);
  const auto say = [](const Python& p) {
    if (p.version.empty()) return place_of(p);
    return fmt::format("{}{} ({})", p.version, p.abi.ends_with('t') ? " free-threaded" : "", place_of(p));
  };
  return fail(
      ErrorKind::machine, "TCH004",
      fmt::format("no Python {} with headers for {}; {}", need.python, need.platform,
                  what_is_here(environment.pythons, "there is no Python at all", say)),
      fmt::format("uv python install {0}, or apt-get install libpython{0}-dev where the distribution has it, or "
                  "give its headers with --python-headers DIR",
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
  if (torch == nullptr || (any->source == ToolSource::folder && torch->source != ToolSource::folder)) torch = any;
  if (const auto* broken = unusable_folder_tool(environment.torches, torch, [&](const TorchSysroot& t) {
        return unknown_or(t.version, need.torch) && unknown_or(t.platform, need.platform) &&
               (t.version.empty() || t.cuda == need.cuda);
      }))
    return fail(ErrorKind::machine, "TCH008",
                fmt::format("the given torch {} cannot be used: {}", broken->root.string(), broken->why_not),
                "mend it, or build without --toolchain folder: to use another one");
  if (torch != nullptr) return *torch;
  const std::string build = need.cuda.empty() ? "+cpu" : "+cu" + without_dots(need.cuda);
  const auto say = [](const TorchSysroot& t) {
    if (t.version.empty()) return t.root.string();
    return fmt::format("{}{} {} ({})", t.version, t.local.empty() ? "" : "+" + t.local, t.platform, t.root.string());
  };
  return fail(
      ErrorKind::machine, "TCH005",
      fmt::format("no torch {}{} for {}{}; {}", need.torch, build, need.platform, looked_at(environment, ""),
                  what_is_here(environment.torches, none_there(environment, "there is no torch at all"), say)),
      mend_there(
          environment,
          fmt::format("sagekit toolchain fetch --torch {}{}{}{} brings it where the package index has it; or unpack "
                      "that wheel (any Python's) and give its folder with --toolchain folder:DIR",
                      need.torch, need.cuda.empty() ? "" : " --cuda " + need.cuda,
                      need.platform == environment.platform ? "" : " --platform " + need.platform,
                      environment.fetch_flags)));
}

Result<Toolchain> choose_toolchain(const ToolchainNeed& need, const Environment& environment) {
  TRY(check_platform(need, environment));
  Toolchain toolchain;
  if (!need.cuda.empty()) {
    TRY_ASSIGN(toolchain.nvcc, choose_nvcc(need, environment));
  }
  if (is_windows(need.platform)) {
    TRY_ASSIGN(auto compilers, choose_windows_compilers(need, toolchain.nvcc, environment));
    toolchain.host_compiler = std::move(compilers.clang);
    toolchain.mingw = std::move(compilers.mingw);
    toolchain.device_compiler = std::move(compilers.device);
    toolchain.windows_linker = std::move(compilers.linker);
  } else {
    TRY_ASSIGN(toolchain.host_compiler, choose_host_compiler(need, toolchain.nvcc, environment));
  }
  if (!need.python.empty()) {
    TRY_ASSIGN(toolchain.python, choose_python(need, environment));
  }
  if (!need.torch.empty()) {
    TRY_ASSIGN(toolchain.torch, choose_torch(need, toolchain.python, environment));
  }
  return toolchain;
}

}  // namespace sagekit
