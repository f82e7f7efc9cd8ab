#pragma once
// A machine made of stand-ins (make.sh), in a folder whose name has blanks and letters of other scripts.

#include "support/file.hpp"

#include <sagekit/environment.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <vector>

namespace sagekit {

class FakeMachine {
 public:
  FakeMachine()
      : m_folder(TemporaryFolder::create("/tmp", "sagekit machine \xc3\xa9 \xe9\xa3\x9f")),
        m_runner(make_local_runner()) {
    REQUIRE(m_folder);
    std::filesystem::create_directories(root() / "usr/bin");
  }

  const std::filesystem::path& root() const { return m_folder->path(); }

  /// make.sh KIND root()/DIR ARGS...
  std::filesystem::path make(const std::string& kind, const std::string& dir, std::vector<std::string> args) const {
    const auto target = root() / dir;
    Command command;
    command.argv = {SAGEKIT_SOURCE_DIR "/tests/support/fake_toolchain/make.sh", kind, target.string()};
    command.argv.insert(command.argv.end(), args.begin(), args.end());
    command.environment = {{"PATH", "/usr/bin:/bin"}};
    const auto result = m_runner->run(command);
    REQUIRE(result);
    REQUIRE_MESSAGE(result->ok(), result->output);
    return target;
  }

  void write(const std::filesystem::path& file, const std::string& text, bool executable = false) const {
    REQUIRE(write_file_atomic(file, text, executable));
  }

  /// Only this machine: its usr/bin on PATH, its root, a home in it.
  ProbeOptions options() const {
    ProbeOptions options;
    options.root = root();
    options.home = root() / "home";
    options.path = {root() / "usr/bin"};
    options.child_environment = {{"PATH", "/usr/bin:/bin"}, {"FAKE_TOOLCHAIN_LOG", (root() / "starts").string()}};
    options.timeout_seconds = 30;
    return options;
  }

  Environment probe(const ProbeOptions& options) const { return probe_environment(options, *m_runner); }
  Environment probe() const { return probe(options()); }

  /// One line for each stand-in that was started.
  std::string starts() const { return read_file(root() / "starts").value_or(""); }

 private:
  Result<TemporaryFolder> m_folder;
  std::unique_ptr<CommandRunner> m_runner;
};

}  // namespace sagekit
