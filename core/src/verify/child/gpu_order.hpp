#pragma once
// The spec's GPU cases for one GPU, as the child that runs them gets them, and as people call them.

#include "support/json.hpp"
#include "verify/subject.hpp"

#include <sagekit/spec.hpp>

#include <string>
#include <utility>
#include <vector>

namespace sagekit {

/// One combination of the values of one row's axes.
struct GpuRun {
  const GpuCase* row = nullptr;
  std::vector<std::pair<std::string, std::string>> values;  ///< axis and value, in the row's order

  /// "sageattn layout=HND causal=True"
  std::string name() const;
};

/// Every combination of the rows that hold for the subject's revision, torch and CUDA and that are for this GPU.
std::vector<GpuRun> gpu_runs(const Subject& subject, Capability gpu);

/// ORDER of child/gpu_cases.py for those of `runs` that `indexes` names.
Json gpu_order(const std::vector<GpuRun>& runs, const std::vector<std::size_t>& indexes);

}  // namespace sagekit
