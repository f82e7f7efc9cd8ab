#include "fake_build.hpp"

#include <chrono>
#include <thread>

using namespace sagekit;
using namespace sagekit::test;

namespace {

std::string content(const Build& build, const std::string& archive_path) {
  for (const auto& file : build.cells.front().files)
    if (file.archive_path == archive_path) return text_of(file.file);
  FAIL("no " << archive_path);
  return {};
}

}  // namespace

TEST_CASE("a build runs every step, stages the files and leaves a record that can be read back") {
  FakePackage package;
  CountingRunner runner;
  const auto build = package.build(runner);
  REQUIRE_MESSAGE(build.has_value(), (build ? "" : build.error().message));
  CHECK(build->steps_run == 4);
  CHECK(build->steps_reused == 0);
  CHECK(build->failed.empty());
  REQUIRE(build->cells.size() == 1);
  const auto& cell = build->cells.front();
  REQUIRE(cell.files.size() == 3);
  CHECK(cell.files[0].archive_path == "pkg/__init__.py");
  CHECK(content(*build, "pkg/_a.so") == "kernel a\nheader 1\nlinked\n");
  REQUIRE(cell.licenses.size() == 1);
  CHECK(cell.licenses[0].archive_path == "LICENSE");
  CHECK(cell.readme == "# A package\n");
  CHECK(cell.commit == package.plan.commit);

  const auto loaded = load_builds(cell.record);
  REQUIRE(loaded);
  REQUIRE(loaded->size() == 1);
  CHECK(loaded->front().cell.id == "fake-python312");
  CHECK(loaded->front().files.size() == 3);
  CHECK(loaded->front().files[1].sha256 == cell.files[1].sha256);
  CHECK(load_builds(package.options.store / "builds")->size() == 1);
  CHECK(load_builds(package.folder.path()).error().code == "STO004");
}

TEST_CASE("no step runs for a source that is not the pinned one; an edit of one that is goes into files and record") {
  FakePackage package;
  SourceEdit edit;
  edit.id = "louder";
  edit.file = "csrc/a.cu";
  edit.find = "kernel";
  edit.replace = "KERNEL";
  package.spec.source.edits = {edit};
  CountingRunner runner;
  write(package.source() / "csrc/a.cu", "changed\n");
  const auto refused = package.build(runner);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == "SRC003");
  CHECK(runner.steps == 0);

  write(package.source() / "csrc/a.cu", "kernel a\n");
  const auto build = package.build(runner);
  REQUIRE(build);
  CHECK(text_of(build->cells.front().files[1].file) == "KERNEL a\nheader 1\nlinked\n");
  CHECK(std::ranges::count(build->cells.front().provenance, "edit louder") == 1);
}

TEST_CASE("a rerun runs no step and gives the same files") {
  FakePackage package;
  CountingRunner runner;
  const auto first = package.build(runner);
  REQUIRE(first);
  const int before = runner.steps;
  const auto second = package.build(runner);
  REQUIRE(second);
  CHECK(runner.steps == before);
  CHECK(second->steps_run == 0);
  CHECK(second->steps_reused == 4);
  CHECK(second->cells.front().record == first->cells.front().record);
  CHECK(package.watcher.saw("reused link-a"));
}

TEST_CASE("the build after the first reads no file of a wheel to know it") {
  FakePackage package;
  CountingRunner runner;
  const auto first = package.build(runner);
  REQUIRE(first);
  const auto folder = fs::path(first->cells.front().record).parent_path();
  // Whoever had read the files would write these down anew.
  fs::remove(folder / "stamps.before");
  fs::create_hard_link(folder / "stamps", folder / "stamps.before");
  const auto is_settled = [&] { return fs::equivalent(folder / "stamps", folder / "stamps.before"); };
  REQUIRE(package.build(runner));
  CHECK(is_settled());
  write(folder / "tree/pkg/_a.so", text_of(folder / "tree/pkg/_a.so"));
  REQUIRE(package.build(runner));
  CHECK_FALSE(is_settled());
}

