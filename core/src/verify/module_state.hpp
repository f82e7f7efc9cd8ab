#pragma once
// What one module of the wheel does on a GPU: its code, and what was found wrong with it.

#include "verify/subject.hpp"

#include <sagekit/verify.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// Worst first.
enum class ModuleVerdict { no, unknown, part, jit, yes };

struct ModuleState {
  ModuleVerdict verdict = ModuleVerdict::yes;
  const GpuCode* code = nullptr;  ///< that the driver takes there; null = none
  bool lacks_code = false;        ///< it has none for that GPU, and that is all
  std::string why = {};           ///< of a verdict that is neither yes nor jit: "does not load (PYA002: ...)"
};

/// Findings that keep modules, or the whole package, from working on any GPU.
class LoadFaults {
 public:
  LoadFaults(const Subject& subject, const std::vector<Finding>& findings);

  /// The worst of a module's; null when it loads as far as anybody knows.
  const ModuleState* of(const MemberFacts& member) const;
  /// Why nothing of the package can be imported; "" = nothing says so.
  const std::string& package() const { return m_package; }

 private:
  std::map<std::string_view, ModuleState> m_modules;  // by path
  std::string m_package;
};

/// `whole`: also kernels that are broken among others count, because the package calls this module on that GPU.
ModuleState state_on(const MemberFacts& member, Capability gpu, const LoadFaults& faults, bool whole);

}  // namespace sagekit
