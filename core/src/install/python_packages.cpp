#include "install/python_packages.hpp"

#include "support/format.hpp"
#include "support/json.hpp"
#include "support/text.hpp"

namespace sagekit {

namespace {

namespace fs = std::filesystem;

constexpr double k_python_seconds = 60;

// -I: neither the current folder nor the user's variables are seen. json.dumps escapes what is not ASCII.
constexpr std::string_view k_place_script = R"(
import json, os, sys, sysconfig
site = sysconfig.get_paths()['platlib']
scheme = getattr(sysconfig, 'get_default_scheme', None)
stdlib = sysconfig.get_path('stdlib', scheme()) if scheme else sysconfig.get_path('stdlib')
managed = sys.prefix == sys.base_prefix and os.path.exists(os.path.join(stdlib, 'EXTERNALLY-MANAGED'))
probe = site
while not os.path.exists(probe) and os.path.dirname(probe) != probe: probe = os.path.dirname(probe)
print(json.dumps({'prefix': sys.prefix, 'site': site, 'path': [p for p in sys.path if p], 'managed': managed,
  'writable': os.access(probe, os.W_OK | os.X_OK)}))
)";

bool truth_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_boolean() && found->get<bool>();
}

}  // namespace

Result<PythonPlace> ask_python_place(const fs::path& interpreter, const std::map<std::string, std::string>& environment,
                                     CommandRunner& runner) {
  Command command;
  command.argv = {interpreter.string(), "-I", "-B", "-c", std::string(k_place_script)};
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
  const Json json = parse_json(trim(result->output));
  if (!json.is_object()) return silent("it does not run Python code");
  PythonPlace place;
  place.prefix = text_at(json, "prefix");
  place.site = text_at(json, "site");
  for (const auto& folder : texts_at(json, "path")) place.folders.emplace_back(folder);
  place.externally_managed = truth_of(json, "managed");
  place.writable = truth_of(json, "writable");
  return place;
}

}  // namespace sagekit