TEST_CASE("a changed header of a new source makes what read it anew, a changed Python file makes nothing") {
  FakePackage package;
  CountingRunner runner;
  REQUIRE(package.build(runner));
  write(package.source() / "pkg/__init__.py", "version = 2\n");
  package.pin();
  auto build = package.build(runner);
  REQUIRE(build);
  CHECK(build->steps_run == 0);
  CHECK(content(*build, "pkg/__init__.py") == "version = 2\n");

  write(package.source() / "csrc/common.h", "header 2\n");
  package.pin();
  build = package.build(runner);
  REQUIRE(build);
  CHECK(build->steps_run == 4);
  CHECK(content(*build, "pkg/_a.so") == "kernel a\nheader 2\nlinked\n");

  write(package.source() / "csrc/common.h", "header 1\n");
  package.pin();
  CHECK(package.build(runner)->steps_run == 0);  // both states are known

  write(package.source() / "csrc/new.h", "may hide another\n");
  package.pin();
  build = package.build(runner);
  REQUIRE(build);
  CHECK(build->steps_run == 2);  // compiled again, and the objects are the same: the links are hits
}

TEST_CASE("one changed kernel: its own steps run and no other") {
  FakePackage package;
  CountingRunner runner;
  REQUIRE(package.build(runner));
  write(package.source() / "csrc/a.cu", "kernel a, mended\n");
  package.pin();
  package.watcher.events.clear();
  const auto build = package.build(runner);
  REQUIRE(build);
  CHECK(build->steps_run == 2);
  for (const auto* event : {"finished compile-a", "finished link-a", "reused compile-b", "reused link-b"})
    CHECK_MESSAGE(package.watcher.saw(event), event);
}

TEST_CASE("a changed compiler is a miss") {
  FakePackage package;
  CountingRunner runner;
  REQUIRE(package.build(runner));
  package.environment.host_compilers[0].identity = "another shell";
  CHECK(package.build(runner)->steps_run == 4);
}

TEST_CASE("damaged and missing parts of the store are made again") {
  FakePackage package;
  CountingRunner runner;
  const auto first = package.build(runner);
  REQUIRE(first);
  const auto expected = content(*first, "pkg/_b.so");
  SUBCASE("every record is torn") {
    for (const auto& file : fs::recursive_directory_iterator(package.options.store / "actions"))
      if (file.is_regular_file()) write(file.path(), "{\"schema\": \"sagekit.act");
    CHECK(package.build(runner)->steps_run == 4);
  }
  SUBCASE("every object is gone") {
    fs::remove_all(package.options.store / "objects");
    CHECK(package.build(runner)->steps_run == 4);
  }
  SUBCASE("every object has other bytes of the same length") {
    for (const auto& file : fs::recursive_directory_iterator(package.options.store / "objects"))
      if (file.is_regular_file()) write(file.path(), std::string(file.file_size(), 'x'));
    fs::remove_all(package.options.store / "builds");
  }
  const auto again = package.build(runner);
  REQUIRE_MESSAGE(again.has_value(), (again ? "" : again.error().message));
  CHECK(content(*again, "pkg/_b.so") == expected);
}

TEST_CASE("a failing step tells its last lines and how to run it again; other cells' steps go on when asked") {
  FakePackage package;
  package.step("compile-a").argv = {"{cxx-linux_x86_64}", "-c", "echo first; echo 'a.cu(3): error: no'; exit 2"};
  package.options.keep_going = true;
  CountingRunner runner;
  const auto build = package.build(runner);
  REQUIRE(build);
  CHECK(build->cells.empty());
  REQUIRE(build->failed.size() == 1);
  const auto& failure = build->failed.front();
  CHECK(failure.cell == "fake-python312");
  CHECK(failure.step == "compile-a");
  CHECK(failure.exit_code == 2);
  CHECK(failure.cause == "first\na.cu(3): error: no");
  CHECK(failure.argv.front() == "/bin/sh");
  CHECK(text_of(failure.log) == "first\na.cu(3): error: no\n");
  CHECK(fs::is_directory(failure.working_directory));
  CHECK(package.watcher.saw("finished link-b"));
  CHECK_FALSE(package.watcher.saw("started link-a"));
}

