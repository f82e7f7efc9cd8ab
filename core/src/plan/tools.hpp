#pragma once
// Which of the machine's tools build a cell, and what is missing; asked once for each need.

#include "plan/matrix.hpp"

#include <sagekit/plan.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sagekit {

/// What the modules of a cell are made from.
struct ToolNeeds {
  std::vector<Gencode> gencode;
  bool torch = false;           ///< a module sees torch's headers
  bool python = false;          ///< a module sees Python's
  bool static_runtime = false;  ///< a module has the CUDA runtime linked in
  bool device_alone = true;     ///< every module's GPU code is made without torch's headers
};

/// Either all that a cell is built with, or all that is missing.
struct CellTools {
  std::shared_ptr<const Toolchain> toolchain;
  std::vector<Lack> lacks;
};

class MachineCheck {
 public:
  /// `choices`: how many different needs the cells of one torch and CUDA may have.
  MachineCheck(const Environment& environment, const Matrix& matrix, Backend backend, std::size_t choices);

  CellTools tools_for(Point point, std::size_t choice, const ToolNeeds& needs);

 private:
  /// What cells of one torch, CUDA, platform and choice share: all but the Python.
  struct Compilers {
    Toolchain toolchain;
    std::vector<Lack> lacks;
  };

  Compilers find_compilers(Point point, const ToolNeeds& needs) const;
  void take_compilers(const ToolchainNeed& need, Compilers& found) const;
  Result<TorchSysroot> find_importable_torch(Point point) const;
  Result<Python> find_python(Point point) const;
  ToolchainNeed need_of(Point point) const;

  const Environment& m_environment;
  const Matrix& m_matrix;
  bool m_setup_py;
  std::size_t m_triples;
  std::vector<std::optional<Compilers>> m_compilers;                                ///< by choice and Matrix::triple
  std::vector<std::optional<Result<Python>>> m_pythons;                             ///< by platform and Python
  std::map<std::pair<std::size_t, std::uint16_t>, Result<TorchSysroot>> m_torches;  ///< by triple and Python; setup-py
};

}  // namespace sagekit
