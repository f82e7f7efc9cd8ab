#pragma once
// The bill of materials of a wheel, CycloneDX 1.6 as PEP 770 wants it: what is in its modules that no file name shows.

#include <sagekit/build.hpp>
#include <sagekit/naming.hpp>
#include <sagekit/spec.hpp>

#include <string>
#include <string_view>

namespace sagekit {

/// Below the dist-info folder.
inline constexpr std::string_view k_sbom_file = "sboms/sagekit.cdx.json";

/// Modules that need no torch have the CUDA runtime linked in (plan/argv.cpp); others find torch's.
bool has_static_cuda_runtime(const Spec& spec, const CellBuild& build);

/// The source with the edits that were made to it, the trees it was compiled with, and the CUDA runtime where modules
/// have it linked in. A function of the build alone: its time is the source's, its serial number a hash of the rest.
std::string sbom_json(const Spec& spec, const Revision& revision, const CellBuild& build, const WheelName& name);

}  // namespace sagekit
