#include "unit/verify/fixture.hpp"

#include <cstdlib>

using namespace sagekit;
using namespace sagekit::test;

namespace {

CommandResult said(const std::string& text, int exit_code = 0) {
  CommandResult result;
  result.output = text;
  result.exit_code = exit_code;
  return result;
}

/// verify_build with an interpreter that says `text` after its version.
std::vector<Finding> imports(const std::string& text, int exit_code = 0, std::vector<Command>* calls = nullptr) {
  DemoBuild demo;
  const auto folder = scratch();
  ScriptedRunner runner;
  runner.answers = {said("python\t3.12\n"), said("python\t3.12\n" + text, exit_code)};
  VerifyOptions options;
  options.interpreters = {"/usr/bin/python3.12"};
  const auto verdict = verify_build(demo_spec(), nullptr, demo.stage(folder.path()), options, runner);
  REQUIRE(verdict);
  const auto& report = *verdict ? (*verdict)->report() : verdict->error();
  if (calls) *calls = runner.calls;
  std::vector<Finding> found;
  for (const auto& one : report.findings)
    if (one.code == "IMP001") found.push_back(one);
  return found;
}

/// The finding about `demo`, the first module of all.
Finding of_demo(const std::string& text) {
  for (const auto& one : imports(text))
    if (one.where == "demo" || one.message.starts_with("demo in ") || one.message.find("torch") != std::string::npos)
      return one;
  return {};
}

const std::string k_torch = "torch\t2.11.0+cu130\t13.0\n";

}  // namespace

TEST_CASE("each module that imports is a pass, and torch is imported first") {
  std::vector<Command> calls;
  const auto found =
      imports(k_torch + "begin\tdemo\nok\tdemo\nbegin\tdemo._a\nok\tdemo._a\nbegin\tdemo._b\nok\tdemo._b\n", 0, &calls);
  REQUIRE(found.size() == 3);
  for (const auto& one : found) CHECK(one.result == FindingResult::pass);
  REQUIRE(calls.size() == 2);
  const auto& argv = calls[1].argv;
  REQUIRE(argv.size() == 9);
  CHECK(argv[1] == "-I");
  CHECK(argv[5] == "1");
  CHECK(argv[6] == "demo");
  CHECK(argv[8] == "demo._b");
}

TEST_CASE("an import error is a failure that quotes it") {
  const auto found = of_demo(k_torch + "begin\tdemo\nerror\tdemo\tImportError\t\tundefined symbol: _ZN2at\n");
  CHECK(found.result == FindingResult::fail);
  CHECK(found.message.find("undefined symbol: _ZN2at") != std::string::npos);
}

TEST_CASE("what this machine lacks is skipped, never passed and never failed") {
  using enum FindingResult;
  CHECK(of_demo("no-torch\tModuleNotFoundError\tNo module named 'torch'\n").result == skipped);
  CHECK(of_demo(k_torch + "begin\tdemo\nerror\tdemo\tImportError\t\tlibcuda.so.1: cannot open shared object file\n")
            .result == skipped);
  CHECK(of_demo(k_torch + "begin\tdemo\nerror\tdemo\tModuleNotFoundError\ttriton\tNo module named 'triton'\n").result ==
        skipped);
  CHECK(of_demo("torch\t2.8.0+cu129\t12.9\n").result == skipped);
  CHECK(of_demo("torch\t2.11.0+cu128\t12.8\n").result == skipped);
  // A module of the package itself that is missing is the wheel's fault.
  CHECK(of_demo(k_torch + "begin\tdemo\nerror\tdemo\tModuleNotFoundError\tdemo.quant\tNo module named 'demo.quant'\n")
            .result == fail);
}

TEST_CASE("a module that ends the interpreter fails; those after it were not reached") {
  const auto found = imports(k_torch + "begin\tdemo\nok\tdemo\nbegin\tdemo._a\n", 139);
  REQUIRE(found.size() == 3);
  int failed = 0, skipped = 0;
  for (const auto& one : found) {
    failed += one.result == FindingResult::fail && one.message.find("demo._a") != std::string::npos;
    skipped += one.result == FindingResult::skipped && one.message.find("demo._b") != std::string::npos;
  }
  CHECK(failed == 1);
  CHECK(skipped == 1);
}

TEST_CASE("interpreters of another version are no judges") {
  DemoBuild demo;
  const auto folder = scratch();
  ScriptedRunner runner;
  runner.answers = {said("python\t3.11\n")};
  VerifyOptions options;
  options.interpreters = {"/usr/bin/python3.11"};
  const auto verdict = verify_build(demo_spec(), nullptr, demo.stage(folder.path()), options, runner);
  REQUIRE(verdict);
  REQUIRE(*verdict);
  CHECK(trouble((*verdict)->report(), "IMP001")[0].message.find("3.12") != std::string::npos);
  CHECK(runner.calls.size() == 1);
}

TEST_CASE("a real interpreter imports from the wheel's files and nothing else") {
  auto spec = demo_spec();
  for (auto& kernel : spec.kernels) kernel.torch_free = true;
  spec.verify.import_modules = {"demo"};
  const auto runner = make_local_runner();
  Command probe;
  probe.argv = {"/usr/bin/env", "python3", "-c", "import sys; print(sys.executable, '%d.%d' % sys.version_info[:2])"};
  const char* path = std::getenv("PATH");
  probe.environment = {{"PATH", path ? path : "/usr/bin:/bin"}};
  const auto python = runner->run(probe);
  if (!python || !python->ok()) {
    MESSAGE("skipped: no python3 on PATH");
    return;
  }
  const auto blank = python->output.rfind(' ');
  VerifyOptions options;
  options.interpreters = {python->output.substr(0, blank)};
  options.child_environment = probe.environment;

  const auto result = [&](const std::string& init) {
    DemoBuild demo;
    demo.files["demo/__init__.py"] = init;
    demo.build.cell.python = python->output.substr(blank + 1, python->output.find('\n') - blank - 1);
    const auto folder = scratch();
    const auto verdict = verify_build(spec, nullptr, demo.stage(folder.path()), options, *runner);
    REQUIRE(verdict);
    for (const auto& one : (*verdict ? (*verdict)->report() : verdict->error()).findings)
      if (one.code == "IMP001") return one;
    return Finding{};
  };
  CHECK(result("from . import ops\nprint('noise')\n").result == FindingResult::pass);
  CHECK(result("from . import nothing\n").result == FindingResult::fail);
  CHECK(result("import no_such_package_anywhere\n").result == FindingResult::skipped);
  CHECK(result("import os\nos.abort()\n").result == FindingResult::fail);
}
