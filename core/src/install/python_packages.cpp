#include "install/python_packages.hpp"

#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/naming.hpp>

namespace sagekit {

namespace {

namespace fs = std::filesystem;

constexpr double k_python_seconds = 60;

// -I: neither the current folder nor the user's variables are seen. json.dumps escapes what is not ASCII.
constexpr std::string_view k_place_script = R"(
import importlib.util, json, os, sys, sysconfig
from importlib import metadata
site = sysconfig.get_paths()['platlib']
marker = os.path.join(sysconfig.get_path('stdlib', sysconfig.get_default_scheme()) if hasattr(sysconfig, 'get_default_scheme') else sysconfig.get_path('stdlib'), 'EXTERNALLY-MANAGED')
managed = sys.prefix == sys.base_prefix and os.path.exists(marker)
text = ''
if managed:
  try:
    import configparser
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(marker, encoding='utf-8')
    text = parser.get('externally-managed', 'Error', fallback='')
  except Exception: pass
probe = site
while not os.path.exists(probe) and os.path.dirname(probe) != probe: probe = os.path.dirname(probe)
writable = os.access(probe, os.W_OK | os.X_OK)
packages = {}
for one in metadata.distributions():
  try:
    name, version = one.metadata['Name'], one.version
  except Exception: continue
  if name and version: packages.setdefault(name, version)
print(json.dumps({'executable': sys.executable or '', 'prefix': sys.prefix, 'site': site, 'managed': managed, 'text': text, 'writable': writable,
  'pip': importlib.util.find_spec('pip') is not None, 'packages': packages}))
)";

constexpr std::string_view k_files_script = R"(
import json, os, sys
from importlib import metadata
found = []
for name in sys.argv[1:]:
  try: one = metadata.distribution(name)
  except metadata.PackageNotFoundError: continue
  files = [os.path.abspath(str(one.locate_file(f))) for f in (one.files or [])]
  found.append({'name': name, 'version': one.version, 'files': files})
print(json.dumps(found))
)";

bool truth_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_boolean() && found->get<bool>();
}

Result<Json> ask(const fs::path& interpreter, std::string_view script, const std::vector<std::string>& words,
                 const std::map<std::string, std::string>& environment, CommandRunner& runner) {
  Command command;
  command.argv = {interpreter.string(), "-I", "-B", "-c", std::string(script)};
  command.argv.insert(command.argv.end(), words.begin(), words.end());
  command.environment = environment;
  command.timeout_seconds = k_python_seconds;
  command.separate_stderr = true;
  const auto silent = [&](const std::string& why) {
    return fail(ErrorKind::usage, "IST001",
                fmt::format("{} cannot be asked what it has installed: {}", interpreter.string(), why),
                "name a working Python with --interpreter", interpreter.string());
  };
  const auto result = runner.run(command);
  if (!result && result.error().kind == ErrorKind::interrupted) return std::unexpected(result.error());
  if (!result) return silent(result.error().message);
  if (!result->ok()) {
    const auto lines = split(trim(result->error_output), '\n');
    return silent(result->timed_out      ? "it does not answer"
                  : lines.back().empty() ? fmt::format("exit code {}", result->exit_code)
                                         : lines.back());
  }
  Json json = Json::parse(trim(result->output), nullptr, false);
  if (json.is_discarded()) return silent("it does not run Python code");
  return json;
}

}  // namespace

Result<PythonPlace> ask_python_place(const fs::path& interpreter, const std::map<std::string, std::string>& environment,
                                     CommandRunner& runner) {
  TRY_ASSIGN(const Json json, ask(interpreter, k_place_script, {}, environment, runner));
  PythonPlace place;
  place.executable = interpreter;
  place.prefix = text_at(json, "prefix");
  place.site = text_at(json, "site");
  place.externally_managed = truth_of(json, "managed");
  place.managed_text = text_at(json, "text");
  place.writable = truth_of(json, "writable");
  place.has_pip = truth_of(json, "pip");
  if (const auto list = json.find("packages"); list != json.end() && list->is_object())
    for (const auto& [name, version] : list->items())
      if (version.is_string()) place.packages.emplace(normalized_project(name), version.get<std::string>());
  return place;
}

Result<std::vector<InstalledPackage>> ask_packages(const fs::path& interpreter, const std::vector<std::string>& names,
                                                   const std::map<std::string, std::string>& environment,
                                                   CommandRunner& runner) {
  std::vector<InstalledPackage> packages;
  if (names.empty()) return packages;
  TRY_ASSIGN(const Json json, ask(interpreter, k_files_script, names, environment, runner));
  for (const auto& one : json) {
    if (!one.is_object()) continue;
    InstalledPackage package{normalized_project(text_at(one, "name")), text_at(one, "version"), {}};
    if (const auto files = one.find("files"); files != one.end() && files->is_array())
      for (const auto& file : *files)
        if (file.is_string()) package.files.emplace_back(file.get<std::string>());
    packages.push_back(std::move(package));
  }
  return packages;
}

}  // namespace sagekit
