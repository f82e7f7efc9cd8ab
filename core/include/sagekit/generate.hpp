#pragma once
// A plan, written down for other engines: Dockerfile, bake file, workflows, Slurm jobs, playbook. Deterministic text;
// what people changed by hand is never overwritten silently (docs/generate.md).

#include <sagekit/error.hpp>
#include <sagekit/export.hpp>
#include <sagekit/plan.hpp>
#include <sagekit/spec.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// A file of a kind, below the output folder. Its head names the command that made it and holds a digest of the rest.
struct GeneratedFile {
  std::string path;  ///< with "/": "docker-bake.hcl"
  std::string text;
  bool executable = false;
};

/// A file that the generated ones need beside them, taken over as it is: sagekit's wheel, a plugin.
struct CarriedFile {
  std::string path;
  std::filesystem::path from;
};

struct Generated {
  std::vector<GeneratedFile> files;  ///< by path
  std::vector<CarriedFile> carried;
  std::vector<std::string> notes;  ///< what is left out and why, and how to use them; a sentence each
};

/// One variant of what is generated.
struct GenerateVariant {
  const Spec* spec = nullptr;
  Request request;
  std::filesystem::path carried_plugin;  ///< not one that comes with sagekit: its file is taken along; "" = it comes
};

/// What no plan says. Each kind takes some of them (GenerateKind::flags).
struct GenerateOptions {
  std::string command;  ///< that makes the files: one line in the head of each
  /// What sagekit is installed from: a wheel's file, which is carried along, or a requirement; "" = this version.
  std::string sagekit;
  std::string base = "auto";      ///< auto, debian, ubuntu, nvidia, runpod, or an image
  std::vector<std::string> pins;  ///< IMAGE@sha256:HEX
  std::string source;             ///< what `build --source` gets there; a folder of the build context, or an address
  bool gpu_check = false;         ///< the container looks for a GPU before it builds
  std::vector<std::string> tags;  ///< github: patterns of the tags that become a release; none: "v*-PLUGIN"
  std::string runner;             ///< github: the label of the Linux jobs' machine; "" = the table's
  std::string partition, account, store;  ///< slurm
  std::size_t shards = 0;                 ///< slurm; 0 = by the plan's size
  std::size_t cpus = 0;                   ///< slurm: of each task; 0 = by the plan
  bool json_output = false;               ///< slurm: the last job leaves build.json, for `build --in slurm`
  std::string hosts, venv;                ///< ansible: which hosts, and the environment on them
  std::string release;                    ///< consumer, ansible: text of a sagekit.release.json; "" = none was given
  std::string release_origin;             ///< where it was read from, for messages
};

struct GenerateKind {
  std::string_view name;                ///< "dockerfile"
  std::string_view what;                ///< one line
  bool several_plugins = false;         ///< takes more than one variant
  std::vector<std::string_view> flags;  ///< long names of the flags that only some kinds take
};
SAGEKIT_API const std::vector<GenerateKind>& generate_kinds();

/// A function of its arguments alone: no machine, no time, no network. Errors: GEN001 unknown kind, GEN002 (no_match)
/// no cell of the plan can be made that way, GEN003 a word that the files cannot hold, GEN006 no image known, GEN007
/// several plugins; those of make_plan and read_release.
SAGEKIT_API Result<Generated> generate(std::string_view kind, const std::vector<GenerateVariant>& variants,
                                       const GenerateOptions& options);

enum class FileChange {
  unchanged,  ///< the same bytes
  created,    ///< nothing was there
  updated,    ///< as sagekit made it, from another plan or version
  edited,     ///< changed by hand since, or another's file
};
SAGEKIT_API std::string_view to_string(FileChange change);

struct FileComparison {
  std::string path;
  FileChange change = FileChange::unchanged;
  std::size_t lines_added = 0, lines_removed = 0;
};

/// What writing them would change. Errors: GEN005 a folder, link or device has the name; FIL001.
SAGEKIT_API Result<std::vector<FileComparison>> compare_generated(const Generated& generated,
                                                                  const std::filesystem::path& folder);
/// Writes what differs: all of it, or nothing. Errors: GEN004 a file was changed by hand and `force` is false; GEN005;
/// FIL001; FIL002.
SAGEKIT_API Result<std::vector<FileComparison>> write_generated(const Generated& generated,
                                                                const std::filesystem::path& folder, bool force);

/// How the builder of a generated Dockerfile is run: what its image starts, and what that does unless told otherwise.
struct ContainerWords {
  std::vector<std::string> entrypoint, selection;
};
/// GEN012 (usage) the cells need several images.
SAGEKIT_API Result<ContainerWords> container_words(const Generated& generated);

/// {"schema":"sagekit.generate/1", ...} (docs/json.md)
SAGEKIT_API std::string generate_json(std::string_view kind, const Generated& generated,
                                      const std::vector<FileComparison>& changes);

}  // namespace sagekit
