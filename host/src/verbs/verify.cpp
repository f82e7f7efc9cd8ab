#include "judgement.hpp"
#include "session.hpp"

#include <sagekit/verify.hpp>

#include <fmt/format.h>

namespace sagekit::host {

int run_verb(Session& session, const VerifyArguments& arguments) {
  auto loaded = session.plugins();
  if (!loaded) return report(session, loaded.error());
  std::vector<const Plugin*> plugins;
  for (const auto& plugin : loaded->plugins) plugins.push_back(&plugin);
  VerifyOptions options;
  options.policy = arguments.policy;
  options.require = arguments.require;
  options.child_environment = session.settings.child_environment;
  options.interpreters.assign(arguments.interpreters.begin(), arguments.interpreters.end());
  options.torches = session.fetched_torches();

  std::vector<WheelReport> reports;
  int code = 0;
  for (const auto& wheel : arguments.wheels) {
    auto verdict = verify_wheel(wheel, "", plugins, options, *session.runner);
    if (!verdict) {
      code = std::max(code, report(session, verdict.error()));
      continue;
    }
    if (!verdict->pass) code = std::max(code, 1);
    if (!session.global.json)
      session.console.result(session.console.bold(wheel) + "\n" +
                             judgement_text(session.console, *verdict, arguments.all));
    reports.push_back(std::move(*verdict));
  }
  if (session.global.json) session.console.result(verify_json(reports, arguments.all));
  return code;
}

}  // namespace sagekit::host
