#include "environment/probes.hpp"
#include "support/file.hpp"
#include "support/folder.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

// What follows `key` in the text, up to the line's end.
std::string after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + key.size());
  return trim(text.substr(0, std::min(text.find('\n'), text.size())));
}

// "sm_90\nsm_100\n": capability 9.0 and 10.0; the last digit is the minor one.
std::vector<Arch> parse_gpu_codes(std::string_view text) {
  std::vector<Arch> codes;
  for (const auto& word : split_words(text)) {
    if (!word.starts_with("sm_") || !is_digits(word.substr(3)) || word.size() < 5 || word.size() > 7) continue;
    const int number = std::stoi(word.substr(3));
    codes.push_back({{number / 10, number % 10}, ArchSuffix::none});
  }
  std::ranges::sort(codes);
  return codes;
}

// The limits are `#error` lines of crt/host_config.h: "#if __GNUC__ > 15" and "(__clang_major__ >= 21)".
void read_host_limits(Nvcc& nvcc) {
  const auto text = read_file(nvcc.include_dir / "crt" / "host_config.h");
  if (!text) return;
  nvcc.max_gcc = leading_version(after(*text, "__GNUC__ >"));
  nvcc.max_clang = leading_version(after(*text, "__clang_major__ >="));
}

// nvcc names its target folders by CPU; NVIDIA calls a 64-bit Arm server "sbsa".
std::vector<std::string> target_names() {
  utsname host{};
  ::uname(&host);
  const std::string machine = host.machine;
  return machine == "aarch64" ? std::vector<std::string>{"sbsa-linux", "aarch64-linux"}
                              : std::vector<std::string>{machine + "-linux"};
}

// A folder targets/ beside bin/, even an empty one, makes an nvcc whose profile says _TARGET_DIR_ look for all headers
// below it, and for none beside it.
std::string find_includes(Nvcc& nvcc, const fs::path& program, const ProbeContext& context) {
  const auto profile = read_file(program.parent_path() / "nvcc.profile");
  const bool redirected =
      is_folder(nvcc.root / "targets") && profile && profile->find("_TARGET_DIR_") != std::string::npos;
  std::vector<fs::path> places;
  for (const auto& name : target_names()) places.push_back(nvcc.root / "targets" / name / "include");
  if (!redirected) places.insert(places.end(), {nvcc.root / "include", context.options.root / "usr/include"});
  const auto place = std::ranges::find_if(places, [](const fs::path& p) { return is_file(p / "cuda_runtime.h"); });
  if (place != places.end()) nvcc.include_dir = *place;
  const bool hidden = redirected && (nvcc.include_dir.empty() ? is_file(nvcc.root / "include/cuda_runtime.h")
                                                              : is_folder(nvcc.root / "include/cccl") &&
                                                                    !is_folder(nvcc.include_dir / "cccl"));
  if (hidden)
    return fmt::format("the folder {} hides {} from nvcc: remove it, or link include and lib into {}",
                       (nvcc.root / "targets").string(), (nvcc.root / "include").string(),
                       places.front().parent_path().string());
  if (nvcc.include_dir.empty())
    return fmt::format("no cuda_runtime.h in {}",
                       (is_folder(nvcc.root / "targets") ? places.front() : nvcc.root / "include").string());
  return {};
}

std::string find_libraries(Nvcc& nvcc, const ProbeContext& context) {
  if (const auto cross = nvcc.root / "targets/sbsa-linux/lib"; is_file(cross / "libcudart_static.a"))
    nvcc.cross_library_dir = cross;
  std::vector<fs::path> places;
  for (const auto& name : target_names()) places.push_back(nvcc.root / "targets" / name / "lib");
  places.insert(places.end(), {nvcc.root / "lib64", nvcc.root / "lib"});
  for (const auto& entry : entries_of(context.options.root / "usr/lib"))
    if (entry.filename().string().ends_with("-linux-gnu")) places.push_back(entry);
  for (const auto& place : places)
    for (const auto& entry : entries_of(place))
      if (entry.filename().string().starts_with("libcudart.so")) {
        nvcc.library_dir = place;
        return {};
      }
  return fmt::format("no libcudart.so* in lib64, lib or targets/*/lib of {}", nvcc.root.string());
}

// The programs that nvcc starts; a wheel unpacked without its file modes has them without the right to run.
std::string check_programs(const Nvcc& nvcc, const fs::path& bin, std::map<std::string, fs::path>& programs) {
  for (const auto known : k_nvcc_programs) {
    const std::string name(known);
    const std::array places{bin / name, nvcc.root / "nvvm/bin" / name};
    const auto place = std::ranges::find_if(places, is_file);
    if (place == places.end()) return fmt::format("{} is missing beside nvcc: the tree is incomplete", name);
    if (!is_executable(*place)) return fmt::format("{} may not be executed: chmod a+x it", place->string());
    programs[name] = *place;
  }
  return {};
}

