#include "engine_flags.hpp"

#include <sagekit/generate.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace sagekit::host {

namespace {

constexpr const char* k_containers = "docker, podman and buildah";

std::set<std::string> flags_of(std::string_view kind) {
  const auto row = std::ranges::find(generate_kinds(), kind, &GenerateKind::name);
  return {row->flags.begin(), row->flags.end()};
}

Status check_no_engine_flags(const Session& session) {
  const auto slurm = flags_of("slurm"), container = flags_of("dockerfile");
  for (const auto& flag : session.global.given)
    if (flag != "--source" && (slurm.contains(flag) || container.contains(flag)))
      return fail(ErrorKind::usage, "CLI001", fmt::format("a build on this machine makes nothing of {}", flag),
                  fmt::format("it is for --in {}", slurm.contains(flag) ? "slurm" : k_containers));
  return {};
}

/// What to do instead of a flag that Slurm's jobs make nothing of.
std::string instead_in_slurm(const std::string& flag) {
  if (flag == "--shard")
    return "--shards N says into how many tasks the plan is divided, --cpus N how many CPUs each has";
  if (flag == "--memory") return "a task asks for what its steps need; with fewer --cpus that is less";
  return "leave it out, or build here";
}

}  // namespace

const std::vector<std::string>& engines() {
  static const std::vector<std::string> k_engines{"docker", "podman", "buildah", "slurm"};
  return k_engines;
}

Status check_engine_flags(const Session& session, const std::string& engine) {
  if (engine.empty()) return check_no_engine_flags(session);
  static const std::set<std::string> k_taken{
      "--in",        "--profile",  "--cells",        "--python",  "--torch",        "--cuda",   "--platform",
      "--arch",      "--revision", "--naming",       "--backend", "--allow-defect", "--output", "--source",
      "--jobs",      "--memory",   "--keep-going",   "--store",   "--sagekit",      "--base",   "--pin",
      "--partition", "--account",  "--shared-store", "--shards",  "--cpus",         "--plugin", "--plugin-dir",
      "--config",    "--json",     "--quiet",        "--verbose", "--color",        "-C",       "--gpu-check"};
  const bool slurm = engine == "slurm";
  const auto own = flags_of(slurm ? "slurm" : "dockerfile"), others = flags_of(slurm ? "dockerfile" : "slurm");
  const auto is_others = [&](const std::string& flag) { return others.contains(flag) && !own.contains(flag); };
  const auto is_taken = [&](const std::string& flag) {
    return k_taken.contains(flag) && !is_others(flag) && !(slurm && flag == "--memory");
  };
  for (const auto& flag : session.global.given) {
    if (is_taken(flag)) continue;
    const bool of_others = is_others(flag);
    return fail(ErrorKind::usage, "CLI001", fmt::format("build --in {} makes nothing of {}", engine, flag),
                of_others ? fmt::format("leave it out: it is for --in {}", slurm ? k_containers : "slurm")
                : slurm   ? instead_in_slurm(flag)
                          : "leave it out, or build here");
  }
  // A build that was told to fetch nothing, and fetches, would be worse than none.
  for (const auto& [flag, place] : session.configured)
    if (!is_taken(flag))
      return fail(ErrorKind::usage, "CLI001",
                  fmt::format("build --in {} makes nothing of {}, a key of sagekit.toml", engine, flag.substr(2)),
                  "build here, or name a file without it: --config FILE", fmt::format("{}:{}", place.file, place.line));
  if (slurm && session.global.given.contains("--jobs") && session.global.given.contains("--cpus"))
    return fail(ErrorKind::usage, "CLI001", "--jobs and --cpus say the same of Slurm's tasks: a step a CPU",
                "give one");
  if (session.global.plugins.size() > 1)
    return fail(ErrorKind::usage, "PLG010", "build works with one plugin, but several were given",
                "give --plugin once");
  return {};
}

}  // namespace sagekit::host
