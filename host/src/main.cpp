#include "arguments.hpp"
#include "console.hpp"
#include "log_spdlog.hpp"
#include "session.hpp"
#include "settings.hpp"

#include <unistd.h>

#include <filesystem>

using namespace sagekit;
using namespace sagekit::host;

int main(int argc, char** argv) {
  auto arguments = parse_arguments(argc, argv);
  Settings settings = read_settings();
  const std::string& choice = arguments ? arguments->global.color : "auto";
  const bool color = choice == "always" || (choice == "auto" && settings.color_wanted && isatty(STDERR_FILENO) == 1);
  const Console console(color, arguments && arguments->global.quiet);
  if (!arguments) {
    console.show(arguments.error());
    return exit_code(arguments.error().kind);
  }
  console.result(arguments->text);
  if (const auto& folder = arguments->global.directory; !folder.empty() && chdir(folder.c_str()) != 0) {
    console.show(Error{ErrorKind::usage, "CLI004", "cannot change to " + folder, "", ""});
    return exit_code(ErrorKind::usage);
  }
  Session session{std::move(settings), arguments->global, console, make_log(arguments->global.verbose, color),
                  make_local_runner()};
  return std::visit(
      [&](const auto& verb) {
        if constexpr (std::is_same_v<std::decay_t<decltype(verb)>, std::monostate>)
          return 0;
        else
          return run_verb(session, verb);
      },
      arguments->verb);
}
