#include "environment/probes.hpp"
#include "support/file.hpp"
#include "support/text.hpp"

#include <gnu/libc-version.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

// Files of /proc and /sys say they have no size: they must be read, not mapped.
std::string read_virtual(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  return text.str();
}

std::optional<std::uint64_t> number_of(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The cgroup folders whose limits hold for this process: its own and every parent. In a container the path that
// /proc/self/cgroup tells may not be visible below the mount; then the mount itself is the limit that counts.
std::vector<fs::path> cgroup_folders(const fs::path& root, const std::string& controller) {
  std::vector<fs::path> folders;
  for (const auto& line : split(read_virtual(root / "proc/self/cgroup"), '\n')) {
    const auto parts = split(line, ':');
    if (parts.size() < 3) continue;
    const auto names = split(parts[1], ',');
    const bool unified = parts[0] == "0" && parts[1].empty();
    const bool version1 = std::ranges::find(names, controller) != names.end();
    if (!unified && (!version1 || controller.empty())) continue;
    const fs::path mount = root / "sys/fs/cgroup" / (unified ? "" : parts[1]);
    for (fs::path path = fs::path(parts[2]).relative_path(); !path.empty(); path = path.parent_path())
      folders.push_back(mount / path);
    folders.push_back(mount);
  }
  return folders;
}

// cpu.max is "150000 100000" or "max 100000" (microseconds per period); version 1 has two files, -1 = no limit.
int cgroup_cpus(const fs::path& root) {
  std::uint64_t least = std::numeric_limits<int>::max();
  for (const auto& folder : cgroup_folders(root, "cpu")) {
    auto words = split_words(read_virtual(folder / "cpu.max"));
    if (words.size() != 2)
      words = {trim(read_virtual(folder / "cpu.cfs_quota_us")), trim(read_virtual(folder / "cpu.cfs_period_us"))};
    const auto quota = number_of(words[0]), period = number_of(words[1]);
    if (quota && period && *quota > 0 && *period > 0) least = std::min(least, (*quota + *period - 1) / *period);
  }
  return static_cast<int>(least);
}

std::uint64_t cgroup_memory(const fs::path& root) {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (const auto& folder : cgroup_folders(root, "memory"))
    for (const auto* name : {"memory.max", "memory.limit_in_bytes"})
      if (const auto limit = number_of(trim(read_virtual(folder / name)))) least = std::min(least, *limit);
  return least;
}

std::uint64_t machine_memory(const fs::path& root) {
  for (const auto& line : split(read_virtual(root / "proc/meminfo"), '\n'))
    if (const auto words = split_words(line); words.size() >= 2 && words[0] == "MemTotal:")
      if (const auto kibibytes = number_of(words[1])) return *kibibytes * 1024;
  return static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES))) *
         static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PAGESIZE)));
}

int affinity_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));  // more than 1024 CPUs
}

}  // namespace

void read_machine(const ProbeOptions& options, Environment& environment) {
  utsname host{};
  ::uname(&host);
  environment.os = lower(host.sysname);
  environment.machine = host.machine;
  environment.platform = environment.os + "_" + environment.machine;
  environment.glibc = ::gnu_get_libc_version();
  environment.cpus = std::max(1, std::min(affinity_cpus(), cgroup_cpus(options.root)));
  environment.memory_bytes = std::min(machine_memory(options.root), cgroup_memory(options.root));
}

std::vector<Gpu> probe_gpus(const ProbeContext& context) {
  std::vector<Gpu> gpus;
  const auto& path = context.options.path;
  if (std::ranges::none_of(path, [](const fs::path& folder) { return is_executable(folder / "nvidia-smi"); }))
    return gpus;
  const auto program =
      *std::ranges::find_if(path, [](const fs::path& folder) { return is_executable(folder / "nvidia-smi"); });
  const auto output = context.output_of(
      {(program / "nvidia-smi").string(), "--query-gpu=name,compute_cap,driver_version", "--format=csv,noheader"});
  if (!output) return gpus;
  for (const auto& line : split(*output, '\n')) {
    const auto parts = split(line, ',');
    if (parts.size() < 3) continue;
    const auto capability = version_numbers(trim(parts[parts.size() - 2]));
    if (capability.size() != 2) continue;
    const std::vector<std::string> name(parts.begin(), parts.end() - 2);
    gpus.push_back({trim(join(name, ",")), {capability[0], capability[1]}, trim(parts.back())});
  }
  return gpus;
}

}  // namespace sagekit
