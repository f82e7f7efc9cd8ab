#pragma once
// The toolchain flags as core's options, and what people see of them.

#include "render/status_line.hpp"
#include "session.hpp"

#include <sagekit/provision.hpp>

#include <chrono>
#include <mutex>

namespace sagekit::host {

/// The toolchain flags and the settings, read. The store stays "" when there is no folder for one.
Result<ToolchainOptions> toolchain_options(const Session& session, const ToolchainArguments& tools);

/// One line: what the cells are built with, where it is from and why it was taken.
void say_toolchains(const Session& session, const ToolchainOptions& options, const Plan& plan);

/// One redrawn line on a terminal, a line every ten seconds elsewhere.
class TransferProgress : public ProvisionObserver {
 public:
  TransferProgress(const Console& console, bool redraws) : m_console(console), m_status(console, redraws) {}
  void on_transfer(const TransferState& state) override;
  void on_message(const std::string& text) override;
  void on_fetched(const Provisioned& provisioned) override;

 private:
  const Console& m_console;
  std::mutex m_mutex;
  StatusLine m_status;
  std::chrono::steady_clock::time_point m_said = std::chrono::steady_clock::now();
};

}  // namespace sagekit::host
