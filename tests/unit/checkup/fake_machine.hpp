#pragma once
// A machine for doctor to look at.
#include "support/file.hpp"

#include <sagekit/checkup.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>

namespace sagekit {

/// A machine made of files and of programs that are told what to say.
struct FakeMachine : CommandRunner {
  TemporaryFolder folder = TemporaryFolder::create(std::filesystem::temp_directory_path(), "checkup").value();
  CheckupOptions options;
  std::string python =
      R"({"version":"3.12.4","minor":"3.12","implementation":"cpython","prefix":"/v","base_prefix":"/usr","path":[],"distributions":[],"modules":[]})";
  std::string failure = "Traceback\nModuleNotFoundError: No module named 'torch'\n";
  std::string smi = "NVIDIA H200, 9.0, 580.95.05\n", mig = "Disabled\n", listed;
  std::string ptxas;  ///< what it says of itself; "" = it does not start
  int smi_exit = 0;

  FakeMachine() {
    options.interpreter = "/v/bin/python";
    options.probe.root = folder.path() / "root";
    options.folder = folder.path() / "work";
    std::filesystem::create_directories(options.folder);
    options.probe.path = {folder.path() / "bin"};
    program("nvidia-smi");
    program("gcc");
  }
  void program(const char* name) { write("bin/" + std::string(name), "#!/bin/sh\n", true); }
  /// What is installed of a torch.
  void torch(const std::string& cuda) {
    write("torch/version.py", "__version__ = '2.9.1'\ncuda = " + cuda + "\n");
    python.replace(
        python.find("\"modules\":["), 11,
        R"("modules":[{"name":"torch","folder":")" + (folder.path() / "torch").string() + R"(","bare":false})");
  }
  void write(const std::string& path, std::string_view text, bool executable = false) {
    std::filesystem::create_directories((folder.path() / path).parent_path());
    REQUIRE(write_file(folder.path() / path, text, executable));
  }

  Result<CommandResult> run(const Command& command, std::stop_token) override {
    CommandResult result;
    const auto program = std::filesystem::path(command.argv.front()).filename().string();
    const auto has = [&](const char* word) {
      return std::ranges::any_of(command.argv, [&](const std::string& one) { return one.find(word) != one.npos; });
    };
    if (program == "nvidia-smi") {
      result.exit_code = smi_exit;
      // As a whole word: the temporary folder may be named "checkup-L...".
      const bool lists = std::ranges::find(command.argv, "-L") != command.argv.end();
      result.output = has("mig.mode") ? mig : lists ? listed : smi;
    } else if (has("distributions(path=[place])")) {
      result.output = "noise of a sitecustomize\n\x01sagekit\x01" + python;
    } else if (program == "ptxas" && !ptxas.empty()) {
      result.output = ptxas;
    } else {
      result.exit_code = 1;
      result.error_output = failure;
    }
    return result;
  }

  Checkup look() {
    auto checkup = check_up(options, *this);
    REQUIRE_MESSAGE(checkup, checkup.error().message);
    return std::move(*checkup);
  }
};

inline const CheckupRow* row_of(const Checkup& checkup, std::string_view about, CheckupState state) {
  const auto found = std::ranges::find_if(
      checkup.rows, [&](const CheckupRow& row) { return row.about == about && row.state == state; });
  return found == checkup.rows.end() ? nullptr : &*found;
}

}  // namespace sagekit
