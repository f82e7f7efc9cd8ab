#include "spec/data.hpp"
#include "spec/platform.hpp"
#include "spec/windows_data.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"
#include "toolchain/narrowed.hpp"
#include "toolchain/recipe.hpp"
#include "toolchain/tool_choice.hpp"
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
