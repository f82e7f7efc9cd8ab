// System, container, GPU, driver.
#include "checkup/looks.hpp"
#include "environment/probes.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

namespace sagekit {

namespace {

namespace fs = std::filesystem;
using enum CheckupState;

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

/// Files of /proc and /sys say they have no size.
std::string text_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  return text.str();
}

/// The version of the kernel's module: /sys has it alone, /proc in a sentence.
std::string module_version(const fs::path& root) {
  if (const auto alone = trim(text_of_file(root / "sys/module/nvidia/version")); !alone.empty()) return alone;
  for (const auto& word : split_words(text_of_file(root / "proc/driver/nvidia/version")))
    if (word.find('.') != std::string::npos && parse_version_number(word)) return word;
  return {};
}

bool in_container(const fs::path& root) {
  if (is_there(root / ".dockerenv") || is_there(root / "run/.containerenv")) return true;
  const auto groups = text_of_file(root / "proc/1/cgroup");
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"docker", "kubepods", "containerd", "libpod", "/lxc"},
      [&](std::string_view name) { return groups.find(name) != std::string::npos; });
}

struct LibCuda {
  fs::path path;
  std::string version;  ///< "580.95.05"; "" = its name does not say
};

/// The driver's library, where the loader looks.
std::optional<LibCuda> find_libcuda(const Look& look) {
  const fs::path& root = look.options.probe.root;
  std::vector<fs::path> folders;
  for (const auto& folder : split(look.variable("LD_LIBRARY_PATH"), ':'))
    if (!folder.empty()) folders.emplace_back(folder);
  for (const auto* folder :
       {"usr/lib/wsl/lib", "usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu", "usr/lib64", "usr/lib",
        "lib/x86_64-linux-gnu", "lib64", "usr/local/nvidia/lib64", "run/opengl-driver/lib", "usr/local/cuda/compat"})
    folders.push_back(root / folder);
  for (const auto& folder : folders) {
    const fs::path file = folder / "libcuda.so.1";
    if (!is_there(file)) continue;
    LibCuda found{file, {}};
    const auto real = real_path(file).filename().string();
    if (const auto version = real.substr(std::min(real.size(), std::size_t{11}));
        real.starts_with("libcuda.so.") && version.find('.') != std::string::npos)
      found.version = version;
    return found;
  }
  return std::nullopt;
}

struct Smi {
  bool found = false, works = false, mig = false;
  std::string said;  ///< its first line when it does not work
  std::vector<Gpu> gpus;
  std::size_t mig_instances = 0;
};

Smi ask_smi(const Look& look) {
  Smi smi;
  ProbeOptions probing = look.options.probe;
  probing.path.push_back(probing.root / "usr/lib/wsl/lib");
  const auto program =
      std::ranges::find_if(probing.path, [](const fs::path& folder) { return is_executable(folder / "nvidia-smi"); });
  if (program == probing.path.end()) return smi;
  smi.found = true;
  const ProbeContext context{probing, look.runner};
  smi.gpus = probe_gpus(context);
  smi.works = !smi.gpus.empty();
  const auto path = (*program / "nvidia-smi").string();
  if (!smi.works) {
    const auto said = context.output_of({path, "-L"});
    smi.said = said ? first_line(trim(*said)) : said.error();
    return smi;
  }
  const auto mode = context.output_of({path, "--query-gpu=mig.mode.current", "--format=csv,noheader"});
  smi.mig = mode && mode->find("Enabled") != std::string::npos;
  if (smi.mig)
    if (const auto listed = context.output_of({path, "-L"})) smi.mig_instances = count_of(*listed, "UUID: MIG-");
  return smi;
}

void no_gpu(Look& look, const Smi& smi, const std::string& module) {
  const fs::path& root = look.options.probe.root;
  const bool device = is_there(root / "dev/nvidia0") || is_there(root / "dev/dxg") || !module.empty();
  const std::string nothing_runs = "without a GPU that CUDA sees, no kernel runs";
  if (look.container && !device) {
    look.add("gpu", "GPU", wrong, "none: the container was started without the host's GPUs and driver", nothing_runs,
             "docker run --gpus all ... (podman: --device nvidia.com/gpu=all; needs nvidia-container-toolkit)");
    return;
  }
  if (smi.found) {
    const bool mismatch = smi.said.find("mismatch") != std::string::npos;
    look.add("gpu", "GPU", wrong, fmt::format("nvidia-smi finds none: {}", smi.said), nothing_runs,
             mismatch                                            ? "sudo reboot"
             : smi.said.find("communicate") != std::string::npos ? "sudo modprobe nvidia"
                                                                 : "sudo dmesg | grep -i -e nvrm -e nvidia");
    return;
  }
  if (device)
    look.add("gpu", "GPU", unknown, "a driver is here, and no nvidia-smi that says which GPU",
             "what runs on it cannot be told", "sagekit doctor --for 'gpu=NAME'");
  else
    look.add("gpu", "GPU", wrong, "none: no NVIDIA driver and no device", nothing_runs,
             "sudo ubuntu-drivers install, or your distribution's package of NVIDIA's driver; --for 'gpu=NAME' asks "
             "about another machine's");
}

