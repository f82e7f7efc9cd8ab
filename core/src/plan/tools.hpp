#pragma once
// Whether this machine has what cells need; asked once for each need.

#include "plan/matrix.hpp"

#include <sagekit/plan.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sagekit {

class MachineCheck {
 public:
  MachineCheck(const Environment& environment, const Matrix& matrix, const std::string& backend);

  /// What is missing for a cell; nullptr = it can be built here. `torch`, `python`: whether the cell needs them at all.
  /// Valid as long as this.
  const Error* missing(Point point, const std::vector<Gencode>& gencode, bool torch, bool python);

 private:
  using Answer = std::optional<std::unique_ptr<Error>>;  ///< asked? -> what is missing, if anything

  std::unique_ptr<Error> ask(const ToolchainNeed& need) const;
  std::unique_ptr<Error> ask_interpreter(Point point) const;

  const Environment& m_environment;
  const Matrix& m_matrix;
  bool m_setup_py;
  std::vector<Answer> m_compilers;                                         ///< by Matrix::triple
  std::vector<Answer> m_pythons;                                           ///< by platform and Python
  std::map<std::pair<std::size_t, std::uint16_t>, Answer> m_interpreters;  ///< by triple and Python; setup-py only
};

}  // namespace sagekit
