#pragma once
// The command lines of steps, in the symbols of <sagekit/plan.hpp>, without what names outputs (-o, -MD, -MF).
// Flags are those of torch's BuildExtension (torch/utils/cpp_extension.py of 2.11) around the spec's own, less -g.

#include <sagekit/arch.hpp>
#include <sagekit/spec.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// What a command line is for, in the words of its cell.
struct CellWords {
  std::string_view torch, cuda, python, platform;
  std::string_view torch_min = {};  ///< Cell::torch_min
  bool abi3 = false;
  bool microsoft = false;  ///< for Windows, with Microsoft's headers and libraries instead of mingw's
};

using Argv = std::vector<std::string>;

/// Core's own headers for Windows are the folder {shim-sagekit-windows} of a plan.
inline constexpr std::string_view k_windows_shim = "sagekit-windows";

/// The spec's shim first on the include path, torch's own headers, or the spec's device_shim and no torch at all.
enum class Headers { shimmed, full, device };

/// One .cu -> .o, for all of `gencode`. Full headers of a shimmed source need Python's; a python_free kernel sees none
/// otherwise.
Argv compile_argv(const Spec& spec, const KernelSpec& kernel, const std::string& source,
                  const std::vector<Gencode>& gencode, const CellWords& target, Headers headers);
/// Such a command as nvcc is given it by everyone else: what sagekit adds of its own is [[kernel]] split_compile.
Argv without_ptxas_threads(Argv argv);
/// One .cpp -> .o.
Argv bind_argv(const Spec& spec, const KernelSpec& kernel, const std::string& source, const CellWords& target,
               Headers headers);
/// Objects -> module. No RPATH: torch's libraries are loaded before the module. Stripped, a build-id of its content,
/// --as-needed by choice and not by a distribution's default. Without torch the CUDA runtime is linked in, so that the
/// module needs no library at run time but libc's.
Argv link_argv(const Spec& spec, const KernelSpec& kernel, const std::vector<std::string>& objects,
               const CellWords& target);
/// The source tree's own build; `dist` is where the wheel goes.
Argv setup_py_argv(const CellWords& target, const std::string& dist);
std::vector<std::string> setup_py_environment(const Spec& spec, const std::vector<ArchRequest>& arches,
                                              const CellWords& target);

/// Do the headers of [build] glibc_floor come first on the include paths?
bool takes_floor_shim(const Spec& spec, std::string_view platform);

/// Does a module's compile step depend on the Python it is for?
bool sources_see_python(const KernelSpec& kernel);

/// "sageattention/_fused.cpython-312-x86_64-linux-gnu.so"; a plain module has no tag.
/// For the limited API "sageattention/_fused.abi3.so", and on Windows, which has no suffix for it, plain .pyd.
std::string module_path(const KernelSpec& kernel, std::string_view python, bool abi3, std::string_view platform);
/// "cp312-cp312", "cp313-cp313t", "cp310-abi3"; "py3-none" when every module is plain.
std::string python_tag(const Spec& spec, std::string_view python, bool abi3);

}  // namespace sagekit
