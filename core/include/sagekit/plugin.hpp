#pragma once
// Loaded plugins: text and facts cross the boundary (plugin/abi.h), values are made on this side.

#include <sagekit/diagnostic.hpp>
#include <sagekit/error.hpp>
#include <sagekit/export.hpp>
#include <sagekit/plugin/abi.h>
#include <sagekit/spec.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace sagekit {

/// A loaded and validated plugin. Copyable: its library is never unloaded.
class Plugin {
 public:
  const Spec& spec() const { return m_spec; }
  const std::string& name() const { return m_spec.name; }
  const std::filesystem::path& path() const { return m_path; }  ///< absolute
  const std::string& sha256() const { return m_sha256; }        ///< of the library file
  const std::string& spec_text() const { return m_spec_text; }
  const sagekit_descriptor& descriptor() const { return *m_descriptor; }
  SAGEKIT_API bool has_judge() const;

  /// Validates a descriptor that is already in the process (loader, static builds and tests share it).
  /// Errors PLG004 .. PLG007; of an invalid spec the first diagnostic is in the message, all are in `problems`.
  SAGEKIT_API static Result<Plugin> from_descriptor(const sagekit_descriptor& descriptor, std::filesystem::path path,
                                                    std::string sha256, Diagnostics* problems = nullptr,
                                                    const std::filesystem::path& kept_specs = {});

 private:
  Spec m_spec;
  std::string m_spec_text;
  std::filesystem::path m_path;
  std::string m_sha256;
  const sagekit_descriptor* m_descriptor = nullptr;
};

/// A file that looked like a plugin and was refused, in one sentence.
struct RejectedPlugin {
  std::filesystem::path path;
  Error error;       ///< code PLG001 untrusted path, 002 cannot open, 003 not a plugin, 004 ABI mismatch, 005 truncated
                     ///< descriptor, 006 invalid spec (file:line:col), 007 unsupported schema, 008 duplicate id
  Diagnostics spec;  ///< all that is wrong with an invalid spec
  bool asked_for = false;  ///< named with --plugin FILE: the host refuses to go on
};

/// Where plugins come from, highest first: files named one by one, then folders in order. Only `sagekit-*.so`, sorted,
/// not recursive; never the current directory. A name in an earlier place shadows later ones; twice in one folder is
/// PLG008.
struct PluginSearch {
  std::vector<std::filesystem::path> files;
  std::vector<std::filesystem::path> folders;
  /// Keeps what was read of specs, by their content, for the next search; "" keeps nothing. Need not be there or
  /// writable.
  std::filesystem::path kept_specs = {};
};

struct LoadedPlugins {
  std::vector<Plugin> plugins;  ///< sorted by name
  std::vector<RejectedPlugin> rejected;
  std::vector<std::pair<std::filesystem::path, std::filesystem::path>> shadowed;  ///< (hidden, by)
};

/// One bad plugin never hinders the others. A folder that cannot be read is listed in `rejected` too (PLG002); an empty
/// path is passed over, for it would mean the current directory.
SAGEKIT_API LoadedPlugins load_plugins(const PluginSearch& search);
/// Runs the library's constructors: only for files one trusts, which PLG001 sees to. Thread-safe.
SAGEKIT_API Result<Plugin> load_plugin(const std::filesystem::path& file, Diagnostics* problems = nullptr);

/// docs/json.md, and "shadowed":[{"path","by"}].
SAGEKIT_API std::string plugins_json(const LoadedPlugins& loaded);
/// `plugin show --json`: {"schema":"sagekit.plugin/1", the keys of one plugin above, "license","judge",
/// "source":{"url","subdir","default","revisions"},"arches","modules","dispatch","profiles"}.
SAGEKIT_API std::string plugin_json(const Plugin& plugin);

}  // namespace sagekit
