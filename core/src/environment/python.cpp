#include "environment/probes.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/text.hpp"

#include <algorithm>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

// Runs with -I, so that neither the current folder nor the user's variables are seen; nothing but the standard library
// is imported. ASCII output whatever the locale: json.dumps escapes the rest.
constexpr std::string_view k_script = R"(
import json, os, site, sys, sysconfig
v = sysconfig.get_config_var
paths = sysconfig.get_paths()
sites = [paths.get('purelib'), paths.get('platlib')] + list(getattr(site, 'getsitepackages', list)())
if getattr(site, 'ENABLE_USER_SITE', None) is not None: sites.append(site.getusersitepackages())
scheme = getattr(sysconfig, 'get_default_scheme', None)
stdlib = sysconfig.get_path('stdlib', scheme()) if scheme else paths.get('stdlib')
managed = sys.prefix == sys.base_prefix and os.path.exists(os.path.join(stdlib, 'EXTERNALLY-MANAGED'))
probe = paths['platlib']
while not os.path.exists(probe) and os.path.dirname(probe) != probe: probe = os.path.dirname(probe)
print(json.dumps({
  'implementation': sys.implementation.name, 'version': sys.version.split()[0],
  'minor': '%d.%d' % sys.version_info[:2], 'threads': 't' if v('Py_GIL_DISABLED') else '',
  'executable': sys.executable or '', 'prefix': sys.prefix, 'soabi': v('SOABI') or '', 'multiarch': v('MULTIARCH') or '',
  'include': [p for p in (paths.get('include'), paths.get('platinclude'), v('INCLUDEPY')) if p],
  'sites': [p for p in sites if p], 'site': paths['platlib'], 'path': [p for p in sys.path if p], 'managed': managed,
  'writable': os.access(probe, os.W_OK | os.X_OK)}))
)";

std::vector<fs::path> paths_of(const Json& json, const char* key) {
  std::vector<fs::path> paths;
  const auto list = json.find(key);
  if (list == json.end() || !list->is_array()) return paths;
  for (const auto& item : *list) {
    if (!item.is_string()) continue;
    const fs::path path = item.get<std::string>();
    if (std::ranges::find(paths, path) == paths.end()) paths.push_back(path);
  }
  return paths;
}

// Debian's pyconfig.h includes <TRIPLET/python3.N/pyconfig.h>, so the parent must be on the include path as well,
// unless the compiler looks there anyway.
std::vector<fs::path> header_folders(const std::vector<fs::path>& given, const std::string& multiarch) {
  std::vector<fs::path> folders;
  for (const auto& folder : given)
    if (is_file(folder / "Python.h") || is_file(folder / "pyconfig.h")) folders.push_back(folder);
  if (std::ranges::none_of(folders, [](const fs::path& f) { return is_file(f / "Python.h"); })) return {};
  const fs::path parent = folders.front().parent_path();
  if (!multiarch.empty() && parent != "/usr/include" && is_folder(parent / multiarch)) folders.push_back(parent);
  return folders;
}

std::string how_to_get_headers(const Python& python, const fs::path& prefix, const fs::path& root) {
  return prefix == root / "usr" ? fmt::format("apt-get install libpython{}-dev", python.minor)
                                : fmt::format("uv python install {} brings one with headers", python.minor);
}

}  // namespace

std::string header_identity(const Python& python, const std::string& multiarch) {
  Sha256 hash;
  hash.field(python.version);
  hash.field(python.soabi);
  const fs::path& folder = python.include_dirs.front();
  std::vector<fs::path> files = {folder / "Python.h", folder / "patchlevel.h", folder / "pyconfig.h"};
  if (!multiarch.empty()) files.push_back(folder.parent_path() / multiarch / folder.filename() / "pyconfig.h");
  for (const auto& file : files)
    if (const auto text = read_file(file)) hash.field(*text);
  add_listing(hash, folder);
  return hash.hex();
}

ProbedPython probe_python(const Found& found, const ProbeContext& context) {
  ProbedPython probed;
  Python& python = probed.python;
  python.executable = found.path;
  python.source = found.source;
  python.found_by = found.found_by;
  const auto output = context.output_of({found.path.string(), "-I", "-B", "-c", std::string(k_script)});
  if (!output) {
    // ls, which takes the script for a file, says it all again.
    python.why_not = output.error().find("import json") == std::string::npos ? output.error()
                                                                             : "starts, but does not run Python code";
    return probed;
  }
  const Json json = parse_json(trim(*output));
  if (!json.is_object()) {
    python.why_not = "starts, but does not run Python code: " + first_line(*output);
    return probed;
  }
  python.version = text_at(json, "version");
  python.minor = text_at(json, "minor");
  python.soabi = text_at(json, "soabi");
  python.abi = "cp" + without_dots(python.minor) + text_at(json, "threads");
  if (const fs::path own = text_at(json, "executable"); own.is_absolute()) python.executable = own;
  probed.place = {text_at(json, "prefix"), text_at(json, "site"), paths_of(json, "path"), truth_at(json, "managed"),
                  truth_at(json, "writable")};
  probed.site_packages = paths_of(json, "sites");
  if (const auto kind = text_at(json, "implementation"); kind != "cpython") {
    python.why_not = fmt::format("is {}: wheels here are for CPython", kind.empty() ? "no known implementation" : kind);
    return probed;
  }
  const auto given = paths_of(json, "include");
  const auto multiarch = text_at(json, "multiarch");
  python.include_dirs = header_folders(given, multiarch);
  if (python.include_dirs.empty()) {
    python.why_not = fmt::format("no Python.h in {}: {}", given.empty() ? "any include folder" : given.front().string(),
                                 how_to_get_headers(python, probed.place.prefix, context.options.root));
    return probed;
  }
  python.identity = header_identity(python, multiarch);
  python.ready = true;
  return probed;
}

}  // namespace sagekit
