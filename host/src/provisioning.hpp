#pragma once
// Bringing toolchains for a command: which sources it may use, what its plan lacks, what people see of the transfer.

#include "session.hpp"

#include <sagekit/provision.hpp>

#include <chrono>
#include <filesystem>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

namespace sagekit::host {

/// --toolchain, read. Nothing given is auto: what is installed, else wheels.
struct Sources {
  bool system = true;
  std::vector<std::string> provisioned;        ///< "wheels", "redist": to fetch from, in order of preference
  std::vector<std::string> present;            ///< whose trees count when they are in the store
  std::vector<std::filesystem::path> folders;  ///< absolute
};
Result<Sources> read_sources(const ToolchainArguments& tools);

/// Would build bring it from the package index? Of nvcc those that the index may have, of torch any.
bool comes_with_build(const Sources& sources, TreeKind kind, const std::string& cuda);

/// The flags as core's options; how the index is reached is read by bring(), when it must be.
Result<ProvisionOptions> provision_options(const Session& session, const ToolchainArguments& tools);

/// provision(), and pip's configuration only for what is not in the store: pip may have to be started for it.
Result<Provisioned> bring(const Session& session, const ToolchainArguments& tools, const TreeNeed& need,
                          ProvisionOptions& options, ProvisionObserver& observer, std::stop_token stop);

/// Brings what the plan's cells lack and the sources may have. True: something came, look at the machine again. What no
/// source has is said and left to the build, which ends with the cell's own reason.
Result<bool> provide(const Session& session, const ToolchainArguments& tools, const Plan& plan, std::stop_token stop);

/// Pins what the plan's cells are built with and was fetched before another lock, or none, was there.
Status pin_used(const Session& session, const ToolchainArguments& tools, const Plan& plan,
                const Environment& environment);

/// One line: what the cells are built with, where it is from and why it was taken.
void say_toolchains(const Session& session, const ToolchainArguments& asked, const Plan& plan,
                    const Environment& environment);

/// One redrawn line on a terminal, a line every ten seconds elsewhere.
class TransferProgress : public ProvisionObserver {
 public:
  TransferProgress(const Console& console, bool ci);
  ~TransferProgress() override;
  void on_transfer(const TransferState& state) override;
  void on_message(const std::string& text) override;
  void done(const Provisioned& provisioned);

 private:
  const Console& m_console;
  std::mutex m_mutex;
  bool m_terminal, m_drawn = false;
  std::chrono::steady_clock::time_point m_said = std::chrono::steady_clock::now();
  void clear();
};

}  // namespace sagekit::host