TEST_CASE("a step that does not write its output has failed") {
  FakePackage package;
  package.step("link-a").argv = {"{cxx-linux_x86_64}", "-c", "true"};
  CountingRunner runner;
  const auto build = package.build(runner);
  REQUIRE(build);
  REQUIRE(build->failed.size() == 1);
  CHECK(build->failed.front().cause.find("did not write") != std::string::npos);
}

TEST_CASE("the fallback argv is tried once and said") {
  FakePackage package;
  auto& step = package.step("compile-a");
  step.fallback_argv = step.argv;
  step.argv = {"{cxx-linux_x86_64}", "-c", "echo no such header; exit 1"};
  CountingRunner runner;
  const auto build = package.build(runner);
  REQUIRE(build);
  CHECK(build->cells.size() == 1);
  CHECK(package.watcher.saw("retried compile-a"));
  CHECK(package.watcher.restarts == std::vector{false});
  CHECK(package.watcher.saw("finished compile-a"));
  CHECK(runner.steps == 5);
  CHECK(package.build(runner)->steps_run == 0);
}

TEST_CASE("a step that was killed for its memory is run again, alone") {
  FakePackage package;
  CountingRunner runner;
  std::atomic<int> kills = 0;
  runner.instead = [&](const Command& command, const std::stop_token&) -> std::optional<Result<CommandResult>> {
    if (command.output_file.filename() != "compile-a.log" || kills++ > 0) return std::nullopt;
    write(command.output_file, "nvcc error : 'cicc' died due to signal 9 (Kill signal)\n");
    CommandResult result;
    result.exit_code = 9;
    return result;
  };
  const auto build = package.build(runner);
  REQUIRE(build);
  CHECK(build->cells.size() == 1);
  CHECK(kills == 2);
  CHECK(package.watcher.saw("retried compile-a"));
  CHECK(package.watcher.restarts == std::vector{true});
}

TEST_CASE("a stop ends running steps, keeps finished ones and is an interruption") {
  FakePackage package;
  package.options.jobs = 1;
  package.step("compile-a").cost.cpu_seconds = 100;  // first, being on the longest way
  package.step("compile-b").argv = {"{cxx-linux_x86_64}", "-c", "sleep 100"};
  CountingRunner runner;
  std::stop_source stop;
  runner.instead = [&](const Command& command, const std::stop_token&) -> std::optional<Result<CommandResult>> {
    if (command.output_file.filename() == "compile-b.log") stop.request_stop();
    return std::nullopt;
  };
  const auto build = package.build(runner, stop.get_token());
  REQUIRE_FALSE(build);
  CHECK(build.error().kind == ErrorKind::interrupted);
  CHECK(package.watcher.saw("finished compile-a"));
}

TEST_CASE("cells that cannot be built here are an error when there is no other, else skipped") {
  FakePackage package;
  Cell windows = package.plan.cells.front();
  windows.id = "fake-python312-win_amd64";
  windows.buildable = false;
  windows.why_not = "win_amd64 wheels cannot be built on linux_x86_64";
  windows.lacks = {{LackKind::platform, Error{ErrorKind::machine, "TCH006", windows.why_not, {}, {}}}};
  package.plan.cells.push_back(windows);
  CountingRunner runner;
  const auto build = package.build(runner);
  REQUIRE(build);
  CHECK(build->cells.size() == 1);
  CHECK(build->skipped == std::vector<std::string>{"fake-python312-win_amd64"});
  package.options.dry_run = true;
  const auto dry = package.build(runner);
  REQUIRE(dry);
  CHECK(dry->skipped == build->skipped);
  package.options.dry_run = false;

  package.plan.cells = {windows};
  const auto none = package.build(runner);
  REQUIRE_FALSE(none);
  CHECK(none.error().code == "TCH006");
  CHECK(none.error().kind == ErrorKind::machine);
}

