#include "spec/data.hpp"
#include "spec/platform.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "toolchain/narrowed.hpp"
#include "toolchain/tool_choice.hpp"

#include <sagekit/provision.hpp>
#include <sagekit/toolchain.hpp>

#include <algorithm>

namespace sagekit {

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

// What this machine can run comes first.
std::string how_to_get_python(const std::string& minor, const Environment& environment) {
  std::vector<std::string> ways;
  const bool packaged = std::ranges::count(environment.packaged_pythons, minor) > 0;
  if (packaged) ways.push_back(fmt::format("apt-get install libpython{}-dev", minor));
  ways.push_back(environment.python_command.empty() ? "uv python install " + minor
                                                    : replace_all(environment.python_command, "{}", minor));
  if (!packaged) ways.push_back(fmt::format("apt-get install libpython{}-dev where the distribution has it", minor));
  ways.emplace_back("give its headers with --python-headers DIR");
  return join(ways, ", or ");
}

/// A fetched torch that is here and damaged: the folder of its tree says for what it is when it cannot itself.
const TorchSysroot* damaged_tree(const ToolchainNeed& need, const std::string& build, const Environment& environment) {
  const auto name = fmt::format("torch-{}-{}-{}-", need.torch, build.substr(1), need.platform);
  const auto found = std::ranges::find_if(environment.torches, [&](const TorchSysroot& t) {
    const bool fetched = t.source == ToolSource::wheels || t.source == ToolSource::redist;
    return fetched && !t.ready && t.root.parent_path().filename().string().starts_with(name);
  });
  return found == environment.torches.end() ? nullptr : &*found;
}

/// toolchain fetch, for a torch.
std::string fetch_torch(const ToolchainNeed& need, const Environment& environment) {
  return fmt::format(
      "sagekit toolchain fetch --torch {}{}{}{}", need.torch, need.cuda.empty() ? "" : " --cuda " + need.cuda,
      need.platform == environment.platform ? "" : " --platform " + need.platform, environment.fetch_flags);
}

Error no_torch(const ToolchainNeed& need, const std::string& build, const Environment& environment) {
  const auto say = [](const TorchSysroot& t) {
    if (t.version.empty()) return t.root.string();
    return fmt::format("{}{} {} ({})", t.version, t.local.empty() ? "" : "+" + t.local, t.platform, t.root.string());
  };
  auto what = fmt::format("no torch {}{} for {}{}; {}", need.torch, build, need.platform, looked_at(environment, ""),
                          what_is_here(environment.torches, none_there(environment, "there is no torch at all"), say));
  auto fetch = fetch_torch(need, environment);
  const auto own =
      only_on_torch_index({TreeKind::torch, need.cuda, need.torch, need.platform}, environment.usual_index);
  if (own.empty()) {
    fetch += " brings it where the package index has it";
  } else {
    const auto there = *cudas_on_package_index(need.torch, need.platform);
    what += there.empty() ? fmt::format("; the package index has that torch for {} without CUDA", need.platform)
                          : fmt::format("; the package index has that torch for CUDA {}", join(there, ", "));
    fetch += fmt::format(" --extra-index-url {} brings it from PyTorch's own", own);
  }
  return {ErrorKind::machine,
          "TCH005",
          std::move(what),
          {},
          mend_there(environment,
                     fetch + "; or unpack that wheel (any Python's) and give its folder with --toolchain folder:DIR")};
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
  return fail(ErrorKind::machine, "TCH004",
              fmt::format("no Python {} with headers for {}; {}", need.python, need.platform,
                          what_is_here(environment.pythons, "there is no Python at all", say)),
              how_to_get_python(need.python, environment));
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
  if (const auto* damaged = damaged_tree(need, build, environment))
    return fail(ErrorKind::machine, "TCH008",
                fmt::format("torch {}{} is here ({}) and cannot be used: {}", need.torch, build, damaged->root.string(),
                            damaged->why_not),
                !damaged->mend.empty() ? damaged->mend
                                       : fmt::format("sagekit toolchain remove {}{}; then {} brings it anew",
                                                     damaged->root.parent_path().filename().string(),
                                                     environment.store_flag, fetch_torch(need, environment)));
  return std::unexpected(no_torch(need, build, environment));
}

}  // namespace sagekit
