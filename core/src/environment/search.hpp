#pragma once
// Where tools may lie. Looks at names only, starts nothing; the probes then say what each place holds.

#include "environment/probe.hpp"

namespace sagekit {

/// Places worth probing, best source first, each program once.
struct Candidates {
  std::vector<Found> nvcc, host_compilers, pythons, python_headers, torches;
  std::vector<std::string> notes;  ///< what was named and holds nothing, in sentences
};

Candidates find_candidates(const ProbeOptions& options);

/// The torch and the CUDA wheels that a package folder (site-packages) holds.
Candidates find_packages(const std::filesystem::path& folder, ToolSource source);

}  // namespace sagekit
