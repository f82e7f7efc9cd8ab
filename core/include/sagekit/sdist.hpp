#pragma once
// A source distribution that pip, uv and build make a wheel of through sagekit (PEP 517): the pinned source, what is
// done to it, and a pyproject.toml.

#include <sagekit/build.hpp>
#include <sagekit/command.hpp>
#include <sagekit/error.hpp>
#include <sagekit/export.hpp>
#include <sagekit/plan.hpp>
#include <sagekit/spec.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace sagekit {

struct SdistOptions {
  std::filesystem::path output_folder;
  std::filesystem::path carried_plugin;  ///< not one that comes with sagekit: its file is taken along; "" = it comes
  std::string command;                   ///< that makes it: a line of pyproject.toml
  BuildOptions build;  ///< where the source comes from: store, source, vendored, offline, child_environment, log
  std::function<void(const std::string&)> say;  ///< "fetching ..."
};

struct Sdist {
  std::filesystem::path path;
  std::string sha256;
  std::uint64_t size_bytes = 0;
  std::vector<std::string> edits;  ///< ids of those that its build will apply
  bool unchanged = false;          ///< the same bytes were already there under that name
};

/// Writes NAME-VERSION.tar.gz of the plan's revision: same plan, same bytes. The source lies in it as it was pinned, so
/// that a build can check it; edits are recorded and applied there. Errors: those of fetching a source (SRC...); PKG006
/// (usage) a path that a tar file cannot hold; PKG001 (failed) another file has the name; FIL002.
SAGEKIT_API Result<Sdist> write_sdist(const Spec& spec, const Plan& plan, const SdistOptions& options,
                                      CommandRunner& runner, std::stop_token stop = {});

/// {"schema":"sagekit.sdist-made/1", ...} (docs/json.md)
SAGEKIT_API std::string sdist_json(const Sdist& made);

}  // namespace sagekit
