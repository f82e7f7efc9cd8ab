#include "checkup/ask_python.hpp"

#include "support/format.hpp"
#include "support/json.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/naming.hpp>

#include <algorithm>

namespace sagekit {

namespace {

namespace fs = std::filesystem;

constexpr double k_look_seconds = 60, k_import_seconds = 300;
/// Before the answer, so that what packages print at import is told from it.
constexpr std::string_view k_mark = "\x01sagekit\x01";

// The current folder is taken off the path while the standard library is imported: a json.py that lies there must not
// answer. find_spec of a name without dots imports nothing.
constexpr std::string_view k_look_script = R"(
import sys
here = sys.path[:1] == ['']
if here: del sys.path[0]
import importlib.util, json, os, re, site, sysconfig
from importlib import metadata
if here: sys.path.insert(0, os.getcwd())
asked = json.loads(sys.argv[1])
normal = lambda name: re.sub(r'[-_.]+', '-', name).lower()
wanted = set(map(normal, asked['distributions']))
found, seen = [], set()
for place in sys.path:
  try: ones = list(metadata.distributions(path=[place]))
  except Exception: continue
  for one in ones:
    try:
      name = normal(one.metadata['Name'])
      if name not in wanted: continue
      info = str(getattr(one, '_path', ''))
      if info and info in seen: continue
      seen.add(info)
      found.append({'name': name, 'version': one.version or '', 'place': str(place), 'info': info})
    except Exception: continue
modules = []
for name in asked['modules']:
  folder, bare = '', False
  try:
    spec = importlib.util.find_spec(name)
    if spec is not None:
      where = list(spec.submodule_search_locations or [])
      bare = bool(where) and not spec.origin
      folder = where[0] if where else spec.origin or ''
  except Exception: pass
  modules.append({'name': name, 'folder': folder, 'bare': bare})
managed = sys.prefix == sys.base_prefix and os.path.exists(os.path.join(sysconfig.get_path('stdlib'), 'EXTERNALLY-MANAGED'))
user = ''
try: user = site.getusersitepackages()
except Exception: pass
sys.stdout.write('\x01sagekit\x01' + json.dumps({
  'version': sys.version.split()[0], 'minor': '%d.%d' % sys.version_info[:2], 'implementation': sys.implementation.name,
  'threads': bool(sysconfig.get_config_var('Py_GIL_DISABLED')), 'prefix': sys.prefix, 'base_prefix': sys.base_prefix,
  'managed': managed,
  'user_site': user, 'user_site_used': bool(getattr(site, 'ENABLE_USER_SITE', False)), 'path': [p for p in sys.path if p],
  'distributions': found, 'modules': modules}))
)";

constexpr std::string_view k_torch_script = R"(
import sys
here = sys.path[:1] == ['']
if here: del sys.path[0]
import json, os
if here: sys.path.insert(0, os.getcwd())
import torch
said = {'version': str(getattr(torch, '__version__', '')), 'cuda': str(getattr(getattr(torch, 'version', None), 'cuda', '') or ''),
        'available': False, 'why': '', 'capabilities': []}
try:
  said['available'] = bool(torch.cuda.is_available())
  if said['available']:
    said['capabilities'] = ['%d.%d' % torch.cuda.get_device_capability(i) for i in range(torch.cuda.device_count())]
  else: torch.cuda.init()
except Exception as e: said['why'] = '%s: %s' % (type(e).__name__, e)
sys.stdout.write('\x01sagekit\x01' + json.dumps(said))
)";

// A line each, flushed: of a process that dies the last one says where.
constexpr std::string_view k_import_script = R"(
import sys
here = sys.path[:1] == ['']
if here: del sys.path[0]
import importlib, json, os, traceback
if here: sys.path.insert(0, os.getcwd())
def say(**words):
  sys.stdout.write('\x01sagekit\x01' + json.dumps(words) + '\n')
  sys.stdout.flush()
try: import torch
except ImportError: pass
for name in sys.argv[1:]:
  say(begin=name)
  try: importlib.import_module(name)
  except BaseException as e: say(name=name, error='%s: %s' % (type(e).__name__, e), output=traceback.format_exc())
  else: say(name=name, error='', output='')
)";

const Json& list(const Json& json, const char* key) {
  static const Json empty = Json::array();
  const auto found = json.find(key);
  return found != json.end() && found->is_array() ? *found : empty;
}

/// A traceback ends in what went wrong; a wrapper (pyenv's) begins with it and ends in advice.
std::string telling_line(const std::string& text) {
  const auto lines = split(trim(text), '\n');
  return trim(text.find("Traceback (") == std::string::npos ? lines.front() : lines.back());
}

Command python_command(const CheckupOptions& options, std::string_view script, const std::vector<std::string>& words,
                       double seconds) {
  Command command;
  command.argv = {options.interpreter.string(), "-B", "-c", std::string(script)};
  command.argv.insert(command.argv.end(), words.begin(), words.end());
  command.environment = options.probe.child_environment;
  for (const auto& [name, value] : options.variables) command.environment[name] = value;
  command.working_directory = options.folder;
  command.timeout_seconds = seconds;
  command.separate_stderr = true;
  return command;
}

