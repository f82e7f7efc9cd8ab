#include "settings.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace sagekit::host {

namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read once, before any thread
  return value == nullptr ? std::string{} : std::string(value);
}

std::vector<fs::path> folders(const std::string& list) {
  std::vector<fs::path> result;
  std::size_t start = 0;
  while (start <= list.size()) {
    const std::size_t end = std::min(list.find(':', start), list.size());
    // An empty part means the current directory to a shell; here it means nothing.
    if (end > start) result.emplace_back(list.substr(start, end - start));
    start = end + 1;
  }
  return result;
}

}  // namespace

Settings read_settings() {
  Settings settings;
  settings.color_wanted = variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  settings.redraws = variable("CI").empty() && variable("TERM") != "dumb" && isatty(STDERR_FILENO) == 1;
  settings.github_actions = variable("GITHUB_ACTIONS") == "true";
  if (settings.github_actions) settings.step_summary = variable("GITHUB_STEP_SUMMARY");
  std::error_code error;
  settings.executable = fs::read_symlink("/proc/self/exe", error);
  settings.home = variable("HOME");

  if (const auto cache = variable("XDG_CACHE_HOME"); !cache.empty())
    settings.own_store = fs::path(cache) / "sagekit";
  else if (!settings.home.empty())
    settings.own_store = settings.home / ".cache" / "sagekit";
  const auto store = variable("SAGEKIT_STORE");
  settings.store_is_named = !store.empty();
  settings.store = settings.store_is_named ? fs::path(store) : settings.own_store;
  settings.usual_store = settings.store;

  settings.plugin_path = folders(variable("SAGEKIT_PLUGIN_PATH"));
  settings.plugin_path.push_back(settings.executable.parent_path().parent_path() / "lib" / "sagekit" / "plugins");
  settings.path = folders(variable("PATH"));
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    if (const auto value = variable(name); !value.empty()) settings.cuda_homes.emplace_back(value);
  settings.arch_list = variable("TORCH_CUDA_ARCH_LIST");
  settings.max_jobs = variable("MAX_JOBS");
  settings.store_token = variable("SAGEKIT_STORE_TOKEN");
  for (char** line = environ; line != nullptr && *line != nullptr; ++line) {
    const std::string_view text = *line;
    const auto equals = text.find('=');
    for (const std::string_view prefix : {"SCCACHE_", "CCACHE_", "AWS_"})
      if (equals != text.npos && text.starts_with(prefix))
        settings.launcher_environment[std::string(text.substr(0, equals))] = text.substr(equals + 1);
    for (const std::string_view prefix : {"DOCKER_", "BUILDKIT_", "BUILDX_", "CONTAINERS_", "CONTAINER_", "BUILDAH_",
                                          "STORAGE_", "REGISTRY_", "XDG_", "SLURM_", "SBATCH_"})
      if (equals != text.npos && text.starts_with(prefix))
        settings.engine_environment[std::string(text.substr(0, equals))] = text.substr(equals + 1);
  }

  // Steps see these and nothing else: a stray CPATH or NVCC_APPEND_FLAGS must not change a wheel.
  for (const char* name :
       {"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO",
        "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"})
    if (const auto value = variable(name); !value.empty()) settings.child_environment[name] = value;
  // The client programs have the credentials; sagekit only hands on what they are configured with.
  settings.publish_environment = settings.child_environment;
  settings.engine_environment.insert(settings.child_environment.begin(), settings.child_environment.end());
  for (const char* name : {"GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GH_HOST",
                           "GH_CONFIG_DIR", "HF_TOKEN", "HF_HOME", "HF_ENDPOINT", "HF_TOKEN_PATH", "HF_HUB_DISABLE_XET",
                           "HF_HUB_DISABLE_TELEMETRY", "TWINE_USERNAME", "TWINE_PASSWORD", "TWINE_CERT",
                           "REQUESTS_CA_BUNDLE", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "NETRC"})
    if (const auto value = variable(name); !value.empty()) settings.publish_environment[name] = value;
  settings.publish_environment["GH_PROMPT_DISABLED"] = "1";
  for (const char* name : {"PYTHONPATH",
                           "PYTHONHOME",
                           "PYTHONNOUSERSITE",
                           "PYTHONUSERBASE",
                           "PYTHONSAFEPATH",
                           "CUDA_VISIBLE_DEVICES",
                           "CUDA_HOME",
                           "LD_LIBRARY_PATH",
                           "LD_PRELOAD",
                           "CC",
                           "CXX",
                           "TRITON_PTXAS_PATH",
                           "TRITON_PTXAS_BLACKWELL_PATH",
                           "TRITON_LIBCUDA_PATH",
                           "TRITON_CACHE_DIR",
                           "TORCH_CUDA_ARCH_LIST",
                           "MAX_JOBS",
                           "NVIDIA_VISIBLE_DEVICES",
                           "NVIDIA_DRIVER_CAPABILITIES",
                           "CONDA_PREFIX",
                           "VIRTUAL_ENV",
                           "TMPDIR"})
    if (const char* value = std::getenv(name); value != nullptr)  // NOLINT(concurrency-mt-unsafe)
      settings.python_environment[name] = value;
  settings.private_words = {settings.home.filename().string(), variable("USER"), variable("LOGNAME")};
  for (const char* name : {"PIP_INDEX_URL",
                           "PIP_EXTRA_INDEX_URL",
                           "PIP_CONFIG_FILE",
                           "PIP_PROXY",
                           "PIP_CERT",
                           "PIP_CLIENT_CERT",
                           "PIP_TRUSTED_HOST",
                           "PIP_DEFAULT_TIMEOUT",
                           "PIP_TIMEOUT",
                           "PIP_RETRIES",
                           "UV_CONFIG_FILE",
                           "UV_DEFAULT_INDEX",
                           "UV_EXTRA_INDEX_URL",
                           "UV_FIND_LINKS",
                           "UV_HTTP_TIMEOUT",
                           "UV_INDEX",
                           "UV_INDEX_STRATEGY",
                           "UV_INDEX_URL",
                           "UV_INSECURE_HOST",
                           "UV_NATIVE_TLS",
                           "UV_OFFLINE",
                           "NETRC",
                           "VIRTUAL_ENV",
                           "XDG_CONFIG_HOME",
                           "XDG_CONFIG_DIRS",
                           "SSL_CERT_FILE",
                           "REQUESTS_CA_BUNDLE",
                           "CURL_CA_BUNDLE",
                           "http_proxy",
                           "https_proxy",
                           "no_proxy",
                           "HTTP_PROXY",
                           "HTTPS_PROXY",
                           "NO_PROXY",
                           "ALL_PROXY",
                           "all_proxy"})
    if (const auto value = variable(name); !value.empty()) settings.pip_environment[name] = value;
  return settings;
}

std::vector<std::pair<KnownVariable, std::string>> variables_without_effect() {
  std::vector<std::pair<KnownVariable, std::string>> found;
  for (const auto& known : known_variables())
    if (auto value = variable(known.name.c_str()); !known.why_not.empty() && !value.empty())
      found.emplace_back(known, std::move(value));
  return found;
}

}  // namespace sagekit::host
