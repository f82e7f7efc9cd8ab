#include "config/config_keys.hpp"

namespace sagekit {

namespace {

constexpr std::string_view k_chooses = "it chooses which cells there are";
constexpr std::string_view k_source = "all cells of a build are made from one source";
constexpr std::string_view k_compiler = "cells of one CUDA share the steps of one compiler";
constexpr std::string_view k_command = "it holds for the whole command";

}  // namespace

const std::vector<ConfigKey>& config_keys() {
  using enum ConfigForm;
  static const std::vector<ConfigKey> keys{
      {"plugin", name, "the variant, by its plugin's name", k_chooses},
      {"profile", word, "named selection of cells", k_chooses},
      {"cells", words, "globs over cell ids; !GLOB excludes", k_chooses},
      {"python", words, "only these Pythons", k_chooses},
      {"torch", words, "only these torches", k_chooses},
      {"cuda", words, "only these CUDAs", k_chooses},
      {"platform", words, "only these platforms", k_chooses},
      {"arch", arches, "arch list: \"8.0;9.0+PTX\", \"RTX 5090\"; its parts may be a list"},
      {"revision", word, "known source commit or name", k_source},
      {"naming", word, "naming scheme"},
      {"toolchain", sources, "where compilers and torch come from: auto, system, wheels, redist, folder:DIR",
       k_compiler},
      {"store", path, "folder of finished steps and fetched toolchains", k_command},
      {"store-max-size", word, "the store is trimmed to this size after a build: \"20G\"", k_command},
      {"offline", on, "fetch nothing", k_command},
      {"locked", on, "use what the lock pins and nothing else", k_command},
      {"output", path, "folder for the wheels", k_command},
      {"jobs", count, "steps at a time", k_command},
      {"memory", word, "memory budget of all steps of a build together: \"12G\"", k_command},
      {"policy", policy, "own, others, pypi, or a policy file", k_command},
  };
  return keys;
}

const std::vector<ConfigKey>& override_keys() {
  static const std::vector<ConfigKey> keys = [] {
    std::vector<ConfigKey> some;
    for (const auto& key : config_keys())
      if (key.for_all.empty()) some.push_back(key);
    some.push_back({"requires-dist", ConfigForm::words, "what the wheels require, as the plugin's metadata writes it"});
    return some;
  }();
  return keys;
}

bool merges(const ConfigKey& key) { return key.name != "naming"; }

}  // namespace sagekit
