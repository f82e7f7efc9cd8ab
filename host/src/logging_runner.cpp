#include "logging_runner.hpp"

#include "console.hpp"

#include <sagekit/shell_word.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

namespace sagekit::host {

namespace {

class LoggingRunner : public CommandRunner {
 public:
  LoggingRunner(std::unique_ptr<CommandRunner> inner, LogSink log) : m_inner(std::move(inner)), m_log(std::move(log)) {}

  Result<CommandResult> run(const Command& command, std::stop_token stop) override {
    auto result = m_inner->run(command, stop);
    log_line(m_log, LogLevel::info, [&] { return line(command, result); });
    if (result) {
      said(result->output);
      said(result->error_output);
    }
    return result;
  }

 private:
  /// What a program printed, a line each; of much the end, where its own last word stands.
  void said(std::string_view text) const {
    constexpr std::size_t k_most = 10'000;
    if (text.size() > k_most) text.remove_prefix(std::min(text.find('\n', text.size() - k_most), text.size() - 1) + 1);
    while (!text.empty()) {
      const auto end = std::min(text.find('\n'), text.size());
      if (end > 0) log_line(m_log, LogLevel::debug, [&] { return "  " + std::string(text.substr(0, end)); });
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

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
