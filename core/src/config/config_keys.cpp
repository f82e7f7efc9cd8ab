#include "config/config_keys.hpp"

namespace sagekit {

const std::vector<ConfigKey>& config_keys() {
  using enum ConfigForm;
  static const std::vector<ConfigKey> keys{
      {"plugin", name, "the variant, by its plugin's name"},
      {"profile", word, "named selection of cells"},
      {"cells", words, "globs over cell ids; !GLOB excludes"},
      {"python", words, "only these Pythons"},
      {"torch", words, "only these torches"},
      {"cuda", words, "only these CUDAs"},
      {"platform", words, "only these platforms"},
      {"arch", word, "arch list: \"8.0;9.0+PTX\", \"RTX 5090\""},
      {"revision", word, "known source commit or name"},
      {"naming", word, "naming scheme"},
      {"toolchain", sources, "where compilers and torch come from: auto, system, wheels, redist, folder:DIR"},
      {"store", path, "folder of finished steps and fetched toolchains"},
      {"offline", on, "fetch nothing"},
      {"locked", on, "use what the lock pins and nothing else"},
      {"output", path, "folder for the wheels"},
      {"jobs", count, "steps at a time"},
      {"memory", word, "memory budget of all steps of a build together: \"12G\""},
      {"policy", policy, "own, others, pypi, or a policy file"},
  };
  return keys;
}

}  // namespace sagekit
