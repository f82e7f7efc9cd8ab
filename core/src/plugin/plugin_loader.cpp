// The only file that includes Boost.DLL, and with it Boost.Filesystem.
#include "plugin/trusted_path.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/try.hpp"

#include <sagekit/plugin.hpp>

#include <boost/dll/shared_library.hpp>

#include <algorithm>
#include <exception>
#include <mutex>
#include <vector>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

std::unexpected<Error> cannot_open(const fs::path& path, const std::string& why, std::string hint = {}) {
  return fail(ErrorKind::usage, "PLG002", fmt::format("cannot open plugin {}: {}", path.string(), why),
              std::move(hint));
}

/// Maps the library for good. A plugin is never unloaded: its descriptor, its judge and whatever its runtime registered
/// stay valid, even while the process exits, so the list is never destroyed.
void keep_forever(boost::dll::shared_library library) {
  static std::mutex mutex;
  static auto* const kept = new std::vector<boost::dll::shared_library>();
  const std::lock_guard lock(mutex);
  kept->push_back(std::move(library));
}

Result<const sagekit_descriptor*> open_descriptor(const fs::path& canonical) {
  namespace dll = boost::dll;
  try {
    // The throwing overload is the one that reports dlerror's text.
    dll::shared_library library(canonical.string(), dll::load_mode::rtld_now | dll::load_mode::rtld_local);
    if (!library.has(SAGEKIT_PLUGIN_SYMBOL)) {
      return fail(
          ErrorKind::usage, "PLG003",
          fmt::format("{} is not a sagekit plugin: it exports no `{}`", canonical.string(), SAGEKIT_PLUGIN_SYMBOL),
          "build it with sagekit_add_plugin()");
    }
    const auto& descriptor = library.get<const sagekit_descriptor>(SAGEKIT_PLUGIN_SYMBOL);
    keep_forever(std::move(library));
    return &descriptor;
  } catch (const std::exception& error) {
    return cannot_open(canonical, error.what());
  } catch (...) {  // a library's constructor may throw anything
    return cannot_open(canonical, "its start-up code threw an exception");
  }
}

Result<fs::path> canonical_path(const fs::path& file) {
  if (file.empty()) return cannot_open(file, "an empty name");
  std::error_code error;
  fs::path path = fs::canonical(file, error);
  if (error) return cannot_open(file, error.message());
  if (!fs::is_regular_file(path, error)) return cannot_open(file, "it is not a regular file");
  return path;
}

bool has_plugin_name(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.starts_with("sagekit-") && name.ends_with(".so");
}

Result<std::vector<fs::path>> plugin_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  fs::directory_iterator at(folder, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    if (has_plugin_name(at->path())) files.push_back(at->path());
  }
  if (error)
    return fail(ErrorKind::usage, "PLG002",
                fmt::format("cannot read plugin folder {}: {}", folder.string(), error.message()));
  std::ranges::sort(files);
  return files;
}

/// Collects what one search finds, place by place.
class Collector {
 public:
  void add_place(const std::vector<fs::path>& files, bool asked_for) {
    const std::size_t place_begin = m_loaded.plugins.size();
    for (const fs::path& file : files) add(file, asked_for, place_begin);
  }
  void reject(const fs::path& path, Error error, Diagnostics spec = {}, bool asked_for = false) {
    m_loaded.rejected.push_back({path, std::move(error), std::move(spec), asked_for});
  }
  LoadedPlugins take() {
    std::ranges::sort(m_loaded.plugins, {}, &Plugin::name);
    return std::move(m_loaded);
  }

 private:
  void add(const fs::path& file, bool asked_for, std::size_t place_begin) {
    Diagnostics problems;
    auto plugin = load_plugin(file, &problems);
    if (!plugin) return reject(file, std::move(plugin).error(), std::move(problems), asked_for);
    const auto same = std::ranges::find(m_loaded.plugins, plugin->name(), &Plugin::name);
    if (same == m_loaded.plugins.end()) {
      m_loaded.plugins.push_back(std::move(*plugin));
    } else if (same->path() == plugin->path()) {
      return;  // the same file by two ways
    } else if (static_cast<std::size_t>(same - m_loaded.plugins.begin()) < place_begin) {
      m_loaded.shadowed.emplace_back(plugin->path(), same->path());
    } else {
      reject(file,
             {ErrorKind::usage, "PLG008",
              fmt::format("{} is a second plugin named \"{}\" beside {}", plugin->path().string(), plugin->name(),
                          same->path().string()),
              "", "remove one of the two, or load the one you mean with --plugin FILE"},
             {}, asked_for);
    }
  }

  LoadedPlugins m_loaded;
};

}  // namespace

Result<Plugin> load_plugin(const fs::path& file, Diagnostics* problems) {
  TRY_ASSIGN(const fs::path path, canonical_path(file));
  TRY(check_trusted(path, current_user()));
  TRY_ASSIGN(std::string sha256, sha256_file(path));
  TRY_ASSIGN(const sagekit_descriptor* const descriptor, open_descriptor(path));
  return Plugin::from_descriptor(*descriptor, path, std::move(sha256), problems);
}

LoadedPlugins load_plugins(const PluginSearch& search) {
  Collector collector;
  collector.add_place(search.files, true);
  for (const fs::path& folder : search.folders) {
    if (folder.empty()) continue;
    auto files = plugin_files(folder);
    if (files) {
      collector.add_place(*files, false);
    } else {
      collector.reject(folder, std::move(files).error());
    }
  }
  return collector.take();
}

}  // namespace sagekit
