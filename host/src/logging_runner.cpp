#include "logging_runner.hpp"

#include "console.hpp"

#include <sagekit/shell_word.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <utility>

namespace sagekit::host {

namespace {

class LoggingRunner : public CommandRunner {
 public:
  LoggingRunner(std::unique_ptr<CommandRunner> inner, LogSink log) : m_inner(std::move(inner)), m_log(std::move(log)) {}

  Result<CommandResult> run(const Command& command, std::stop_token stop) override {
    auto result = m_inner->run(command, stop);
    log_line(m_log, LogLevel::info, [&] { return line(command, result); });
    return result;
  }

 private:
  static std::string line(const Command& command, const Result<CommandResult>& result) {
    std::error_code error;
    const auto folder =
        command.working_directory.empty() ? std::filesystem::current_path(error) : command.working_directory;
    const std::string end = !result               ? result.error().message
                            : result->timed_out   ? "timed out"
                            : result->signal != 0 ? fmt::format("signal {}", result->signal)
                                                  : fmt::format("exit {}", result->exit_code);
    return fmt::format("run {} (in {}): {}, {}", shell_line(command.argv), shell_word(folder.string()), end,
                       result ? human_seconds(result->wall_seconds) : "not run");
  }

  std::unique_ptr<CommandRunner> m_inner;
  LogSink m_log;
};

}  // namespace

std::unique_ptr<CommandRunner> make_logging_runner(std::unique_ptr<CommandRunner> inner, LogSink log) {
  return std::make_unique<LoggingRunner>(std::move(inner), std::move(log));
}

}  // namespace sagekit::host