TEST_CASE("a dry run starts nothing and says of each step whether it would run") {
  FakePackage package;
  package.options.dry_run = true;
  CountingRunner runner;
  auto build = package.build(runner);
  REQUIRE(build);
  CHECK(runner.steps == 0);
  REQUIRE(package.watcher.messages.size() == 5);
  CHECK(package.watcher.messages[0] == "would take the source from " + package.options.source);
  CHECK(package.watcher.messages[1].starts_with("would run compile-a: {cxx-linux_x86_64} -c "));
  CHECK(build->steps_would_run == 4);
  CHECK_FALSE(fs::exists(package.options.store));

  package.options.dry_run = false;
  REQUIRE(package.build(runner));
  const int before = runner.steps;
  package.options.dry_run = true;
  const auto messages = [&] {
    package.watcher.messages.clear();
    build = package.build(runner);
    REQUIRE(build);
    CHECK(runner.steps == before);
    return package.watcher.messages;
  };
  CHECK(messages() == std::vector<std::string>{"would reuse compile-a", "would reuse link-a", "would reuse compile-b",
                                               "would reuse link-b"});
  CHECK(build->steps_reused == 4);
  CHECK(build->steps_would_run == 0);
  CHECK(build->steps_unknown == 0);

  package.step("compile-b").argv.push_back("-O3");
  const auto changed = messages();
  REQUIRE(changed.size() == 4);
  CHECK(changed[1] == "would reuse link-a");
  CHECK(changed[2].starts_with("would run compile-b: "));
  CHECK(changed[3].starts_with("would run link-b: "));

  package.environment.host_compilers[0].ready = false;  // will be fetched, or is not there: nothing can be known
  for (const auto& line : messages()) CHECK(line.starts_with("would run "));
  CHECK(build->steps_unknown == 4);
  auto& cell = package.plan.cells.front();
  cell.cuda = "13.0";
  cell.lacks = {{LackKind::nvcc, Error{ErrorKind::machine, "TCH001", "no nvcc", {}, {}}}};
  messages();
  CHECK(build->unknown_before == std::vector<std::string>{"nvcc 13.0"});
  fs::remove_all(package.options.store / "actions");  // of an empty store it is known
  messages();
  CHECK(build->steps_unknown == 0);
}

TEST_CASE("steps see SOURCE_DATE_EPOCH, the C locale and no variable that changes compilers") {
  FakePackage package;
  package.options.child_environment["CPATH"] = "/somewhere";
  package.step("link-a").argv = {"{cxx-linux_x86_64}", "-c", "env > \"$1\"", "sh", "{work}/lib/a.so"};
  CountingRunner runner;
  const auto build = package.build(runner);
  REQUIRE(build);
  const auto environment = content(*build, "pkg/_a.so");
  CHECK(environment.find("SOURCE_DATE_EPOCH=1768671808\n") != std::string::npos);
  CHECK(environment.find("LC_ALL=C\n") != std::string::npos);
  CHECK(environment.find("CPATH") == std::string::npos);
}

TEST_CASE("a second build of the same waits for the first") {
  FakePackage package;
  package.step("compile-a").argv[2] = "sleep 0.3; " + k_compile;
  CountingRunner first, second;
  Watcher watcher;
  package.equip();
  std::jthread other([&, plan = package.plan] {
    const auto build = run_build(package.spec, plan, package.environment, package.options, second, watcher, {});
    CHECK(build.has_value());
  });
  const auto build = package.build(first);
  other.join();
  REQUIRE(build);
  CHECK(first.steps + second.steps == 4);
}
