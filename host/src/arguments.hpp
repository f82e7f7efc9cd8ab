#pragma once
// The command line as values. arguments.cpp is the only file that knows the argument parser.

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

/// What plan, build and package share: which cells.
struct SelectionArguments {
  std::string profile, arches, revision, naming, backend = "direct";
  std::vector<std::string> cells, pythons, torches, cudas, platforms, allowed_defects;
  std::vector<std::string> toolchains;  ///< auto, system, folder:DIR
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
  std::string output = "dist", store, source;
  std::vector<std::string> vendored;  ///< NAME=DIR
  std::size_t jobs = 0;
  std::uint64_t memory_bytes = 0;
  bool keep_going = false, dry_run = false, jsonl = false;
  std::vector<std::string> interpreters;
};
struct VerifyArguments {
  std::vector<std::string> wheels;
  std::string policy;
  std::vector<std::string> interpreters, require;
  bool all = false;
};
struct InspectArguments {
  std::vector<std::string> files;
  bool kernels = false;
};
struct PackageArguments {
  std::string folder, output = "dist", naming;
  std::vector<std::string> interpreters;
};
struct EnvArguments {
  std::vector<std::string> toolchains;
  bool only_toolchains = false;
};
struct SchemaArguments {
  std::string name;
};

using VerbArguments = std::variant<std::monostate, PluginListArguments, PluginShowArguments, PluginCheckArguments,
                                   PluginCheckOneArguments, PlanArguments, BuildArguments, VerifyArguments,
                                   InspectArguments, PackageArguments, EnvArguments, SchemaArguments>;

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
