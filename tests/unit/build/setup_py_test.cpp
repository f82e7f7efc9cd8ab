#include "fake_build.hpp"

#include <algorithm>

using namespace sagekit;
using namespace sagekit::test;

TEST_CASE("with setup.py the files are those of the wheel it made, each run in a copy of the source of its own") {
  FakePackage package;
  Python python;
  python.executable = "/bin/sh";
  python.version = "3.12.1";
  python.minor = "3.12";
  python.abi = "cp312";
  python.soabi = "cpython-312-x86_64-linux-gnu";
  python.ready = true;
  package.environment.pythons = {python};
  package.plan.backend = Backend::setup_py;
  Step step;
  step.id = "setup-py-1";
  step.kind = StepKind::setup_py;
  // What setup.py writes into its tree must not reach the next one. A tar does for a wheel here.
  step.argv = {"{python-exe-3.12-linux_x86_64}", "-c",
               "mkdir -p pkg fake-1.dist-info \"$1\" && test ! -e litter && touch litter && "
               "echo $FLAVOUR $MAX_JOBS > pkg/_a.so && echo b > pkg/_b.so && echo > fake-1.dist-info/METADATA && "
               "tar cf \"$1/fake-1-py3-none-any.whl\" pkg fake-1.dist-info",
               "sh", "{work}/wheels/fake-python312"};
  step.inputs = {"{source}"};
  step.outputs = {"{work}/wheels/fake-python312"};
  step.cells = {"fake-python312"};
  step.environment = {"FLAVOUR=sweet"};
  package.plan.steps = {step};
  package.plan.cells[0].steps = {step.id};
  for (auto& module : package.plan.modules) module.step = step.id;
  package.options.jobs = 3;
  package.options.memory_bytes = std::uint64_t{9} << 30;
  CountingRunner runner;
  const auto build = package.build(runner);
  REQUIRE_MESSAGE(build.has_value(), (build ? "" : build.error().message));
  REQUIRE_MESSAGE(build->failed.empty(), (build->failed.empty() ? "" : build->failed[0].cause));
  REQUIRE(build->cells.size() == 1);
  const auto& files = build->cells[0].files;
  const auto made = std::ranges::find(files, "pkg/_a.so", &StagedFile::archive_path);
  REQUIRE(made != files.end());
  CHECK(text_of(made->file) == "sweet 2\n");
  CHECK(files.size() == 4);  // with __init__.py and notes.txt, without the dist-info
  CHECK(package.build(runner)->steps_run == 0);

  fs::remove_all(package.options.store / "actions");
  REQUIRE(package.build(runner)->failed.empty());
  package.plan.modules[0].archive_path = "pkg/_c.so";
  CHECK(package.build(runner).error().code == "BLD004");
}
