#include "log_spdlog.hpp"

#include "printable.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

namespace sagekit::host {

LogSink make_log(int verbosity, bool color) {
  auto sink = std::make_shared<spdlog::sinks::ansicolor_stderr_sink_mt>(color ? spdlog::color_mode::always
                                                                              : spdlog::color_mode::never);
  auto logger = std::make_shared<spdlog::logger>("sagekit", std::move(sink));
  logger->set_level(verbosity < 0    ? spdlog::level::err
                    : verbosity == 0 ? spdlog::level::warn
                    : verbosity == 1 ? spdlog::level::info
                                     : spdlog::level::debug);
  logger->set_pattern("%H:%M:%S.%e %^%l%$ %v");
  return [logger](LogLevel level, std::string_view text) {
    switch (level) {
      case LogLevel::debug: logger->debug("{}", one_line(text)); break;
      case LogLevel::info: logger->info("{}", one_line(text)); break;
      case LogLevel::warning: logger->warn("{}", one_line(text)); break;
    }
  };
}

}  // namespace sagekit::host
