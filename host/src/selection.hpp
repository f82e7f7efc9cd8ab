#pragma once
// Flags that several verbs take: which cells, and where their toolchains come from.

#include "flags.hpp"

#include <sagekit/error.hpp>

#include <string>
#include <utility>
#include <vector>

namespace sagekit::host {

/// Where compilers, torches and Python headers come from, and how what is fetched is trusted.
struct ToolchainArguments {
  std::vector<std::string> sources;  ///< auto, system, wheels, redist, folder:DIR
  std::vector<std::string> python_headers;
  std::string lock = "sagekit.lock", store;
  bool locked = false, offline = false, full = false;
  std::string index_url, redist_url, ca_bundle;
  std::vector<std::string> extra_index_urls;
};

/// What plan, build and doctor share: which cells.
struct SelectionArguments {
  std::string profile, arches, revision, naming, backend = "direct";
  std::vector<std::string> cells, pythons, torches, cudas, platforms, allowed_defects;
  ToolchainArguments tools;
};

void declare_store(Flags& flags, std::string& store);
void declare_toolchains(Flags& flags, ToolchainArguments& tools);    ///< looking at what is there
void declare_provisioning(Flags& flags, ToolchainArguments& tools);  ///< and fetching what is not
void declare_cells(Flags& flags, SelectionArguments& selection);     ///< which cells, without tools
void declare_selection(Flags& flags, SelectionArguments& selection);
/// --vendored NAME=DIR as pairs. CLI006 (usage) for what is none.
Result<std::vector<std::pair<std::string, std::string>>> vendored_trees(const std::vector<std::string>& given);
void declare_interpreters(Flags& flags, std::vector<std::string>& interpreters);

}  // namespace sagekit::host
