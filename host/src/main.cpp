#include "command_line.hpp"
#include "console.hpp"
#include "help.hpp"
#include "log_spdlog.hpp"
#include "session.hpp"
#include "settings.hpp"

#include <sagekit/plugin/abi.h>
#include <sagekit/spec.hpp>
#include <sagekit/version.hpp>

#include <fmt/format.h>
#include <unistd.h>

using namespace sagekit;
using namespace sagekit::host;

int main(int argc, char** argv) {
  const std::vector<Verb> verbs = all_verbs();
  GlobalArguments global;
  const auto verb = parse_command_line(argc, argv, verbs, global);
  Settings settings = read_settings();
  const bool color =
      global.color == "always" || (global.color == "auto" && settings.color_wanted && isatty(STDERR_FILENO) == 1);
  const Console console(color, global.quiet);
  if (!verb) {
    console.show(verb.error());
    return exit_code(verb.error().kind);
  }
  if (global.version) {
    console.result(
        fmt::format("sagekit {} (plugin ABI {}, spec schema {})\n", version(), SAGEKIT_PLUGIN_ABI, spec_schema));
    return 0;
  }
  if (global.help || *verb == nullptr) {
    console.result(help_text(verbs, *verb, settings.columns));
    return 0;
  }
  if (!global.directory.empty() && chdir(global.directory.c_str()) != 0) {
    console.show(Error{ErrorKind::usage, "CLI004", "cannot change to " + global.directory, "", ""});
    return exit_code(ErrorKind::usage);
  }
  Session session{std::move(settings), global, console, make_log(global.verbose, color), make_local_runner()};
  return (*verb)->run(session);
}
