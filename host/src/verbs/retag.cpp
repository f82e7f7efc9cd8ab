#include "interrupt.hpp"
#include "naming_rows.hpp"
#include "verb.hpp"

#include <sagekit/retag.hpp>
#include <sagekit/shell_word.hpp>
#include <sagekit/version_number.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace sagekit::host {

namespace {

struct RetagArguments {
  std::vector<std::string> wheels, requirements;
  std::string build, local, platform, python, abi, naming, variant, output;
};

void declare(Flags& flags, RetagArguments& arguments) {
  flags.arguments("wheel", arguments.wheels, "Wheels").required = true;
  flags.value("--build", "TAG", arguments.build, "Build tag; none takes it away");
  flags.value("--local", "TEXT", arguments.local, "Local version, without its +; none takes it away");
  flags.value("--platform", "auto|TAG", arguments.platform, "Platform tag; auto: what the modules' symbols allow");
  flags.value("--python", "TAG", arguments.python, "Python tag, such as cp312; 3.12 and 312 are that one");
  flags.value("--abi", "TAG", arguments.abi, "ABI tag, such as abi3");
  flags.list("--requires", "REQ", arguments.requirements,
             "A requirement instead of those on its project; !NAME takes them away");
  flags.value("--naming", "SCHEME", arguments.naming, "Version and build tag as this naming scheme has them");
  flags.value("--variant", "auto|LABEL", arguments.variant,
              "A wheel variant (PEP 825, a draft: experimental), with what was measured in its GPU code");
  flags.value("-o,--output", "DIR", arguments.output, "Folder for the new wheels; without it beside the old ones");
}

/// "none" takes a part of the name away; no flag leaves it.
std::optional<std::string> part(const std::string& word) {
  if (word.empty()) return {};
  return word == "none" ? std::string() : word;
}

Result<RetagRequest> request_of(const Session& session, const RetagArguments& arguments) {
  RetagRequest request;
  request.build = part(arguments.build);
  request.local = part(arguments.local);
  request.platform = arguments.platform;
  request.python = arguments.python;
  if (!request.python.empty() && std::isdigit(static_cast<unsigned char>(request.python.front())) != 0) {
    auto version = parse_python_version(request.python);
    if (!version) return std::unexpected(version.error());
    std::erase(*version, '.');
    request.python = "cp" + *version;
  }
  request.abi = arguments.abi;
  request.requirements = arguments.requirements;
  if (!arguments.variant.empty()) request.variant = arguments.variant;
  if (arguments.naming.empty()) return request;
  auto scheme = known_schemes(session, arguments.naming);
  if (!scheme) return std::unexpected(scheme.error());
  request.naming = std::move(scheme->front());
  return request;
}

/// Who judges: nobody where only version and build tag change, for then no module is read.
Result<LoadedPlugins> judges(const Session& session, const RetagRequest& request) {
  const bool judged = !request.platform.empty() || !request.python.empty() || !request.abi.empty() ||
                      !request.requirements.empty() || request.variant;
  return judged ? session.plugins() : LoadedPlugins{};
}

int run(Session& session, const RetagArguments& arguments) {
  const std::stop_token stop = stop_on_signals();
  const auto request = request_of(session, arguments);
  if (!request) return report(session, request.error());
  const auto loaded = judges(session, *request);
  if (!loaded) return report(session, loaded.error());
  RetagOptions options;
  options.output_folder = arguments.output;
  options.stop = stop;
  for (const auto& plugin : loaded->plugins) options.plugins.push_back(&plugin);
  if (!options.plugins.empty()) options.verify.torches = session.fetched_torches();
  options.verify.fetch_flags = session.store_words("");
  options.verify.child_environment = session.settings.child_environment;
  auto schemes = own_schemes(session);
  if (!schemes) return report(session, schemes.error());
  options.verify.schemes = std::move(*schemes);
  std::vector<RetaggedWheel> wheels;
  std::vector<Error> errors;
  int code = 0;
  for (auto& together :
       check_names_apart({arguments.wheels.begin(), arguments.wheels.end()}, *request, options, false, *session.runner))
    code = std::max(code, report(session, errors.emplace_back(std::move(together))));
  if (code != 0) {
    if (session.global.json) session.console.document(retag_json(wheels, errors));
    return code;
  }
  for (const auto& path : arguments.wheels) {
    if (std::error_code error; std::filesystem::is_directory(path, error)) {
      code = std::max(
          code, report(session, errors.emplace_back(Error{ErrorKind::usage, "CLI001", path + " is a folder", path,
                                                          fmt::format("its wheels: {}/*.whl", shell_word(path))})));
      continue;
    }
    auto wheel = retag_wheel(path, *request, options, *session.runner);
    if (!wheel) {
      // What is wrong with a flag is said once, not for each wheel.
      if (wheel.error().where.empty() && !errors.empty() && errors.back().message == wheel.error().message) continue;
      code = std::max(code, report(session, errors.emplace_back(wheel.error())));
      if (wheel.error().kind == ErrorKind::interrupted) break;
      continue;
    }
    const auto which = arguments.wheels.size() > 1 ? path + ": " : std::string();
    for (const auto& note : wheel->notes) session.console.warn(which + note);
    if (!session.global.json) {
      for (const auto& change : wheel->changes)
        session.console.say(fmt::format("{}{}: {} -> {}", which, change.field,
                                        change.before.empty() ? "none" : change.before,
                                        change.after.empty() ? "none" : change.after));
      session.console.result(wheel->path.string() + "\n");
    }
    wheels.push_back(std::move(*wheel));
  }
  if (session.global.json) session.console.document(retag_json(wheels, errors));
  return code;
}

}  // namespace

std::vector<Verb> retag_verbs() {
  return {make_verb<RetagArguments>(
      {.name = "retag",
       .what = "Give finished wheels another name, in file, texts and RECORD together; members are copied as they are",
       .examples = {"sagekit retag --naming build-tag -o release dist/*.whl",
                    "sagekit retag --platform auto sageattention-2.2.0-cp312-cp312-linux_x86_64.whl"},
       .exits = {{0, "every wheel has its new name"},
                 {1, "a new name would not be true, a wheel is damaged, or a name is taken by another file"},
                 {2, "no such tag, scheme or requirement, or nothing would change"}}},
      declare, run)};
}

}  // namespace sagekit::host
