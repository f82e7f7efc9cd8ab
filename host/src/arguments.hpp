#pragma once
// The command line as values. arguments.cpp and arguments_wheels.cpp are the only files that know the argument parser.

#include <sagekit/error.hpp>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace sagekit::host {

struct GlobalArguments {
  std::vector<std::string> plugins;  ///< names or files
  std::vector<std::string> plugin_dirs;
  std::string color = "auto";  ///< auto, always, never
  std::string directory;       ///< -C
  bool json = false;
  bool quiet = false;
  int verbose = 0;
};

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

struct PluginListArguments {};
struct PluginShowArguments {
  std::string name;
};
struct PluginCheckArguments {
  std::vector<std::string> files;
};
/// One conformance test in this process; what `plugin check` starts for each test.
struct PluginCheckOneArguments {
  std::string file, test;
};
struct PlanArguments {
  SelectionArguments selection;
  bool steps = false, dot = false;
};
struct BuildArguments {
  SelectionArguments selection;
  std::string output = "dist", source;
  std::vector<std::string> vendored;  ///< NAME=DIR
  std::size_t jobs = 0;
  std::uint64_t memory_bytes = 0;
  bool keep_going = false, dry_run = false, jsonl = false;
  std::vector<std::string> interpreters;
};
struct VerifyArguments {
  std::vector<std::string> paths;  ///< wheels, folders
  std::string policy;              ///< own, others, pypi or a file; "" = by who made the wheel
  std::vector<std::string> interpreters, require, packages, installed;
  std::string sha256_file, sarif_file, explain;
  std::string format;              ///< text, json, sarif, github; "" = text, or json with --json
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;
  bool all = false, gpu = false;
};
struct InspectArguments {
  std::vector<std::string> files;
  bool kernels = false, resources = false, hashes = false, quick = false;
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;
};
struct DiffArguments {
  std::string first, second;
};
struct PackageArguments {
  std::string folder, output = "dist", naming;
  std::vector<std::string> interpreters;
};
struct EnvArguments {
  ToolchainArguments tools;
  bool only_toolchains = false;
};
struct ToolchainFetchArguments {
  ToolchainArguments tools;
  std::string cuda;
  std::vector<std::string> torches, platforms;
  bool no_nvcc = false;
};
struct ToolchainRemoveArguments {
  std::vector<std::string> ids;
  std::string store;
  bool all = false;
};
struct ToolchainVerifyArguments {
  std::vector<std::string> ids;
  std::string store;
};
struct DoctorArguments {
  SelectionArguments selection;
};
struct SchemaArguments {
  std::string name;
};

using VerbArguments =
    std::variant<std::monostate, PluginListArguments, PluginShowArguments, PluginCheckArguments,
                 PluginCheckOneArguments, PlanArguments, BuildArguments, VerifyArguments, InspectArguments,
                 PackageArguments, EnvArguments, SchemaArguments, ToolchainFetchArguments, ToolchainRemoveArguments,
                 ToolchainVerifyArguments, DoctorArguments, DiffArguments>;

struct Arguments {
  GlobalArguments global;
  VerbArguments verb;  ///< monostate: nothing left to do (--help, --version)
  std::string text;    ///< what --help or --version prints on stdout
};

/// Parses the command line. A wrong one is an Error of kind usage with the nearest right word.
Result<Arguments> parse_arguments(int argc, const char* const* argv);

/// "12G", "512M", "1.5GiB", "2000000" -> bytes.
Result<std::uint64_t> parse_size(const std::string& text);

}  // namespace sagekit::host
