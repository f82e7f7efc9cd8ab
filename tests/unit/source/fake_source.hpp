#pragma once
// The source tree of a small package and what pins it.

#include "source/git_tree.hpp"
#include "source/prepared_source.hpp"
#include "support/scratch_files.hpp"

#include <sagekit/build.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sagekit::test {

/// Runs commands for real and counts those that are no git.
struct CountingRunner : CommandRunner {
  std::unique_ptr<CommandRunner> real = make_local_runner();
  std::atomic<int> steps = 0;
  std::function<std::optional<Result<CommandResult>>(const Command&, const std::stop_token&)> instead;
  Result<CommandResult> run(const Command& command, std::stop_token stop) override {
    if (command.argv.front() != "git") ++steps;
    if (instead)
      if (auto answer = instead(command, stop)) return *answer;
    return real->run(command, stop);
  }
};

struct FakeSource {
  TemporaryFolder folder = temporary();
  Spec spec;
  Plan plan;
  BuildOptions options;
  std::vector<std::string> fetches_said;  ///< by prepare

  FakeSource() {
    write(source() / "csrc/a.cu", "kernel a\n");
    write(source() / "csrc/b.cu", "kernel b\n");
    write(source() / "csrc/common.h", "header 1\n");
    write(source() / "pkg/__init__.py", "version = 1\n");
    write(source() / "pkg/notes.txt", "not in the wheel\n");
    write(source() / "LICENSE", "do what you like\n");
    write(source() / "README.md", "# A package\n");
    spec.name = "fake";
    plan.plugin_name = "fake";
    plan.plugin_version = "1";
    plan.commit = std::string(40, 'c');
    plan.revision.commit = plan.commit;
    plan.revision.date = "2026-01-17T17:43:28Z";
    options.store = folder.path() / "store";
    options.source = source().string();
    options.child_environment = {{"PATH", "/usr/bin:/bin"}};
    pin();
  }

  fs::path source() const { return folder.path() / "source tree"; }

  /// The tree as it lies there becomes the pinned one.
  void pin() {
    auto entries = list_folder(source());
    REQUIRE(entries);
    plan.revision.tree = tree_id(*entries);
  }

  Result<PreparedSource> prepare(CommandRunner& runner) {
    const auto store = Store::open(options.store);
    REQUIRE(store);
    SourceTools tools{
        *store, runner, options.child_environment, [&](const auto& text) { fetches_said.push_back(text); }, {}};
    tools.offline = options.offline;
    return prepare_source(spec, plan, options, tools);
  }
};

}  // namespace sagekit::test
