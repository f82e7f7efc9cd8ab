#pragma once
// What building for Windows takes, and what Windows' libraries lack: core/data/windows/cross.toml.

#include <sagekit/diagnostic.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

struct MingwKind {
  std::string runtime;      ///< HostCompiler::c_runtime
  std::string package;      ///< Debian's
  bool everywhere = false;  ///< every Debian that is known has the package
};

struct WindowsData {
  int least_clang = 0;
  std::string clang_package, linker, linker_package;
  std::vector<MingwKind> mingw;  ///< the preferred one first
  Diagnostics problems;          ///< nothing, or a test fails
};

/// Thread-safe; read at the first call.
const WindowsData& windows_data();

/// Is it in the list of what such libraries export elsewhere, and not in Windows'? "python3.dll", in small letters.
bool absent_on_windows(std::string_view library, std::string_view function);

}  // namespace sagekit
