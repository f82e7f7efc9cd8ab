#pragma once
// `generate sdist`: the kind that fetches a source instead of writing a plan down.

#include "session.hpp"

#include <string>
#include <vector>

namespace sagekit::host {

struct SdistRequest {
  std::string output;                 ///< folder
  std::string source;                 ///< instead of the spec's url
  std::vector<std::string> vendored;  ///< NAME=DIR
  std::string command;                ///< that makes it
  bool comes_with_sagekit = false;    ///< the plugin is there wherever sagekit is
};

/// Writes it and says so; the exit code.
int generate_sdist(Session& session, const Plugin& plugin, const SelectionArguments& selection,
                   const SdistRequest& wanted);

}  // namespace sagekit::host
