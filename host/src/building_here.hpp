#pragma once
// A build for exactly this machine: its GPUs, its torch, its Python.

#include "session.hpp"

#include <sagekit/resolve.hpp>

#include <string_view>

namespace sagekit::host {

struct HereOptions {
  std::filesystem::path store = {};
  std::string source = {};                 ///< as build's --source; "" = the spec's URL
  std::vector<std::string> vendored = {};  ///< as build's --vendored
};

/// What mends RES009. Where no GPU shows itself nobody knows which one is meant.
inline constexpr std::string_view k_torch_first =
    "install torch there first, or name another Python with --interpreter";
inline constexpr std::string_view k_for_gpu = "--for 'gpu=NAME,driver=VERSION'";
inline constexpr std::string_view k_name_gpu =
    "--for 'gpu=NAME,driver=VERSION' names one that does not show itself here, as nvidia-smi there calls it";

/// Has the target no torch to build the variant for?
bool lacks_torch(const Spec& spec, const Target& target);

/// The profile that has a cell for it, the usual one first. Error PLN004 (no_match): the matrix has none.
Result<std::string> profile_for(const Spec& spec, const Target& target);

struct HereCommand {
  std::vector<std::string> words;
  std::filesystem::path folder;  ///< where the wheels come to lie
};

/// `sagekit --plugin NAME build ...` as somebody would type it. Errors as of build_here: CLI001, RES009, PLN004.
Result<HereCommand> build_command(const Session& session, const Target& target, const HereOptions& options);

/// Runs the verb `build` and returns the folder that has its wheels. Errors: CLI001 (usage) no plugin was chosen,
/// RES009 (machine) the machine lacks what a wheel is for, PLN004 (no_match) the plugin has no cell for it, RES010
/// (failed) the build did not come to its end; it said why.
Result<std::filesystem::path> build_here(Session& session, const Target& target, const HereOptions& options);

}  // namespace sagekit::host
