#include "environment/probes.hpp"
#include "environment/search.hpp"
#include "pypa/platform_tag.hpp"
#include "pypa/version_order.hpp"
#include "resolve/judge.hpp"
#include "spec/data.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/resolve.hpp>

#include <algorithm>
#include <fstream>

namespace sagekit {

namespace {

namespace fs = std::filesystem;

const std::vector<std::string>& target_keys() {
  static const std::vector<std::string> keys = {"gpu", "torch", "python", "platform", "driver", "libc", "wsl"};
  return keys;
}

std::unexpected<Error> not_understood(std::string message, std::string hint) {
  return fail(ErrorKind::usage, "RES001", "--for: " + std::move(message), std::move(hint));
}

std::optional<bool> string_abi(const std::string& torch, const std::string& cuda, const std::string& platform) {
  return torch_has_new_strings(minor_of(torch), cuda, platform);
}

/// "a=b,c=\"d,e\"" in its pieces.
std::vector<std::string> pieces_of(std::string_view text) {
  std::vector<std::string> pieces(1);
  char quote = 0;
  for (const char c : text) {
    if (c == quote)
      quote = 0;
    else if (quote == 0 && (c == '"' || c == '\''))
      quote = c;
    else if (quote == 0 && c == ',')
      pieces.emplace_back();
    else
      pieces.back() += c;
  }
  std::erase_if(pieces, [](const std::string& piece) { return trim(piece).empty(); });
  return pieces;
}

Status set_gpus(Target& target, const std::string& text) {
  std::vector<Gpu> gpus;
  for (const auto& part : split(text, '/')) {
    const std::string name = trim(part);
    if (name == "none") continue;
    if (const auto capability = parse_capability(name)) {
      gpus.push_back({"", *capability, ""});
      continue;
    }
    if (name.find('=') != std::string::npos)
      return not_understood(fmt::format("gpu=\"{}\" is more than a GPU", name), "write commas between the parts");
    const auto capability = find_gpu(name);
    if (const auto arch = parse_arch_list(name); !capability && arch && arch->size() == 1) {  // "sm_89"
      gpus.push_back({"", arch->front().capability, ""});
      continue;
    }
    if (!capability) return not_understood(capability.error().message, capability.error().hint);
    gpus.push_back({name, *capability, ""});
  }
  target.gpus = std::move(gpus);
  return {};
}

Status set_torch(Target& target, std::string text) {
  if (text.starts_with("torch")) text = trim(text.substr(5));  // as --torch takes it
  target.has_torch = text != "none";
  target.torch.clear();
  target.torch_cuda.clear();
  if (text == "none") return {};
  const auto plus = text.find('+');
  const std::string version = text.substr(0, plus);
  if (!PythonRelease::parse(version) || minor_of(version).empty())
    return not_understood(fmt::format("\"{}\" is no version of torch", text),
                          "torch=2.9.1+cu130, torch=2.9.1+cpu, torch=none");
  target.torch = version;
  if (plus == std::string::npos) return {};
  const std::string local = text.substr(plus + 1);
  if (local == "cpu") {
    target.torch_cuda = "none";
    return {};
  }
  const auto cuda = parse_cuda_version(local);
  if (!cuda || !local.starts_with("cu"))
    return not_understood(fmt::format("\"+{}\" is no CUDA of a torch", local), "torch=2.9.1+cu130");
  target.torch_cuda = *cuda;
  return {};
}

Status set_platform(Target& target, const std::string& text) {
  const PlatformTag tag = parse_platform_tag(text);
  using Os = PlatformTag::System;
  const bool cpu = tag.machine == "x86_64" || tag.machine == "aarch64";
  if (!cpu || (tag.system != Os::linux && tag.system != Os::manylinux && tag.system != Os::musllinux &&
               tag.system != Os::windows))
    return not_understood(fmt::format("\"{}\" is no platform that is known", text),
                          lower(text).starts_with("win")
                              ? "platform=win_amd64 is 64-bit Windows, win_arm64 Windows on ARM"
                              : "linux_x86_64, linux_aarch64, win_amd64, win_arm64");
  target.platform = tag.system == Os::windows ? text : "linux_" + tag.machine;
  if (tag.system == Os::manylinux) target.libc = "glibc" + tag.libc;
  if (tag.system == Os::musllinux) target.libc = "musl" + tag.libc;
  return {};
}

Status set_libc(Target& target, const std::string& text) {
  for (const std::string_view name : {"glibc", "musl"}) {
    if (!text.starts_with(name)) continue;
    const std::string version = trim(text.substr(name.size()));
    if (!parse_version_number(version)) break;
    target.libc = std::string(name) + version;
    return {};
  }
  return not_understood(fmt::format("\"{}\" is no C library", text), "libc=glibc2.35, libc=musl1.2");
}

bool is_below_windows(const fs::path& root) {
  std::ifstream file(root / "proc/sys/kernel/osrelease");
  std::string release;
  std::getline(file, release);
  return lower(release).find("microsoft") != std::string::npos;
}

bool has_gpu_device(const fs::path& root) {
  return std::ranges::any_of(
      std::initializer_list<const char*>{"dev/nvidia0", "dev/nvidiactl", "dev/dxg", "proc/driver/nvidia"},
      [&](const char* path) {
        std::error_code error;
        return fs::exists(root / path, error);
      });
}

void read_python(const ProbedPython& probed, Target& target) {
  const Python& python = probed.python;
  target.place = probed.place;
  target.interpreter = python.executable;
  target.python = python.minor + (python.abi.ends_with('t') ? "t" : "");
  target.python_release = python.version;
  if (python.soabi.find("-musl") != std::string::npos) target.libc = "musl";
  target.has_torch = false;
  // A .pth file adds folders that are no site-packages.
  auto folders = probed.site_packages;
  for (const auto& folder : probed.place.folders)
    if (std::ranges::find(folders, folder) == folders.end()) folders.push_back(folder);
  for (const auto& folder : folders)
    for (const auto& found : find_packages(folder, ToolSource::system).torches) {
      const TorchSysroot torch = read_torch(found);
      if (torch.version.empty() || *target.has_torch) continue;
      target.has_torch = true;
      target.torch = torch.version;
      target.torch_cuda = torch.cuda.empty() ? "none" : torch.cuda;
      target.cxx11_abi =
          torch.ready ? std::optional(torch.cxx11_abi) : string_abi(torch.version, torch.cuda, target.platform);
    }
}

}  // namespace

Result<Target> this_target(const fs::path& interpreter, const ProbeOptions& options, CommandRunner& runner) {
  ProbeOptions probing = options;
  Target target;
  Environment machine;
  read_machine(options, machine);
  target.platform = machine.platform;
  target.libc = "glibc" + machine.glibc;
  target.wsl = is_below_windows(options.root);
  // Windows' driver brings its own nvidia-smi, which not every PATH has.
  if (target.wsl) probing.path.push_back(options.root / "usr/lib/wsl/lib");
  const ProbeContext context{probing, runner};
  target.gpus = probe_gpus(context);
  if (target.gpus->empty() && has_gpu_device(options.root)) {
    target.gpus.reset();
    target.notes.emplace_back("an NVIDIA driver is here, but nvidia-smi does not say which GPU: --for gpu=NAME");
  }
  if (interpreter.empty()) {
    target.notes.emplace_back("no Python was found: --interpreter PATH");
    return target;
  }
  const auto probed = probe_python({interpreter, ToolSource::system, "--interpreter"}, context);
  if (probed.python.minor.empty() || !(probed.python.ready || probed.python.soabi.starts_with("cpython")))
    return fail(ErrorKind::usage, "RES002",
                fmt::format("{} cannot be asked: {}", interpreter.string(),
                            probed.python.why_not.empty() ? "it says nothing" : probed.python.why_not),
                "name a CPython with --interpreter", interpreter.string());
  read_python(probed, target);
  return target;
}

Result<Target> parse_target(std::string_view text, const Target& here) {
  std::map<std::string, std::string> said;
  for (const auto& piece : pieces_of(text)) {
    const auto equals = piece.find('=');
    const std::string key = trim(piece.substr(0, equals));
    if (equals == std::string::npos && find_gpu(key))
      return not_understood(fmt::format("\"{}\" stands without what it is", key), "gpu=" + key);
    if (equals == std::string::npos || trim(piece.substr(equals + 1)).empty())
      return not_understood(fmt::format("\"{}\" is not KEY=VALUE", trim(piece)),
                            "gpu=\"RTX 5090\",torch=2.9.1+cu130,python=3.12,platform=win_amd64,driver=581");
    if (key == "cuda")
      return not_understood("nothing is called \"cuda\"", "torch says for which CUDA it is: torch=2.9.1+cu130");
    if (!contains(target_keys(), key))
      return not_understood(fmt::format("nothing is called \"{}\"", key), suggestion(key, target_keys()));
    if (!said.emplace(key, trim(piece.substr(equals + 1))).second)
      return not_understood(fmt::format("{} is said twice", key), "say it once");
  }
  Target target = here;
  const auto value = [&](const char* key) -> const std::string* {
    const auto found = said.find(key);
    return found == said.end() ? nullptr : &found->second;
  };
  if (const auto* platform = value("platform")) {
    Target other;
    TRY(set_platform(other, *platform));
    if (other.platform != here.platform) {
      std::vector<std::string> absent;
      for (const auto& key : target_keys())
        if (!said.contains(key) && key != "wsl" && key != "libc") absent.push_back(key);
      if (!absent.empty())
        other.notes.push_back(fmt::format("{} is not this machine's platform: of the other machine {} {} not known",
                                          other.platform, join(absent, ", "), absent.size() == 1 ? "is" : "are"));
      target = std::move(other);
    } else if (!other.libc.empty()) {
      target.libc = other.libc;
    }
  }
  std::string driver = !target.gpus || target.gpus->empty() ? "" : target.gpus->front().driver;
  if (const auto* python = value("python")) {
    const auto version = parse_python_version(*python);
    if (!version || version->find('.') == std::string::npos)
      return not_understood(fmt::format("\"{}\" is no version of Python", *python), "python=3.12, python=3.13t");
    target.python = *version;
    target.python_release.clear();
  }
  if (const auto* torch = value("torch")) {
    TRY(set_torch(target, *torch));
    target.cxx11_abi = string_abi(target.torch, target.torch_cuda, target.platform);
  }
  if (const auto* libc = value("libc")) TRY(set_libc(target, *libc));
  if (const auto* wsl = value("wsl")) {
    if (*wsl != "yes" && *wsl != "no")
      return not_understood(fmt::format("\"{}\" is neither yes nor no", *wsl), "wsl=yes");
    target.wsl = *wsl == "yes";
  }
  if (const auto* gpu = value("gpu")) TRY(set_gpus(target, *gpu));
  if (const auto* given = value("driver")) {
    if (leading_number(*given) < 100)
      return not_understood(fmt::format("\"{}\" is no driver's version", *given), "driver=570, driver=580.95.05");
    driver = *given;
    if (!target.gpus) target.notes.emplace_back("a driver is said, and no GPU: --for gpu=NAME");
  }
  if (target.gpus)
    for (auto& one : *target.gpus)
      if (value("driver") != nullptr || one.driver.empty()) one.driver = driver;
  return target;
}

}  // namespace sagekit
