#pragma once
// The host's half of a compile step, around GPU code that is there: preprocessor, cudafe++, fatbinary, host compiler.
// What the host compiler makes does not depend on the GPU code, which the assembler takes in as a file. So it is kept
// by its text, and an architecture more costs an assembler (docs/engine.md).

#include "build/step_context.hpp"
#include "build/text_key.hpp"
#include "compile/host_commands.hpp"
#include "compile/kernel_interface.hpp"
#include "compile/nvcc_commands.hpp"
#include "store/action_record.hpp"
#include "support/file.hpp"

#include <sagekit/command.hpp>
#include <sagekit/plan.hpp>

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sagekit {

/// GPU code of an architecture, "compute_90a".
struct MadeDevice {
  std::string arch;
  const ActionRecord* record;
};

class HostHalf {
 public:
  /// In a folder of its own. `whole`: the step's command, nvcc or, for Windows, clang; `commands`: what nvcc would run.
  static Result<HostHalf> prepare(const StepContext& context, const Step& step, const Command& whole,
                                  const NvccCommands& commands, std::stop_token stop);

  /// Makes the object. Why it cannot be; "" = it is there. `sum`: what all commands took, and how a failed one ended.
  Result<std::string> make(const std::vector<MadeDevice>& devices, CommandResult& sum);
  /// Before `make`, and before other architectures are there: the assembly, which needs no GPU code but the launches,
  /// those of the last architecture. False: `make` has all to do in a new one.
  Result<bool> begin(const MadeDevice& last, CommandResult& sum);
  bool reused() const { return m_reused; }  ///< was the assembly in the store?
  void log_to(const std::filesystem::path& file) { m_whole.output_file = file; }
  const std::filesystem::path& folder() const { return m_folder.path(); }

 private:
  HostHalf(const StepContext& context, const Step& step, const Command& whole, NvccCommands all, TemporaryFolder folder,
           std::stop_token stop)
      : m_context(context),
        m_step(step),
        m_whole(whole),
        m_all(std::move(all)),
        m_folder(std::move(folder)),
        m_stop(std::move(stop)),
        m_places(places_of(context, m_all)) {}

  bool not_made(std::string why);
  Result<std::string> take_gpu_code(const std::vector<DeviceCommands>& wanted, const std::vector<MadeDevice>& devices);
  Result<bool> run(const CommandLine& argv, const std::filesystem::path& working_directory, CommandResult& sum);
  Result<bool> include_fatbin() const;
  Result<bool> assembly_of(const CommandLine& argv, const std::string& text, const std::string& cxx,
                           CommandResult& sum);
  Result<std::string> key_of_source(const HostCommands& commands) const;
  bool take_assembly(const std::string& key) const;
  void say(std::string_view what) const;
  Result<bool> split(CommandResult& sum);
  Result<bool> make_assembly(const HostCommands& commands, CommandResult& sum);
  Result<bool> compile_for_windows(CommandResult& sum);
  std::filesystem::path made_fatbin() const;
  Status keep(const std::string& key, const std::filesystem::path& assembly) const;

  const StepContext& m_context;
  const Step& m_step;
  Command m_whole;
  NvccCommands m_all;
  TemporaryFolder m_folder;
  std::stop_token m_stop;
  Places m_places;
  KernelInterface m_kernels;
  std::string m_module_id;  ///< that of the kernels' names; "" = none has it
  std::string m_why;        ///< what failed
  bool m_begun = false;     ///< the assembly is there
  bool m_reused = false;
};

}  // namespace sagekit