void look_at_driver(Look& look, const std::string& module) {
  const auto library = find_libcuda(look);
  const std::string named = look.gpus.empty() ? "" : look.gpus.front().driver;
  look.driver = !named.empty() ? named : module;
  if (look.driver.empty() && !library) return;
  std::vector<std::string> parts;
  if (!named.empty()) parts.push_back(named + " (nvidia-smi)");
  if (!module.empty()) parts.push_back(module + " (kernel module)");
  if (library && !library->version.empty())
    parts.push_back(fmt::format("{} ({})", library->version, library->path.string()));
  const std::string found = join(parts, ", ");
  const bool compat = library && library->path.string().find("/compat/") != std::string::npos;
  if (library && library->path.string().find("/stubs/") != std::string::npos)
    look.add("libcuda", "libcuda.so.1", wrong, library->path.string() + " comes first in LD_LIBRARY_PATH",
             "it is a stub for linking: CUDA calls nothing in it", "unset LD_LIBRARY_PATH", "WHY541");
  else if (!module.empty() && library && !library->version.empty() && library->version != module && !compat)
    look.add("driver", "driver", wrong, found,
             "the kernel's part and the library are of two versions: CUDA starts with neither", "sudo reboot");
  else
    look.add("driver", "driver", good, found.empty() ? library->path.string() : found);
  if (!library && !look.gpus.empty() && !look.options.gpus)
    look.add("libcuda", "libcuda.so.1", look.container ? wrong : unknown,
             "in none of the usual folders, nor in LD_LIBRARY_PATH",
             "kernels that call the driver do not load without it",
             look.container ? "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility ..."
                            : "ldconfig -p | grep libcuda");
}

void look_at_visible_devices(Look& look) {
  if (!look.has_variable("CUDA_VISIBLE_DEVICES")) return;
  const auto value = trim(look.variable("CUDA_VISIBLE_DEVICES"));
  const std::string what = "CUDA_VISIBLE_DEVICES", mend = "unset CUDA_VISIBLE_DEVICES";
  const auto first = trim(split(value, ',').front());
  if (first.empty() || first.starts_with('-') || first == "NoDevFiles") {
    look.add("visible-devices", what, wrong, fmt::format("\"{}\"", value), "it hides every GPU from CUDA", mend);
    return;
  }
  for (const auto& part : split(value, ',')) {
    const auto number = trim(part);
    if (number.empty() || number.front() < '0' || number.front() > '9' || look.gpus.empty()) continue;
    if (number.size() < 4 && is_digits(number) && std::stoul(number) < look.gpus.size()) continue;
    look.add("visible-devices", what, number == first ? wrong : warning, fmt::format("\"{}\"", value),
             fmt::format("there is no GPU {}: it and what stands behind it are hidden", number), mend);
    return;
  }
  look.add("visible-devices", what, note, fmt::format("\"{}\"", value),
           "CUDA sees these alone; it counts the fastest first, nvidia-smi by bus");
}

void look_at_container(Look& look) {
  if (!look.container) return;
  const auto devices = look.variable("NVIDIA_VISIBLE_DEVICES"), parts = look.variable("NVIDIA_DRIVER_CAPABILITIES");
  if (look.has_variable("NVIDIA_VISIBLE_DEVICES") && (devices.empty() || devices == "void" || devices == "none"))
    look.add("container", "container", wrong, fmt::format("NVIDIA_VISIBLE_DEVICES is \"{}\"", devices),
             "the runtime gives it no GPU then", "docker run --gpus all -e NVIDIA_VISIBLE_DEVICES=all ...");
  else if (!parts.empty() && parts != "all" && parts.find("compute") == std::string::npos)
    look.add("container", "container", wrong, fmt::format("NVIDIA_DRIVER_CAPABILITIES is \"{}\"", parts),
             "without compute the runtime mounts no libcuda",
             "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility ...");
  else
    look.add("container", "container", note, "this is one",
             "the driver is the host's: it cannot be mended from inside");
}

}  // namespace

void look_at_machine(Look& look) {
  const fs::path& root = look.options.probe.root;
  read_machine(look.options.probe, look.machine);
  look.wsl = lower(text_of_file(root / "proc/sys/kernel/osrelease")).find("microsoft") != std::string::npos;
  look.container = in_container(root);
  look.add("system", "system", good,
           fmt::format("{}, glibc {}{}", look.machine.platform, look.machine.glibc, look.wsl ? ", WSL" : ""));
  look_at_container(look);
  if (look.wsl)
    for (const auto* own : {"usr/lib/x86_64-linux-gnu/libcuda.so.1", "usr/lib64/libcuda.so.1"})
      if (is_there(root / own) && real_path(root / own).string().find("/wsl/") == std::string::npos)
        look.add("system", "WSL", wrong, fmt::format("{} is a Linux driver", (root / own).string()),
                 "below Windows the driver is Windows' own, in /usr/lib/wsl/lib: this one hides it",
                 "sudo apt-get purge 'libnvidia-compute*' 'nvidia-driver*'");
  if (look.options.gpus) {
    look.gpus = *look.options.gpus;
    for (const auto& gpu : look.kinds_of_gpu())
      look.add("gpu", "GPU", note, gpu_text(gpu), "as asked, not this machine's");
    look.driver = look.gpus.empty() ? "" : look.gpus.front().driver;
    return;
  }
  const auto smi = ask_smi(look);
  look.gpus = smi.gpus;
  const auto module = module_version(root);
  if (look.gpus.empty()) no_gpu(look, smi, module);
  for (const auto& gpu : look.kinds_of_gpu()) look.add("gpu", "GPU", good, gpu_text(gpu));
  look_at_driver(look, module);
  if (smi.mig && smi.mig_instances == 0)
    look.add("mig", "MIG", wrong, "it is on, and there is no instance", "CUDA sees no GPU until one is made",
             "sudo nvidia-smi mig -cgi 0 -C");
  else if (smi.mig)
    look.add("mig", "MIG", note, fmt::format("it is on, with {} instances", smi.mig_instances),
             "a program sees one of them, with its share of memory and multiprocessors");
  look_at_visible_devices(look);
}

}  // namespace sagekit
