#pragma once
// The spec's cases for a GPU: as the child that runs them gets them, and what was seen of them against what they ask.

#include "support/json.hpp"
#include "verify/artifact.hpp"
#include "verify/finding_list.hpp"
#include "verify/runs_on.hpp"

#include <sagekit/spec.hpp>

#include <filesystem>
#include <map>
#include <optional>
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

/// Every combination of the rows that hold for the artifact's revision, torch and CUDA and that are for this GPU.
std::vector<GpuRun> gpu_runs(const Artifact& artifact, Capability gpu);

/// ORDER of child/gpu_cases.py for those of `runs` that `indexes` names.
Json gpu_order(const std::vector<GpuRun>& runs, const std::vector<std::size_t>& indexes);

/// The GPU that cases run on, and the interpreter.
struct GpuMachine {
  std::string name;  ///< "NVIDIA H200"
  Capability capability;
  std::string torch;  ///< "2.11.0+cu130"
  std::filesystem::path python;
};

/// What a child says of one case (child/gpu_cases.py), or how it ended in it.
struct GpuFacts {
  std::string ended;                     ///< why there are no facts: "it ends the process (signal 11)"
  std::string error, type, missing;      ///< an exception; the module that was not found
  bool device = false;                   ///< the exception is an error of the GPU
  std::vector<std::string> changed;      ///< inputs that were written to
  std::string shape;                     ///< how results and reference do not fit together
  bool differs = false;                  ///< two repetitions gave other bits
  double unwritten = 0, not_finite = 0;  ///< largest share of a result's elements, 0 to 1
  std::optional<double> cosine, row_cosine, relative_l1, absolute;  ///< the worst of all results and repetitions
};

GpuFacts read_gpu_facts(const Json& line);

/// RUN100 to RUN106: one finding for each row and fault, with the worst case named.
GpuGate judge_gpu_runs(const Artifact& artifact, const GpuMachine& machine, const std::vector<GpuRun>& runs,
                       const std::map<std::size_t, GpuFacts>& facts, FindingList& findings);

}  // namespace sagekit
