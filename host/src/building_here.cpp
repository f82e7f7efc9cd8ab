#include "building_here.hpp"

#include "verb.hpp"

#include <sagekit/plan.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>

namespace sagekit::host {

std::vector<Verb> build_verbs();

namespace {

/// A variant whose kernels use nothing of torch has cells without one.
bool wants_torch(const Spec& spec) {
  return std::ranges::any_of(spec.matrix.include, [](const auto& row) { return !row.torch.empty(); });
}

/// Looked up once a run: each look says anew which plugins were not loaded.
Result<Plugin> plugin_for(const Session& session, const Target& target) {
  auto plugin = session.plugin();
  if (!plugin) return std::unexpected(plugin.error());
  const auto lacks = [](const std::string& what, std::string_view hint) {
    return fail(ErrorKind::machine, "RES009", fmt::format("a wheel for this machine cannot be built: {}", what),
                std::string(hint));
  };
  if (lacks_torch(plugin->spec(), target)) {
    // The Python is asked as an installer sees it.
    const bool more = session.settings.python_environment.contains("PYTHONPATH");
    return lacks(
        "its Python has no torch with CUDA",
        fmt::format("{}{}", k_torch_first, more ? "; PYTHONPATH is set, and what lies there does not count" : ""));
  }
  if (!target.gpus || target.gpus->empty()) return lacks("it has no NVIDIA GPU that is known", k_name_gpu);
  return plugin;
}

/// Of one plugin file, whose next one gives another wheel the same name.
std::filesystem::path built_folder(const Plugin& plugin, const HereOptions& options) {
  return options.store / "built" / fmt::format("{}-{}", plugin.spec().name, plugin.sha256().substr(0, 12));
}

std::string arches_of(const Target& target) {
  std::set<Capability> capabilities;
  if (target.gpus)
    for (const auto& gpu : *target.gpus) capabilities.insert(gpu.capability);
  std::string arches;
  for (const auto& one : capabilities) arches += (arches.empty() ? "" : ";") + to_string(one);
  return arches;
}

std::string minor_of_torch(const Target& target) {
  return target.torch.substr(0, target.torch.find('.', target.torch.find('.') + 1));
}

bool has_cuda(const Target& target) { return !target.torch_cuda.empty() && target.torch_cuda != "none"; }

/// The words behind `build`. A patch release of torch that no cell has is built for by its minor, whose ABI it shares.
Result<std::vector<std::pair<std::string, std::string>>> build_flags(const Plugin& plugin, const Target& target,
                                                                     const HereOptions& options) {
  const auto profile = profile_for(plugin.spec(), target);
  if (!profile) return std::unexpected(profile.error());
  std::vector<std::pair<std::string, std::string>> flags = {{"--arch", arches_of(target)},
                                                            {"--python", target.python},
                                                            {"--platform", target.platform},
                                                            {"--output", built_folder(plugin, options).string()},
                                                            {"--store", options.store.string()}};
  if (wants_torch(plugin.spec())) flags.emplace_back("--torch", minor_of_torch(target));
  if (has_cuda(target)) flags.emplace_back("--cuda", target.torch_cuda);
  if (!options.source.empty()) flags.emplace_back("--source", options.source);
  for (const auto& one : options.vendored) flags.emplace_back("--vendored", one);
  if (*profile != "default") flags.emplace_back("--profile", *profile);
  return flags;
}

/// What `build` prints as its result is progress here: stdout is install's.
class StdoutAside {
 public:
  StdoutAside() : m_kept((std::fflush(stdout), ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3))) {
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  ~StdoutAside() {
    std::fflush(stdout);
    ::dup2(m_kept, STDOUT_FILENO);
    ::close(m_kept);
  }
  StdoutAside(const StdoutAside&) = delete;
  StdoutAside& operator=(const StdoutAside&) = delete;

 private:
  int m_kept;
};

}  // namespace

bool lacks_torch(const Spec& spec, const Target& target) {
  return wants_torch(spec) && (target.torch.empty() || target.torch_cuda.empty() || target.torch_cuda == "none");
}

Result<std::string> profile_for(const Spec& spec, const Target& target) {
  Request request;
  request.arches = arches_of(target);
  if (wants_torch(spec)) request.torches = {minor_of_torch(target)};
  if (has_cuda(target)) request.cudas = {target.torch_cuda};
  request.pythons = {target.python};
  request.platforms = {target.platform};
  request.with_steps = false;
  std::optional<Error> first;
  for (const auto& profile : spec.profiles) {
    request.profile = profile.name;
    const auto plan = make_plan(spec, request, {});
    if (plan && !plan->cells.empty()) return profile.name;
    if (!first && !plan) first = plan.error();
    if (!first && !plan->excluded.empty())
      first = Error{ErrorKind::no_match, "PLN010", "", "", plan->excluded.front().reason};
  }
  std::vector<std::string> wanted;
  if (wants_torch(spec)) wanted.push_back("torch " + minor_of_torch(target));
  if (has_cuda(target)) wanted.push_back("CUDA " + target.torch_cuda);
  wanted.push_back("Python " + target.python);
  wanted.push_back(target.platform);
  if (!request.arches.empty()) wanted.push_back("GPU " + request.arches);
  return fail(first ? first->kind : ErrorKind::no_match, first ? first->code : "PLN004",
              fmt::format("plugin {} has no wheel to build for {}", spec.name, fmt::join(wanted, ", ")),
              first ? first->hint : "");
}

Result<HereCommand> build_command(const Session& session, const Target& target, const HereOptions& options) {
  const auto plugin = plugin_for(session, target);
  if (!plugin) return std::unexpected(plugin.error());
  std::vector<std::string> words = {"sagekit"};
  for (const auto& word : session.global.plugins) words.insert(words.end(), {"--plugin", word});
  words.emplace_back("build");
  const auto flags = build_flags(*plugin, target, options);
  if (!flags) return std::unexpected(flags.error());
  for (const auto& [flag, value] : *flags) words.insert(words.end(), {flag, value});
  return HereCommand{std::move(words), built_folder(*plugin, options)};
}

Result<std::filesystem::path> build_here(Session& session, const Target& target, const HereOptions& options) {
  const auto plugin = plugin_for(session, target);
  if (!plugin) return std::unexpected(plugin.error());
  const auto words = build_flags(*plugin, target, options);
  if (!words) return std::unexpected(words.error());
  const auto folder = built_folder(*plugin, options);
  auto verb = std::move(build_verbs().front());
  Flags flags;
  verb.declare(flags);
  for (const auto& [name, value] : *words) {
    const auto flag = std::ranges::find(flags.flags(), name, &Flag::long_name);
    if (flag == flags.flags().end()) return fail(ErrorKind::bug, "CLI001", fmt::format("build has no flag {}", name));
    if (const auto taken = flag->take(value); !taken) return std::unexpected(taken.error());
  }
  session.console.say(fmt::format("building a wheel for this machine, into {}", folder.string()));
  const bool json = session.global.json;
  session.global.json = false;
  session.interpreter = target.interpreter;
  const int code = [&] {
    const StdoutAside aside;
    return verb.run(session);
  }();
  session.global.json = json;
  if (code != 0)
    return fail(code == 3     ? ErrorKind::machine
                : code == 4   ? ErrorKind::no_match
                : code == 130 ? ErrorKind::interrupted
                              : ErrorKind::failed,
                "RES010", fmt::format("the build for this machine ended with exit code {}; its reason is above", code),
                "sagekit doctor says what the machine lacks");
  return folder;
}

}  // namespace sagekit::host
