#pragma once
// A package of two modules whose compilers are /bin/sh scripts: the whole build with nothing but a shell.

#include "support/text.hpp"
#include "unit/source/fake_source.hpp"

#include <sagekit/build.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace sagekit::test {

struct Watcher : BuildObserver {
  std::vector<std::string> events, messages, reasons;  ///< reasons: why retried or failed
  std::vector<bool> restarts;                          ///< of each retry
  void on_event(const BuildEvent& event) override {
    static constexpr const char* k_names[] = {"started", "reused", "finished", "failed", "retried"};
    events.push_back(std::string(k_names[static_cast<int>(event.outcome)]) + " " + event.step->id);
    if (!event.message.empty()) reasons.push_back(event.message);
    if (event.outcome == StepOutcome::retried) restarts.push_back(event.restarts);
  }
  void on_message(const std::string& text) override { messages.push_back(text); }
  bool saw(const std::string& event) const { return std::ranges::find(events, event) != events.end(); }
};

/// "compiles" by copying the source and its header, and writes a dependency file.
inline const std::string k_compile =
    "cat \"$1\" csrc/common.h > \"$2\" && printf '%s: %s \\\\\\n csrc/common.h\\n' x.o \"$1\" > \"$3\"";

struct FakePackage : FakeSource {
  Environment environment;

  FakePackage() {
    spec.package_files = {{
        "pkg",
        "pkg",
        {"**/*.py", "*.py"},
        {},
    }};
    spec.metadata.license_files = {"LICENSE"};
    spec.metadata.readme = "README.md";
    environment.os = "linux";
    environment.machine = "x86_64";
    environment.platform = "linux_x86_64";
    environment.cpus = 2;
    HostCompiler compiler;
    compiler.executable = "/bin/sh";
    compiler.kind = CompilerKind::gcc;
    compiler.version = "12.2.0";
    compiler.target = "x86_64-linux-gnu";
    compiler.identity = "shell";
    compiler.ready = true;
    environment.host_compilers = {compiler};
    Cell cell;
    cell.id = "fake-python312";
    cell.python = "3.12";
    cell.platform = "linux_x86_64";
    cell.buildable = true;
    for (const std::string name : {"a", "b"}) add_module(cell, name);
    plan.cells = {cell};
  }

  void add_module(Cell& cell, const std::string& name) {
    Step compile, link;
    compile.id = "compile-" + name;
    compile.kind = StepKind::compile;
    compile.module = "pkg._" + name;
    compile.argv = {
        "{cxx-linux_x86_64}",       "-c", k_compile, "sh", "{source}/csrc/" + name + ".cu", "{work}/obj/" + name + ".o",
        "{work}/obj/" + name + ".d"};
    compile.inputs = {"{source}/csrc/" + name + ".cu"};
    compile.outputs = {"{work}/obj/" + name + ".o", "{work}/obj/" + name + ".d"};
    compile.cells = {cell.id};
    link.id = "link-" + name;
    link.kind = StepKind::link;
    link.argv = {
        "{cxx-linux_x86_64}",        "-c", "(cat \"$1\"; echo linked) > \"$2\"", "sh", "{work}/obj/" + name + ".o",
        "{work}/lib/" + name + ".so"};
    link.inputs = {"{work}/obj/" + name + ".o"};
    link.outputs = {"{work}/lib/" + name + ".so"};
    link.depends = {compile.id};
    link.cells = {cell.id};
    plan.modules.push_back({"pkg._" + name, "pkg/_" + name + ".so", link.id, {}, cell.id});
    cell.steps.insert(cell.steps.end(), {compile.id, link.id});
    plan.steps.insert(plan.steps.end(), {compile, link});
  }

  Step& step(const std::string& id) { return *std::ranges::find(plan.steps, id, &Step::id); }

  /// The cells get their tools from the environment, as make_plan would choose them; none where one is lacking.
  void equip() {
    for (auto& cell : plan.cells) {
      ToolchainNeed need;
      need.cuda = cell.cuda;
      need.platform = cell.platform;
      need.gencode = cell.gencode;
      if (!environment.pythons.empty()) need.python = cell.python;
      auto tools = choose_toolchain(need, environment);
      cell.toolchain = tools ? std::make_shared<const Toolchain>(std::move(*tools)) : nullptr;
    }
  }

  Result<Build> build(CommandRunner& runner, std::stop_token stop = {}) {
    equip();
    return run_build(spec, plan, environment, options, runner, watcher, stop);
  }
  Watcher watcher;
};

}  // namespace sagekit::test
