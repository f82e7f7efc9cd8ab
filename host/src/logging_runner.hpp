#pragma once
// -v: every program that is started, with its folder, time and exit.

#include <sagekit/command.hpp>
#include <sagekit/log.hpp>

#include <memory>

namespace sagekit::host {

/// `inner`, and a line at level info for each command that ended.
std::unique_ptr<CommandRunner> make_logging_runner(std::unique_ptr<CommandRunner> inner, LogSink log);

}  // namespace sagekit::host
