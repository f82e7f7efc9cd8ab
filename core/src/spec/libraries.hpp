#pragma once
// Who brings a shared library that a module needs: core/data/libraries.toml, read when first asked for.

#include <sagekit/diagnostic.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// One that brings it. A library may have several: libcusparse.so.12 belongs to two CUDAs.
struct LibraryOrigin {
  bool driver = false;  ///< the NVIDIA driver has it: no package can
  bool torch = false;   ///< one of torch's own
  int cuda = 0;         ///< major of the CUDA it belongs to; 0 = none
  std::string package;  ///< in normal form: "nvidia-cublas-cu12"; "" of the driver's
};

/// Empty: nobody that is known here. Names of Windows in any case.
std::vector<LibraryOrigin> library_origins(std::string_view file);

/// Every Linux with this C library has it: libc.so.6, libstdc++.so.6, ...
bool is_system_library(std::string_view name);
/// Windows has it, or its Python, or Microsoft's redistributable that torch needs. In small letters.
bool is_windows_library(std::string_view name);
/// One of torch's own: libtorch*, libc10*.
bool is_torch_library(std::string_view name);

/// What was wrong with the embedded file: nothing, or a test fails.
Diagnostics library_data_problems();

}  // namespace sagekit
