// From a search to open libraries. Paths are Boost.Filesystem's from the moment a folder is read: it is Boost.DLL's
// path type, so the very value that was found and checked is what is opened.
#include "plugin/trusted_path.hpp"
#include "support/file.hpp"
#include "support/file_kind.hpp"
#include "support/format.hpp"
#include "support/parallel.hpp"
#include "support/sha256.hpp"
#include "support/try.hpp"

#include <sagekit/plugin.hpp>

#include <boost/dll/shared_library.hpp>
#include <boost/filesystem/directory.hpp>
#include <boost/filesystem/operations.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>
#include <vector>

namespace sagekit {

namespace bfs = boost::filesystem;

namespace {

constexpr std::uint64_t k_no_budget = std::numeric_limits<std::uint64_t>::max();

std::unexpected<Error> cannot_open(const bfs::path& path, const std::string& why, std::string hint = {}) {
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

Result<const sagekit_descriptor*> open_descriptor(const bfs::path& canonical) {
  namespace dll = boost::dll;
  try {
    // The throwing overload is the one that reports dlerror's text.
    dll::shared_library library(canonical, dll::load_mode::rtld_now | dll::load_mode::rtld_local);
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
    if (canonical.extension() == ".toml")
      return cannot_open(canonical, "it is the text of a plugin's spec, not the plugin that is built from it",
                         "give the shared library, sagekit-NAME.so; docs/plugin-authors.md tells how it is built");
    if (canonical.extension() == ".whl")
      return cannot_open(canonical, "it is a wheel, not a plugin", "sagekit verify judges a wheel");
    const auto file = MappedFile::open(canonical.native());
    const auto other = file ? other_kind(Bytes(file->bytes())) : std::nullopt;
    return cannot_open(canonical, other ? "it is " + other->what : error.what(),
                       "a plugin is a shared library, sagekit-NAME.so, built for this machine");
  } catch (...) {  // a library's constructor may throw anything
    return cannot_open(canonical, "its start-up code threw an exception");
  }
}

Result<bfs::path> canonical_path(const bfs::path& file) {
  if (file.empty()) return cannot_open(file, "an empty name");
  boost::system::error_code error;
  // The working folder may be gone: an absolute path does not need it.
  bfs::path path = file.is_absolute() ? bfs::canonical(file, file.root_path(), error) : bfs::canonical(file, error);
  if (error)
    return cannot_open(file, error.message(),
                       "a plugin's file is named as sagekit-NAME.so, a plugin that is loaded NAME");
  if (!bfs::is_regular_file(path, error)) return cannot_open(file, "it is not a regular file");
  return path;
}

bool has_plugin_name(const bfs::path& file) {
  const std::string name = file.filename().string();
  return name.starts_with("sagekit-") && name.ends_with(".so");
}

Result<std::vector<bfs::path>> plugin_files(const bfs::path& folder) {
  std::vector<bfs::path> files;
  boost::system::error_code error;
  bfs::directory_iterator at(folder, error);
  for (; !error && at != bfs::directory_iterator(); at.increment(error)) {
    if (has_plugin_name(at->path())) files.push_back(at->path());
  }
  if (error)
    return fail(ErrorKind::usage, "PLG002",
                fmt::format("cannot read plugin folder {}: {}", folder.string(), error.message()));
  std::ranges::sort(files);
  return files;
}

/// A library that is open; its spec is still text.
struct OpenPlugin {
  bfs::path path;
  std::string sha256;
  const sagekit_descriptor* descriptor = nullptr;
};

Result<OpenPlugin> open_plugin(const bfs::path& file) {
  TRY_ASSIGN(bfs::path path, canonical_path(file));
  TRY(check_trusted(path, current_user()));
  TRY_ASSIGN(std::string sha256, sha256_file(path.native()));
  TRY_ASSIGN(const sagekit_descriptor* const descriptor, open_descriptor(path));
  return OpenPlugin{std::move(path), std::move(sha256), descriptor};
}

/// A file that a search named, and what became of it.
struct Candidate {
  bfs::path file;
  std::size_t place = 0;  ///< files come before the first folder, that before the second
  Result<OpenPlugin> opened;
  Diagnostics problems;
  Result<Plugin> plugin = fail(ErrorKind::bug, "", "");
};

/// What orders the reading; 0 of a descriptor whose fields may not be read.
std::uint64_t spec_size(const sagekit_descriptor& descriptor) {
  constexpr std::size_t k_needed = offsetof(sagekit_descriptor, spec_size) + sizeof(descriptor.spec_size);
  if (descriptor.abi != SAGEKIT_PLUGIN_ABI || descriptor.struct_size < k_needed) return 0;
  return std::min<std::uint64_t>(descriptor.spec_size, std::numeric_limits<std::uint32_t>::max());
}

/// Most of the time is toml11's, some 2 ms for 10 KB of spec that is not kept: they are read side by side, the longest
/// first.
void read_specs(std::vector<Candidate>& candidates, const std::filesystem::path& kept_specs) {
  std::vector<std::uint64_t> sizes;
  for (const auto& candidate : candidates)
    sizes.push_back(candidate.opened ? spec_size(*candidate.opened->descriptor) : 0);
  run_within_budget(sizes, k_no_budget, available_threads(), [&](std::size_t i) {
    auto& [file, place, opened, problems, plugin] = candidates[i];
    plugin = opened ? Plugin::from_descriptor(*opened->descriptor, opened->path.native(), opened->sha256, &problems,
                                              kept_specs)
                    : Result<Plugin>(std::unexpected(opened.error()));
  });
}

/// Takes the candidates in the order of the search.
LoadedPlugins collect(std::vector<Candidate> candidates) {
  LoadedPlugins loaded;
  std::vector<std::size_t> places;  // of loaded.plugins
  for (auto& candidate : candidates) {
    const auto reject = [&](Error error) {
      loaded.rejected.push_back(
          {candidate.file.native(), std::move(error), std::move(candidate.problems), candidate.place == 0});
    };
    if (!candidate.plugin) {
      reject(std::move(candidate.plugin).error());
      continue;
    }
    auto& plugin = *candidate.plugin;
    const auto same = std::ranges::find(loaded.plugins, plugin.name(), &Plugin::name);
    if (same == loaded.plugins.end()) {
      loaded.plugins.push_back(std::move(plugin));
      places.push_back(candidate.place);
    } else if (same->path() == plugin.path()) {
      continue;  // the same file by two ways
    } else if (places[static_cast<std::size_t>(same - loaded.plugins.begin())] < candidate.place) {
      loaded.shadowed.emplace_back(plugin.path(), same->path());
    } else {
      reject({ErrorKind::usage, "PLG008",
              fmt::format("{} is a second plugin named \"{}\" beside {}", plugin.path().string(), plugin.name(),
                          same->path().string()),
              "", "remove one of the two, or load the one you mean with --plugin FILE"});
    }
  }
  std::ranges::sort(loaded.plugins, {}, &Plugin::name);
  return loaded;
}

}  // namespace

Result<Plugin> load_plugin(const std::filesystem::path& file, Diagnostics* problems) {
  TRY_ASSIGN(OpenPlugin opened, open_plugin(file.native()));
  return Plugin::from_descriptor(*opened.descriptor, opened.path.native(), std::move(opened.sha256), problems);
}

LoadedPlugins load_plugins(const PluginSearch& search) {
  std::vector<Candidate> candidates;
  for (const auto& file : search.files) candidates.push_back({file.native(), 0, open_plugin(file.native()), {}});
  std::size_t place = 0;
  for (const auto& folder : search.folders) {
    ++place;
    if (folder.empty()) continue;
    auto files = plugin_files(folder.native());
    if (!files) candidates.push_back({folder.native(), place, std::unexpected(files.error()), {}});
    if (!files) continue;
    for (auto& file : *files) {
      auto opened = open_plugin(file);
      candidates.push_back({std::move(file), place, std::move(opened), {}});
    }
  }
  read_specs(candidates, search.kept_specs);
  return collect(std::move(candidates));
}

}  // namespace sagekit
