#include "spec/data.hpp"

#include "support/format.hpp"
#include "support/text.hpp"

#include <algorithm>

namespace sagekit {

namespace {

bool holds_word(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

const TorchRelease* find_release(std::string_view torch) {
  const auto& torches = core_data().torches;
  const auto row = std::ranges::find(torches, torch, &TorchRelease::version);
  return row == torches.end() ? nullptr : &*row;
}

}  // namespace

std::optional<Absence> torch_absence(std::string_view torch, std::string_view cuda, std::string_view platform,
                                     std::string_view python) {
  const TorchRelease* release = find_release(torch);
  if (!release) {
    std::vector<std::string> known;
    for (const TorchRelease& row : core_data().torches) known.push_back(row.version);
    return Absence{fmt::format("torch {} is not a known release; {}", torch, suggestion(torch, known)),
                   "sagekit's torch table"};
  }
  std::vector<std::string> cudas;
  for (const TorchBuild& build : release->builds)
    if (!holds_word(cudas, build.cuda)) cudas.push_back(build.cuda);
  if (!holds_word(cudas, cuda))
    return Absence{fmt::format("torch {} was never published for CUDA {}, only for {}", torch, cuda, join(cudas, ", ")),
                   release->source};
  const bool on_platform = std::ranges::any_of(release->builds, [&](const TorchBuild& build) {
    return build.cuda == cuda && holds_word(build.platforms, platform);
  });
  if (!on_platform)
    return Absence{fmt::format("no torch {} for CUDA {} is known for {}", torch, cuda, platform), release->source};
  if (!holds_word(release->pythons, python))
    return Absence{fmt::format("torch {} was not published for Python {}, only for {}", torch, python,
                               join(release->pythons, ", ")),
                   release->source};
  return {};
}

std::optional<std::vector<std::string>> cudas_on_package_index(std::string_view torch, std::string_view platform) {
  const auto& releases = core_data().torches;
  const auto release = std::ranges::find(releases, torch, &TorchRelease::version);
  if (release == releases.end()) return {};
  std::vector<std::string> cudas;
  for (const auto& build : release->builds)
    if (build.on_package_index && holds_word(build.platforms, platform)) cudas.push_back(build.cuda);
  return cudas;
}

std::optional<bool> torch_has_new_strings(std::string_view torch, std::string_view cuda) {
  const auto version = parse_version_number(torch);
  if (!version) return {};
  for (const StringLayout& row : core_data().string_layouts) {
    if (!row.torch.contains(*version)) continue;
    if (row.cuda.empty() || row.cuda == cuda) return row.is_new;
    if (cuda.empty()) return {};
  }
  return {};
}

std::optional<bool> torch_has_new_strings(std::string_view torch, std::string_view cuda, std::string_view platform) {
  const bool linux = platform.starts_with("linux_") || platform.starts_with("manylinux");
  return linux ? torch_has_new_strings(torch, cuda) : std::nullopt;
}

std::string triton_of_torch(std::string_view torch) {
  for (const auto& row : core_data().tritons)
    if (holds_word(row.torches, torch)) return row.specifiers;
  return {};
}

std::vector<std::string> gpu_names(Capability capability, std::string_view cpu) {
  const auto& models = gpu_data().models;
  const auto row = std::ranges::find(models, capability, &GpuModels::capability);
  if (row == models.end()) return {};
  auto names = row->names;
  if (!cpu.empty() && cpu != "aarch64")
    std::erase_if(names, [&](const std::string& name) { return contains(row->aarch64, name); });
  return names;
}

DriverNeed driver_for(std::string_view toolkit, bool ptx) {
  const auto cuda = parse_version_number(toolkit);
  if (!cuda) return {};
  const auto& drivers = gpu_data().drivers;
  const auto fits = [&](const ToolkitDriver& row) {
    return ptx ? row.cuda == *cuda : row.cuda.major() == cuda->major();
  };
  const auto row = std::ranges::find_if(drivers, fits);
  if (row == drivers.end()) return {};
  return ptx ? row->own : row->family;
}

std::string torch_index(std::string_view cuda) {
  return replace_all(core_data().torch_index, "{cuda_digits}", without_dots(cuda));
}

DriverNeed first_driver_of(Capability gpu) {
  const auto& models = gpu_data().models;
  const auto row = std::ranges::find(models, gpu, &GpuModels::capability);
  return row == models.end() ? DriverNeed() : row->driver;
}

std::optional<Absence> nvcc_absence(const VersionNumber& cuda, const Arch& arch) {
  const NvccArch* newer = nullptr;
  const NvccArch* older = nullptr;
  for (const NvccArch& row : core_data().nvcc_arches) {
    if (row.arch != arch) continue;
    if (cuda < row.since)
      newer = &row;
    else if (row.until && cuda >= *row.until)
      older = &row;
    else
      return {};
  }
  if (newer)
    return Absence{fmt::format("nvcc {} cannot compile for {}: {} is the first that can", to_string(cuda),
                               sm_name(arch), to_string(newer->since)),
                   newer->source};
  if (older)
    return Absence{fmt::format("nvcc {} no longer compiles for {}: it was dropped in {}", to_string(cuda),
                               sm_name(arch), to_string(*older->until)),
                   older->source};
  return Absence{fmt::format("no known nvcc compiles for {}", sm_name(arch)), "sagekit's nvcc table"};
}

bool nvcc_supports(const VersionNumber& cuda, const Arch& arch) { return !nvcc_absence(cuda, arch); }

std::optional<VersionNumber> first_nvcc_for(const Arch& arch) {
  std::optional<VersionNumber> first;
  for (const NvccArch& row : core_data().nvcc_arches)
    if (row.arch == arch && (!first || row.since < *first)) first = row.since;
  return first;
}

unsigned split_compile_threads(std::string_view cuda, const Cost& one_arch) {
  const auto& split = core_data().split_compile;
  return std::ranges::count(split.cuda, cuda) && one_arch.cpu_seconds >= split.cpu_seconds ? split.threads : 1;
}

}  // namespace sagekit