/// What stands behind the last mark; discarded when there is none.
Json answer(const std::string& output) {
  const auto at = output.rfind(k_mark);
  if (at == std::string::npos) return Json(Json::value_t::discarded);
  return parse_json(output.substr(at + k_mark.size()));
}

std::string how_it_ended(const CommandResult& result) {
  if (result.timed_out) return "it does not come back";
  if (result.signal != 0) return fmt::format("it ends the interpreter (signal {})", result.signal);
  const auto line = telling_line(result.error_output);
  // ls, which takes the script for a file, says it all again.
  if (line.find("import sys") != std::string::npos) return "it does not run Python code";
  return line.empty() ? fmt::format("exit code {}", result.exit_code) : line;
}

}  // namespace

const FoundModule* PythonView::module(std::string_view name) const {
  const auto found = std::ranges::find(modules, name, &FoundModule::name);
  return found == modules.end() || found->folder.empty() ? nullptr : &*found;
}

std::vector<const FoundDistribution*> PythonView::named(std::string_view name) const {
  std::vector<const FoundDistribution*> ones;
  const auto normal = normalized_project(name);
  for (const auto& one : distributions)
    if (one.name == normal) ones.push_back(&one);
  return ones;
}

Result<PythonView> view_python(const CheckupOptions& options, const std::vector<std::string>& distributions,
                               const std::vector<std::string>& modules, CommandRunner& runner) {
  const Json asked{{"distributions", distributions}, {"modules", modules}};
  const auto result = runner.run(python_command(options, k_look_script, {json_line(asked)}, k_look_seconds));
  if (!result && result.error().kind == ErrorKind::interrupted) return std::unexpected(result.error());
  const Json json = result ? answer(result->output) : Json(Json::value_t::discarded);
  if (!json.is_object())
    return fail(ErrorKind::usage, "RES002",
                fmt::format("{} cannot be asked: {}", options.interpreter.string(),
                            result ? how_it_ended(*result) : result.error().message),
                "name a CPython with --interpreter", options.interpreter.string());
  PythonView view;
  view.version = text_at(json, "version");
  view.minor = text_at(json, "minor");
  view.implementation = text_at(json, "implementation");
  view.free_threaded = truth_at(json, "threads");
  view.externally_managed = truth_at(json, "managed");
  view.prefix = text_at(json, "prefix");
  view.base_prefix = text_at(json, "base_prefix");
  view.user_site = text_at(json, "user_site");
  view.user_site_used = truth_at(json, "user_site_used");
  for (const auto& path : texts_at(json, "path")) view.path.emplace_back(path);
  for (const auto& one : list(json, "distributions"))
    view.distributions.push_back(
        {text_at(one, "name"), text_at(one, "version"), text_at(one, "place"), text_at(one, "info")});
  for (const auto& one : list(json, "modules"))
    view.modules.push_back({text_at(one, "name"), text_at(one, "folder"), truth_at(one, "bare")});
  return view;
}

Result<TorchTrial> try_torch(const CheckupOptions& options, CommandRunner& runner, std::stop_token stop) {
  TRY_ASSIGN(const auto result,
             runner.run(python_command(options, k_torch_script, {}, k_import_seconds), std::move(stop)));
  TorchTrial trial;
  const Json json = answer(result.output);
  trial.imported = json.is_object();
  if (!trial.imported) {
    trial.error = how_it_ended(result);
    trial.output = result.error_output;
    return trial;
  }
  trial.version = text_at(json, "version");
  trial.cuda = text_at(json, "cuda");
  trial.available = truth_at(json, "available");
  trial.unavailable = text_at(json, "why");
  trial.capabilities = texts_at(json, "capabilities");
  return trial;
}

Result<std::vector<ImportTrial>> try_imports(const CheckupOptions& options, const std::string& package,
                                             const std::vector<std::string>& modules, CommandRunner& runner,
                                             std::stop_token stop) {
  std::vector<std::string> names{package};
  for (const auto& name : modules)
    if (!contains(names, name)) names.push_back(name);
  TRY_ASSIGN(const auto result,
             runner.run(python_command(options, k_import_script, names, k_import_seconds), std::move(stop)));
  std::vector<ImportTrial> trials;
  std::string begun;
  for (const auto& line : split(result.output, '\n')) {
    const auto json = answer(line);
    if (!json.is_object()) continue;
    begun = json.contains("begin") ? text_at(json, "begin") : "";
    if (begun.empty()) trials.push_back({text_at(json, "name"), text_at(json, "error"), text_at(json, "output")});
  }
  if (!begun.empty() || trials.empty())
    trials.push_back({begun.empty() ? package : begun, how_it_ended(result), result.error_output});
  return trials;
}

}  // namespace sagekit
