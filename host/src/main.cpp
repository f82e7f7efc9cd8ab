#include "command_line.hpp"
#include "configuration.hpp"
#include "console.hpp"
#include "help.hpp"
#include "log_spdlog.hpp"
#include "logging_runner.hpp"
#include "output_file.hpp"
#include "render/text.hpp"
#include "session.hpp"
#include "settings.hpp"

#include <sagekit/plugin/abi.h>
#include <sagekit/spec.hpp>
#include <sagekit/version.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <system_error>

using namespace sagekit;
using namespace sagekit::host;

namespace {

bool g_ends_by_pipe = false;  ///< whoever started us does not want to hear of a closed pipe

int run(Session& session, const std::vector<Verb>& verbs, const Verb* verb) {
  const Console& console = session.console;
  const GlobalArguments& global = session.global;
  if (global.version) {
    console.document(
        fmt::format("sagekit {} (plugin ABI {}, spec schema {})\n", version(), SAGEKIT_PLUGIN_ABI, spec_schema));
    return 0;
  }
  if (global.help || verb == nullptr) {
    console.document(help_text(verbs, verb, terminal_width()));
    return 0;
  }
  if (!global.directory.empty() && chdir(global.directory.c_str()) != 0) {
    const Error error{ErrorKind::usage, "CLI004",
                      fmt::format("cannot change to \"{}\": {}", global.directory, std::strerror(errno)), "",
                      "-C takes a folder that is there"};
    return report(session, error);
  }
  if (!configure(session, *verb)) return exit_code(ErrorKind::usage);
  answer_variables(session);
  return verb->run(session);
}

int run(int argc, char** argv) {
  const std::vector<Verb> verbs = all_verbs();
  GlobalArguments global;
  const auto verb = parse_command_line(argc, argv, verbs, global);
  Settings settings = read_settings();
  // Results go to stdout: a file or a program that reads them wants no colour, whatever stderr is.
  const bool terminal = isatty(STDOUT_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
  const bool color = global.color == "always" || (global.color == "auto" && settings.color_wanted && terminal);
  Session session{std::move(settings), global, Console(color, global.quiet), {}, make_local_runner()};
  session.log = make_log(global.quiet ? -1 : global.verbose, color);
  if (global.verbose > 0) session.runner = make_logging_runner(std::move(session.runner), session.log);
  const Console& console = session.console;
  if (!verb) {
    console.show(verb.error());
    return exit_code(verb.error().kind);
  }
  if (*verb != nullptr) session.verb = (*verb)->text.name;
  const int code = run(session, verbs, *verb);
  if (console.lost() == 0) return code;
  // As every program ends whose reader has enough (`| head`); the files that were asked for are there by then.
  if (console.lost() == EPIPE && g_ends_by_pipe) {
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
  }
  const Error lost = write_error("the output", console.lost());
  console.show(lost);
  return exit_code(lost.kind);
}

/// When nothing can be relied on any more, memory least of all.
int give_up(const char* why) {
  std::fprintf(stderr, "error: this machine gives sagekit no more: %s\n  = see ulimit -v and -u, and what else runs\n",
               why);
  return exit_code(ErrorKind::machine);
}

}  // namespace

int main(int argc, char** argv) {
  g_ends_by_pipe = std::signal(SIGPIPE, SIG_IGN) == SIG_DFL;
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    return give_up("it has no memory left");
  } catch (const std::system_error& error) {  // a thread that could not be started
    return give_up(error.what());
  }
}
