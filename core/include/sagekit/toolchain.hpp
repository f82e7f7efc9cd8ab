#pragma once
// Which of the machine's tools build a cell.

#include <sagekit/environment.hpp>
#include <sagekit/error.hpp>

namespace sagekit {

/// nvcc + torch sysroot + host compiler + Python headers. A part that the cell does not need stays empty.
struct Toolchain {
  Nvcc nvcc;
  HostCompiler host_compiler;
  Python python;
  TorchSysroot torch;
};

/// What a cell asks for. "" = not needed.
struct ToolchainNeed {
  std::string cuda;              ///< "13.0": nvcc of exactly this major.minor
  std::string torch;             ///< "2.11.0"
  std::string python;            ///< "3.12"
  std::string platform;          ///< "linux_x86_64"
  std::vector<Gencode> gencode;  ///< all must be known to that nvcc
};

/// Picks the parts, newest ready one first, `folder` before `system`. When one is missing the error (kind machine)
/// names it, says what is there instead and what to install. Pure.
SAGEKIT_API Result<Toolchain> choose_toolchain(const ToolchainNeed& need, const Environment& environment);

}  // namespace sagekit
