#pragma once
// The only reader of environment variables.

#include <sagekit/variables.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sagekit::host {

struct Settings {
  bool color_wanted = true;            ///< NO_COLOR is not set and TERM is not dumb
  bool redraws = false;                ///< stderr is a terminal that can go back; CI is not set and TERM is not dumb
  bool github_actions = false;         ///< GITHUB_ACTIONS is "true": findings become annotations
  std::filesystem::path step_summary;  ///< GITHUB_STEP_SUMMARY: the file that becomes the job's page; "" = none
  std::filesystem::path executable;    ///< this program
  std::filesystem::path home;          ///< HOME
  std::filesystem::path store;         ///< SAGEKIT_STORE, else XDG_CACHE_HOME/sagekit, else ~/.cache/sagekit
  std::filesystem::path own_store;     ///< below the user's cache folder, whatever is named; empty = no HOME
  std::filesystem::path usual_store;   ///< what `store` was before sagekit.toml named another
  bool store_is_named = false;         ///< by SAGEKIT_STORE
  std::vector<std::filesystem::path> plugin_path;        ///< SAGEKIT_PLUGIN_PATH, then lib/sagekit/plugins beside bin
  std::vector<std::filesystem::path> path;               ///< PATH
  std::vector<std::filesystem::path> cuda_homes;         ///< CUDA_HOME, CUDA_PATH
  std::string arch_list;                                 ///< TORCH_CUDA_ARCH_LIST
  std::string max_jobs;                                  ///< MAX_JOBS
  std::string store_token;                               ///< SAGEKIT_STORE_TOKEN: a secret, never shown
  std::map<std::string, std::string> child_environment;  ///< what started programs may see
  std::map<std::string, std::string> launcher_environment;  ///< and what a --launcher may besides
  std::map<std::string, std::string> engine_environment;    ///< and what container engines and Slurm listen to
  std::map<std::string, std::string> publish_environment;   ///< child_environment, and what gh, hf and twine listen to
  /// What a user's Python, CUDA and Triton listen to; also those that are set and empty, for that has a meaning.
  std::map<std::string, std::string> python_environment;
  std::vector<std::string> private_words;  ///< names of the user: never in a report
  std::map<std::string, std::string>
      pip_environment;  ///< PIP_*, UV_*, proxies: what pip's and uv's configuration depends on
};

Settings read_settings();
/// What is set and does nothing to a wheel, with its value. By itself, for its table is TOML that only verbs that plan
/// read.
std::vector<std::pair<KnownVariable, std::string>> variables_without_effect();

}  // namespace sagekit::host
