#pragma once
// Which of the machine's tools build a cell.

#include <sagekit/environment.hpp>
#include <sagekit/error.hpp>

namespace sagekit {

/// nvcc + torch sysroot + host compiler + Python headers. A part that the cell does not need stays empty. A Python
/// whose source is `derived` is this machine's, for another CPU: its headers serve there with another pyconfig.h.
struct Toolchain {
  Nvcc nvcc;
  HostCompiler host_compiler;
  Python python;
  TorchSysroot torch;
  /// For Windows alone. `host_compiler` is then clang, which compiles CUDA's launches for Windows: its headers and
  /// libraries are mingw's, which also links, or Microsoft's (kind "msvc"), which `windows_linker` links; nvcc makes
  /// GPU code beside this machine's own compiler.
  HostCompiler mingw, device_compiler;
  std::filesystem::path windows_linker;
};

/// What a cell asks for. "" = not needed.
struct ToolchainNeed {
  std::string cuda;              ///< "13.0": nvcc of exactly this major.minor
  std::string torch;             ///< "2.11.0"
  std::string python;            ///< "3.12"
  std::string platform;          ///< "linux_x86_64"
  std::vector<Gencode> gencode;  ///< all must be known to that nvcc
  bool static_runtime = false;   ///< links libcudart_static.a
  bool limited_api = false;      ///< a newer Python's headers do as well
  bool stable = false;           ///< torch's stable interface and Python's limited API, and GPU code without torch's
                                 ///< headers: what can be cross-built for Windows
};

/// Picks the parts, newest ready one first: `folder`, then `system`, then what was provisioned. When one is missing the
/// error (kind machine) names it, says what is there instead and what to install. Pure.
SAGEKIT_API Result<Toolchain> choose_toolchain(const ToolchainNeed& need, const Environment& environment);

/// Does that nvcc take this host compiler? By the limits of its crt/host_config.h.
SAGEKIT_API bool accepts(const Nvcc& nvcc, const HostCompiler& compiler);

/// Can the need's wheels be built on this machine at all? TCH006 (machine) says what it would take.
SAGEKIT_API Status check_platform(const ToolchainNeed& need, const Environment& environment);

/// The parts one by one, for who wants to know everything that is missing. Each ends as choose_toolchain would.
SAGEKIT_API Result<Nvcc> choose_nvcc(const ToolchainNeed& need, const Environment& environment);
/// `nvcc` limits which compilers are accepted when the need has a CUDA.
SAGEKIT_API Result<HostCompiler> choose_host_compiler(const ToolchainNeed& need, const Nvcc& nvcc,
                                                      const Environment& environment);
/// For Windows, in place of the one: TCH003 names all that is missing and the line that brings it.
struct WindowsCompilers {
  HostCompiler clang, mingw, device;
  std::filesystem::path linker;  ///< beside Microsoft's libraries alone
};
SAGEKIT_API Result<WindowsCompilers> choose_windows_compilers(const ToolchainNeed& need, const Nvcc& nvcc,
                                                              const Environment& environment);
SAGEKIT_API Result<Python> choose_python(const ToolchainNeed& need, const Environment& environment);
/// One that `python` can import is preferred: it may be the empty value.
SAGEKIT_API Result<TorchSysroot> choose_torch(const ToolchainNeed& need, const Python& python,
                                              const Environment& environment);

}  // namespace sagekit