// The real nvcc has nvcc.profile beside it; a wrapper script or a distribution's launcher is asked where it leads to.
Probed<fs::path> real_program(const fs::path& executable, const ProbeContext& context) {
  const fs::path program = real_path(executable);
  if (is_file(program.parent_path() / "nvcc.profile")) return program;
  const auto output =
      context.output_of({executable.string(), "--dryrun", "-x", "cu", "-c", "/dev/null", "-o", "/dev/null"});
  const fs::path here = output ? after(*output, "#$ _HERE_=") : std::string{};
  if (is_file(here / "nvcc")) return real_path(here / "nvcc");
  return std::unexpected("no nvcc.profile beside it, and --dryrun does not tell where the real nvcc is");
}

Probed<std::string> fingerprint(const Nvcc& nvcc, const std::string& version_texts,
                                const std::map<std::string, fs::path>& programs) {
  Sha256 hash;
  hash.field(version_texts);
  // One that cannot be read now, for want of memory or rights, would make another compiler of it.
  for (const auto& [name, program] : programs)
    if (!add_program(hash, program)) return std::unexpected(program.string() + " cannot be read");
  // Decide about the code too: flags of the profile, and the device library.
  for (const auto& file :
       {programs.at("nvcc").parent_path() / "nvcc.profile", nvcc.root / "nvvm/libdevice/libdevice.10.bc"})
    if (const auto text = read_file(file)) hash.field(*text);
  return hash.hex();
}

// nvcc writes temporary files even to answer a question, and so would every other one; and none starts where no process
// can.
std::string blame_machine(Nvcc& nvcc, const ProbeContext& context, std::string why) {
  for (const int error : {EAGAIN, ENOMEM})
    if (why.find(std::strerror(error)) != std::string::npos) {
      nvcc.mend = "raise this user's limits of processes and memory (ulimit -u, ulimit -v), or end what else runs";
      return why;
    }
  const auto tmpdir = context.options.child_environment.find("TMPDIR");
  if (tmpdir == context.options.child_environment.end() || tmpdir->second.empty()) return why;
  if (is_folder(tmpdir->second) && ::access(tmpdir->second.c_str(), W_OK | X_OK) == 0) return why;
  nvcc.mend = "unset TMPDIR, or let it name a folder that this user may write to";
  return fmt::format("TMPDIR names {}, {}; {}", tmpdir->second,
                     is_folder(tmpdir->second) ? "which this user may not write to" : "which is no folder", why);
}

// Fills `nvcc`; returns why it cannot be used, "" when it can.
std::string examine(Nvcc& nvcc, const ProbeContext& context) {
  if (!is_file(nvcc.executable)) return "nvcc itself is missing: the tree is incomplete";
  if (!is_executable(nvcc.executable) && is_on_noexec(nvcc.executable)) {
    nvcc.mend = "mount that file system with exec, or name a store on another with --store DIR";
    return fmt::format("{} lies on a file system from which nothing is executed (noexec)", nvcc.executable.string());
  }
  if (!is_executable(nvcc.executable))
    return fmt::format("{} may not be executed: chmod a+x it", nvcc.executable.string());
  const auto version = context.output_of({nvcc.executable.string(), "--version"});
  if (!version) return blame_machine(nvcc, context, version.error());
  nvcc.cuda = leading_version(after(*version, "release "));
  const std::string full = after(*version, ", V");
  nvcc.version = leading_version(full);
  if (nvcc.cuda.empty() || nvcc.version.empty()) return "--version does not say a release";

  auto program = real_program(nvcc.executable, context);
  if (!program) return program.error();
  // Links between folders are kept; a wrapper, or a link to the program alone, would hide nvcc.profile from it.
  if (program->parent_path() != real_path(nvcc.executable.parent_path())) nvcc.executable = *program;
  nvcc.root = program->parent_path().parent_path();

  std::map<std::string, fs::path> programs;
  if (auto why = check_programs(nvcc, program->parent_path(), programs); !why.empty()) return why;
  if (auto why = find_includes(nvcc, *program, context); !why.empty()) return why;
  if (auto why = find_libraries(nvcc, context); !why.empty()) return why;
  read_host_limits(nvcc);
  if (nvcc.max_gcc.empty() && nvcc.max_clang.empty())
    return fmt::format("{} does not say which host compilers it accepts",
                       (nvcc.include_dir / "crt/host_config.h").string());
  const auto codes = context.output_of({nvcc.executable.string(), "--list-gpu-code"});
  if (!codes) return blame_machine(nvcc, context, "--list-gpu-code: " + codes.error());
  nvcc.code = parse_gpu_codes(*codes);
  if (nvcc.code.empty()) return "--list-gpu-code lists nothing";
  const auto ptxas = context.output_of({programs["ptxas"].string(), "--version"});
  if (!ptxas) return "ptxas " + ptxas.error();
  auto identity = fingerprint(nvcc, *version + *ptxas, programs);
  if (!identity) return blame_machine(nvcc, context, identity.error());
  nvcc.identity = std::move(*identity);
  return {};
}

}  // namespace

Nvcc probe_nvcc(const Found& found, const ProbeContext& context) {
  Nvcc nvcc;
  nvcc.executable = found.path;
  nvcc.source = found.source;
  nvcc.found_by = found.found_by;
  nvcc.why_not = examine(nvcc, context);
  nvcc.ready = nvcc.why_not.empty();
  return nvcc;
}

}  // namespace sagekit
