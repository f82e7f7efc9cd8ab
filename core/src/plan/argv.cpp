#include "plan/argv.hpp"

#include "spec/abi_words.hpp"
#include "spec/libc_floor.hpp"
#include "spec/platform.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <algorithm>

namespace sagekit {
namespace {

void append(Argv& argv, const std::vector<std::string>& more) { argv.insert(argv.end(), more.begin(), more.end()); }

std::string torch_root(const CellWords& t) {
  return fmt::format("{{torch-{}-cu{}-{}}}", t.torch, without_dots(t.cuda), t.platform);
}
std::string cuda_include(const CellWords& t) { return fmt::format("{{cuda-include-{}}}", t.cuda); }
std::string cuda_lib(const CellWords& t) { return fmt::format("{{cuda-lib-{}-{}}}", t.cuda, t.platform); }
std::string cxx(const CellWords& t) { return fmt::format("{{cxx-{}}}", t.platform); }
std::string python_includes(const CellWords& t) {
  return fmt::format("{{python-includes-{}-{}}}", t.python, t.platform);
}

/// Without torch: the row that is for any torch.
std::string standard(const Spec& spec, const KernelSpec& kernel, const CellWords& t) {
  const auto torch = parse_version_number(kernel.torch_free ? std::string_view() : t.torch);
  for (const auto& rule : spec.build.standards)
    if (rule.torch.terms.empty() || (torch && rule.torch.contains(*torch))) return rule.standard;
  return spec.build.standards.empty() ? "c++17" : spec.build.standards.front().standard;
}

/// What torch/utils/cpp_extension.py defines for every source of an extension.
std::vector<std::string> torch_defines(const KernelSpec& kernel, const CellWords& t) {
  std::vector<std::string> defines{
      "-DTORCH_API_INCLUDE_EXTENSION_H", "-DTORCH_EXTENSION_NAME=" + after_last(kernel.module, '.'),
      fmt::format("-D_GLIBCXX_USE_CXX11_ABI={}", torch_has_new_strings(t.torch, t.cuda).value_or(true) ? 1 : 0)};
  // torch's headers then refuse what is not of the stable interface, and leave out what came after the target.
  if (!t.torch_min.empty())
    append(defines, {"-DTORCH_STABLE_ONLY", "-DTORCH_TARGET_VERSION=" + torch_target_number(t.torch_min)});
  return defines;
}

/// Python's headers then offer only the limited API of that version (PEP 384).
void append_limited_api(Argv& argv, const CellWords& t) {
  if (t.abi3) argv.push_back("-DPy_LIMITED_API=" + limited_api_number(t.python));
}

/// COMMON_NVCC_FLAGS of the same file; the spec's -U come after them.
const std::vector<std::string> k_torch_nvcc_flags{"-D__CUDA_NO_HALF_OPERATORS__", "-D__CUDA_NO_HALF_CONVERSIONS__",
                                                  "-D__CUDA_NO_BFLOAT16_CONVERSIONS__", "-D__CUDA_NO_HALF2_OPERATORS__",
                                                  "--expt-relaxed-constexpr"};

struct Includes {
  Argv argv;
  Argv maps;  ///< -ffile-prefix-map flags: __FILE__ of a header must not tell where this machine has it
};

Includes includes(const Spec& spec, const std::string& shim, bool torch, bool floor, bool python, bool cuda,
                  const CellWords& t) {
  Includes result;
  const auto map = [&](const std::string& root, std::string_view name) {
    result.maps.push_back(fmt::format("-ffile-prefix-map={}={}", root, name));
  };
  for (const auto& name : {floor ? std::string(k_floor_shim) : std::string(), shim}) {
    if (name.empty()) continue;
    const auto folder = "{shim-" + name + "}";
    result.argv.push_back("-I" + folder);
    map(folder, "shim");
  }
  for (const auto& folder : spec.build.include_dirs)
    result.argv.push_back(folder.empty() || folder == "." ? "-I{source}" : "-I{source}/" + folder);
  if (torch) {
    const auto root = torch_root(t);
    append(result.argv, {"-isystem", root + "/include", "-isystem", root + "/include/torch/csrc/api/include"});
    map(root, "torch");
  }
  if (cuda) append(result.argv, {"-isystem", cuda_include(t)});
  map(cuda_include(t), "cuda");
  if (python) result.argv.push_back(python_includes(t));
  return result;
}

constexpr std::string_view k_ptxas_threads = "--split-compile=";

constexpr const char* k_microsoft_target = "--target=x86_64-pc-windows-msvc";

/// clang for Windows with mingw's headers, or Microsoft's. Its own CUDA headers do not fit CUDA 13: sagekit's
/// (core/data/windows) stand before CUDA's instead, and before torch's the one by which no exception of mingw's leaves
/// the module; Microsoft's are those of torch's own DLLs.
Argv windows_compiler(const KernelSpec& kernel, const CellWords& t, bool cuda) {
  Argv argv{cxx(t)};
  if (t.microsoft)
    append(argv, {k_microsoft_target, fmt::format("{{msvc-includes-{}}}", t.platform), "-fms-runtime-lib=dll"});
  else
    append(argv, {"--target=x86_64-w64-windows-gnu", fmt::format("{{mingw-includes-{}}}", t.platform)});
  const std::string shim = fmt::format("{{shim-{}}}", k_windows_shim);
  const auto dot = t.cuda.find('.');
  if (cuda)
    append(argv, {fmt::format("-D__CUDACC_VER_MAJOR__={}", t.cuda.substr(0, dot)),
                  fmt::format("-D__CUDACC_VER_MINOR__={}", t.cuda.substr(dot + 1)), "-include", shim + "/cuda_host.h"});
  if (!kernel.torch_free && !t.microsoft) append(argv, {"-include", shim + "/torch_wall.h"});
  append(argv, {"-ffile-prefix-map=" + shim + "=windows", "-D__CRT__NO_INLINE", "-Wno-everything"});
  return argv;
}

/// Of nvcc's flags those that say what the host compiler sees.
void append_host_flags(Argv& argv, const std::vector<std::string>& flags) {
  std::ranges::copy_if(flags, std::back_inserter(argv), [](const std::string& flag) {
    return flag.starts_with("-D") || flag.starts_with("-U") || flag.starts_with("-O");
  });
}

/// The host's code of a .cu. Its GPU code is Linux's: Step::device_argv.
Argv windows_compile_argv(const Spec& spec, const KernelSpec& kernel, const std::string& source, const CellWords& t,
                          const Includes& paths, bool python) {
  auto argv = windows_compiler(kernel, t, true);
  append(argv, paths.argv);
  append(argv, {"-isystem", cuda_include(t) + "/cccl"});
  if (!kernel.torch_free) append_host_flags(argv, k_torch_nvcc_flags);
  append_host_flags(argv, spec.build.nvcc_flags);
  append_host_flags(argv, kernel.nvcc_flags);
  if (!kernel.torch_free) append(argv, torch_defines(kernel, t));
  if (python) append_limited_api(argv, t);
  argv.push_back("-std=" + standard(spec, kernel, t));
  append(argv, paths.maps);
  // Launches are compiled as for a CUDA that clang knows: since 9.2 they are the same.
  append(argv, {"-x", "cuda", "--cuda-host-only", "-nocudainc", "-nocudalib", "-Xclang", "-target-sdk-version=12.3",
                "-Xclang", "-fcuda-allow-variadic-functions"});
  append(argv, {"-c", "{source}/" + source});
  return argv;
}

/// By lld in place of Microsoft's linker, against Microsoft's libraries and import libraries of sagekit's own.
Argv microsoft_link_argv(const Spec& spec, const KernelSpec& kernel, const std::vector<std::string>& objects,
                         const CellWords& t) {
  Argv argv{cxx(t),         k_microsoft_target, fmt::format("-B{{msvc-linker-{}}}", t.platform),
            "-fuse-ld=lld", "-shared",          "-nostdlib"};
  append(argv, objects);
  append(argv, {"-Wl,/dynamicbase,/highentropyva,/nxcompat,/Brepro,/opt:ref,/noimplib"});
  append(argv, {fmt::format("{{msvc-libraries-{}}}", t.platform),
                fmt::format("-L{{msvc-imports-{}-cu{}-{}-{}}}", t.torch, without_dots(t.cuda), t.python, t.platform)});
  for (const auto& name : kernel.torch_libraries.empty() ? spec.build.torch_libraries : kernel.torch_libraries)
    argv.push_back("-l" + name);
  argv.push_back("-lcudart64_" + std::string(t.cuda.substr(0, t.cuda.find('.'))));
  for (const auto& name : kernel.libraries) argv.push_back("-l" + (name == "cuda" ? "nvcuda" : name));
  if (!kernel.plain_module) argv.emplace_back("-lpython3");
  append(argv, {"-lmsvcprt", "-lmsvcrt", "-lvcruntime", "-lucrt", "-lkernel32"});
  return argv;
}

/// By mingw's g++, whose libraries are linked in: nobody has them on Windows.
Argv windows_link_argv(const Spec& spec, const KernelSpec& kernel, const std::vector<std::string>& objects,
                       const CellWords& t) {
  Argv argv{fmt::format("{{mingw-{}}}", t.platform), "-shared", "-static-libgcc", "-static-libstdc++"};
  append(argv, objects);
  append(argv, {"-Wl,-s", "-Wl,--no-insert-timestamp", "-Wl,--dynamicbase,--high-entropy-va,--nxcompat"});
  argv.push_back("-L" + torch_root(t) + "/lib");
  for (const auto& name : kernel.torch_libraries.empty() ? spec.build.torch_libraries : kernel.torch_libraries)
    argv.push_back("-l" + name);
  argv.push_back("-lcudart64_" + std::string(t.cuda.substr(0, t.cuda.find('.'))));
  if (std::ranges::count(kernel.libraries, "cuda")) argv.push_back(fmt::format("-L{{stub-cuda-{}}}", t.platform));
  for (const auto& name : kernel.libraries) argv.push_back("-l" + (name == "cuda" ? "nvcuda" : name));
  if (!kernel.plain_module) append(argv, {fmt::format("-L{{stub-python-{}-{}}}", t.python, t.platform), "-lpython3"});
  append(argv, {"-Wl,-Bstatic", "-lstdc++", "-lwinpthread", "-Wl,-Bdynamic"});
  return argv;
}

}  // namespace

bool takes_floor_shim(const Spec& spec, std::string_view platform) {
  return platform.starts_with("linux_") && needs_floor_shim(spec.build.glibc_floor);
}

Argv without_ptxas_threads(Argv argv) {
  const auto found =
      std::ranges::find_if(argv, [](const std::string& word) { return word.starts_with(k_ptxas_threads); });
  if (found != argv.end() && found != argv.begin()) argv.erase(found - 1, found + 1);
  return argv;
}

bool sources_see_python(const KernelSpec& kernel) { return !kernel.python_free && !kernel.plain_module; }

Argv compile_argv(const Spec& spec, const KernelSpec& kernel, const std::string& source,
                  const std::vector<Gencode>& gencode, const CellWords& t, Headers headers) {
  const auto full = headers == Headers::full, device = headers == Headers::device;
  const auto torch = !kernel.torch_free && !device;
  const auto python =
      !device && (sources_see_python(kernel) || (full && !kernel.source_shim.empty() && !kernel.torch_free));
  const auto& shim = device ? kernel.device_shim : kernel.source_shim;
  const auto paths = includes(spec, full ? "" : shim, torch, !device && takes_floor_shim(spec, t.platform),
                              python && !t.python.empty(), true, t);
  if (is_windows(t.platform) && device) {
    auto linux = t;
    linux.platform = k_windows_device;
    return compile_argv(spec, kernel, source, gencode, linux, headers);
  }
  if (is_windows(t.platform)) return windows_compile_argv(spec, kernel, source, t, paths, python);
  Argv argv{fmt::format("{{nvcc-exe-{}}}", t.cuda), "-ccbin", cxx(t)};
  append(argv, paths.argv);
  // Beside nvcc's own, because with -ccbin for another CPU it looks below targets/ for a folder that few toolkits have.
  append(argv, {"-isystem", cuda_include(t) + "/cccl"});
  if (!kernel.torch_free) append(argv, k_torch_nvcc_flags);
  append(argv, {"--compiler-options", "-fPIC"});
  append(argv, spec.build.nvcc_flags);
  append(argv, kernel.nvcc_flags);
  if (const auto threads = kernel.split_compile ? split_compile_threads(t.cuda, kernel.source_cost) : 1; threads > 1)
    append(argv, {"-Xptxas", fmt::format("{}{}", k_ptxas_threads, threads)});
  if (torch) append(argv, torch_defines(kernel, t));
  if (python) append_limited_api(argv, t);
  // GPU code is the same by every standard that torch asks for: one that does not depend on the torch makes it one key.
  argv.push_back("-std=" + standard(spec, kernel, device ? CellWords{{}, t.cuda, t.python, t.platform} : t));
  for (const auto& g : gencode) append(argv, {"-gencode", to_string(g)});
  for (const auto& map : paths.maps) argv.push_back("-Xcompiler=" + map);
  // nvcc names a unit's internal kernels by a hash over the source's real path (docs/decisions/0005). The last one
  // given counts, and this one is the same on every machine.
  append(argv, {"-Xcudafe", "--orig_src_path_name=" + source});
  append(argv, {"-c", "{source}/" + source});
  return argv;
}

Argv bind_argv(const Spec& spec, const KernelSpec& kernel, const std::string& source, const CellWords& t,
               Headers headers) {
  const auto shim = headers == Headers::full ? "" : kernel.binding_shim;
  const auto paths = includes(spec, shim, !kernel.torch_free, takes_floor_shim(spec, t.platform),
                              !kernel.plain_module && !t.python.empty(), true, t);
  auto argv = is_windows(t.platform) ? windows_compiler(kernel, t, false) : Argv{cxx(t)};
  append(argv, paths.argv);
  if (!is_windows(t.platform)) argv.push_back("-fPIC");
  argv.push_back("-DNDEBUG");  // as CPython's own CFLAGS, which setuptools uses
  append(argv, spec.build.cxx_flags);
  append(argv, kernel.cxx_flags);
  if (!kernel.torch_free) append(argv, torch_defines(kernel, t));
  if (!kernel.plain_module) append_limited_api(argv, t);
  argv.push_back("-std=" + standard(spec, kernel, t));
  append(argv, paths.maps);
  append(argv, {"-c", "{source}/" + source});
  return argv;
}

Argv link_argv(const Spec& spec, const KernelSpec& kernel, const std::vector<std::string>& objects,
               const CellWords& t) {
  if (is_windows(t.platform))
    return t.microsoft ? microsoft_link_argv(spec, kernel, objects, t) : windows_link_argv(spec, kernel, objects, t);
  Argv argv{cxx(t), "-shared"};
  append(argv, objects);
  append(argv, {"-Wl,--as-needed", "-Wl,-s", "-Wl,--build-id=sha1"});
  append(argv, spec.build.link_flags);
  if (!kernel.torch_free) {
    argv.push_back("-L" + torch_root(t) + "/lib");
    for (const auto& name : kernel.torch_libraries.empty() ? spec.build.torch_libraries : kernel.torch_libraries)
      argv.push_back("-l" + name);
  }
  argv.push_back("-L" + cuda_lib(t));
  if (kernel.torch_free)
    append(argv, {"-lcudart_static", "-ldl", "-lrt", "-lpthread"});
  else
    argv.push_back("-lcudart");
  if (std::ranges::count(kernel.libraries, "cuda")) argv.push_back(fmt::format("-L{{stub-cuda-{}}}", t.platform));
  for (const auto& name : kernel.libraries) argv.push_back("-l" + name);
  return argv;
}

Argv setup_py_argv(const CellWords& t, const std::string& dist) {
  return {fmt::format("{{python-exe-{}-{}}}", t.python, t.platform), "setup.py", "bdist_wheel", "--dist-dir", dist};
}

std::vector<std::string> setup_py_environment(const Spec& spec, const std::vector<ArchRequest>& arches,
                                              const CellWords& t) {
  std::vector<std::string> words;
  for (const auto& arch : arches) words.push_back(to_string(arch));
  std::vector<std::string> result{fmt::format("CUDA_HOME={{nvcc-root-{}}}", t.cuda)};
  // Where gcc looks after -I and before the system's own folders.
  if (takes_floor_shim(spec, t.platform)) result.push_back(fmt::format("CPATH={{shim-{}}}", k_floor_shim));
  for (const auto& line : spec.build.setup_py_environment)
    result.push_back(replace_all(line, "{arch_list}", join(words, ";")));
  return result;
}

std::string module_path(const KernelSpec& kernel, std::string_view python, bool abi3, std::string_view platform) {
  const auto path = replace_all(kernel.module, ".", "/");
  const auto windows = is_windows(platform);
  if (kernel.plain_module) return path + (windows ? ".dll" : ".so");
  if (abi3) return path + (windows ? ".pyd" : ".abi3.so");
  if (windows) return fmt::format("{}.cp{}-{}.pyd", path, without_dots(python), platform);
  return fmt::format("{}.cpython-{}-{}-linux-gnu.so", path, without_dots(python), cpu_of_platform(platform));
}

std::string python_tag(const Spec& spec, std::string_view python, bool abi3) {
  if (python.empty() || std::ranges::all_of(spec.kernels, &KernelSpec::plain_module)) return "py3-none";
  const auto abi = without_dots(python);
  if (abi3) return fmt::format("cp{}-abi3", abi);
  auto interpreter = abi;
  if (interpreter.ends_with('t')) interpreter.pop_back();  // "3.13t", free-threaded: cp313-cp313t
  return fmt::format("cp{}-cp{}", interpreter, abi);
}

}  // namespace sagekit
