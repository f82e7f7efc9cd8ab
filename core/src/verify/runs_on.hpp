#pragma once
// The table of wheel x GPU: what the package will do on each device, from its dispatch rows, the code in its modules
// and what was found wrong with them.

#include "verify/artifact.hpp"

#include <sagekit/verify.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// How the spec's cases went on this machine's GPU.
struct GpuGate {
  Capability capability;
  std::string gpu;                    ///< "NVIDIA H200"
  std::size_t cases = 0, passed = 0;  ///< judged, and without a fault
};

/// Why nothing of it works on any GPU: WheelReport::unusable.
std::string unusable(const Artifact& artifact, const std::vector<Finding>& findings);

/// A row for every GPU that core's data or the spec's dispatch knows, by capability. Where it is not known which
/// modules the package calls (no spec, or a source that it does not know) the modules' code alone decides; a wheel
/// without any GPU code then has no rows. `findings`: of all checks; no row is better than what they say of its
/// modules, nor the `gate`'s than its cases.
std::vector<RunsOn> runs_on(const Artifact& artifact, const std::vector<Finding>& findings,
                            const std::optional<GpuGate>& gate = {});

/// What is `unusable` runs nowhere: that is every row's reason then, whatever the code for its GPU is.
void lower_all(std::vector<RunsOn>& table, const std::string& unusable);

/// What the package calls on a GPU; nothing when it has no branch for it, or when that is not known. A spec without any
/// row has a package that asks for no particular device: every module is called on every GPU.
std::optional<DispatchSpec> dispatch_for(const Artifact& artifact, Capability gpu);

/// "12": the CUDA release whose runtime, cuBLAS, NVRTC or nvJitLink a module loads; "" = it loads none of them.
std::string cuda_runtime(const MemberFacts& member);

/// The GPUs that the table is about, but for those of the past.
std::vector<Capability> known_gpus(const Artifact& artifact);

struct ModuleState {
  RunVerdict verdict = RunVerdict::yes;
  const GpuCode* code = nullptr;  ///< that the driver takes there; null = none
  bool lacks_code = false;        ///< it has none for that GPU, and that is all
  std::string why = {};           ///< of a verdict that is neither yes nor jit: "does not load (PYA002: ...)"
};

/// Findings that keep modules, or the whole package, from working on any GPU: what cannot be installed or imported runs
/// nowhere.
class LoadFaults {
 public:
  LoadFaults(const Artifact& artifact, const std::vector<Finding>& findings);

  /// The worst of a module's; null when it loads as far as anybody knows.
  const ModuleState* of(const MemberFacts& member) const;
  /// Why nothing of the package works: "pip does not install it (INF011: ...)"; "" = nothing says so.
  const std::string& package() const { return m_package; }
  /// Dotted names of modules that it was built with and lacks (CNT002).
  const std::vector<std::string>& missing() const { return m_missing; }

 private:
  std::map<std::string_view, ModuleState> m_modules;  // by path
  std::string m_package;
  std::vector<std::string> m_missing;
};

/// `whole`: also kernels that are broken among others count, because the package calls this module on that GPU.
ModuleState state_on(const MemberFacts& member, Capability gpu, const LoadFaults& faults, bool whole);

}  // namespace sagekit
