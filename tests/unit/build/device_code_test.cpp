// A plan for two CPUs: the other one's compile step takes device code over from this machine's.
#include "fake_build.hpp"

using namespace sagekit;
using namespace sagekit::test;

namespace {

const std::string k_stub = "__cudaRegisterEntry(__T0, ((void (*)(int))f), _Z1fi, (-1));";

std::string after(const std::vector<std::string>& argv, const std::string& flag) {
  const auto found = std::ranges::find(argv, flag);
  return found == argv.end() ? "" : *(found + 1);
}

/// FakePackage with one nvcc step for each CPU; commands are answered by `answer`.
struct TwoCpus : FakePackage {
  CountingRunner runner;
  std::vector<std::string> log;  ///< "whole x86_64", "half"
  std::string dryrun;
  std::string device_header;  ///< below #ifdef __CUDA_ARCH__: nvcc as a whole reads it, the host's half does not
  std::mutex mutex;

  TwoCpus() {
    dryrun = text_of(SAGEKIT_SOURCE_DIR "/tests/unit/build/data/dryrun-13.0.txt");
    plan.steps.clear();
    plan.modules.clear();
    Nvcc nvcc;
    nvcc.executable = "/opt/cuda/bin/nvcc";
    nvcc.root = "/opt/cuda";
    nvcc.include_dir = "/opt/cuda/include";
    nvcc.version = "13.0.88";
    nvcc.cuda = "13.0";
    nvcc.max_gcc = "15";
    nvcc.identity = "nvcc";
    nvcc.ready = true;
    environment.nvcc = {nvcc};
    auto cross = environment.host_compilers.front();
    cross.executable = "/usr/bin/aarch64-linux-gnu-g++";
    cross.target = "aarch64-linux-gnu";
    cross.identity = "cross";
    environment.host_compilers.push_back(cross);
    const auto cell = plan.cells.front();
    plan.cells.clear();
    for (const std::string cpu : {"aarch64", "x86_64"}) add_cell(cell, cpu);
    options.jobs = 1;
    runner.instead = [this](const Command& command, const std::stop_token&) -> std::optional<Result<CommandResult>> {
      if (command.argv.front() == "git") return std::nullopt;
      return answer(command);
    };
  }

  void add_cell(Cell cell, const std::string& cpu) {
    cell.id = "fake-" + cpu;
    cell.platform = "linux_" + cpu;
    cell.cuda = "13.0";
    const auto object = "{work}/obj/a-" + cpu;
    Step step;
    step.id = "compile-" + cpu;
    step.kind = StepKind::compile;
    step.argv = {"{nvcc-exe-13.0}",
                 "-ccbin",
                 "{cxx-linux_" + cpu + "}",
                 "-c",
                 "{source}/csrc/a.cu",
                 "-o",
                 object + ".o",
                 "-MD",
                 "-MF",
                 object + ".d"};
    step.inputs = {"{source}/csrc/a.cu"};
    step.outputs = {object + ".o", object + ".d"};
    step.cells = {cell.id};
    step.cost.cpu_seconds = cpu == "aarch64" ? 100 : 1;  // would come first
    cell.steps = {step.id};
    plan.steps.push_back(step);
    plan.cells.push_back(cell);
  }

  void say(const std::string& line) {
    const std::lock_guard lock(mutex);
    log.push_back(line);
  }

  CommandResult answer(const Command& command) {
    const auto& argv = command.argv;
    const fs::path keep = after(argv, "--keep-dir");
    CommandResult result;
    if (std::ranges::find(argv, "--dryrun") != argv.end()) {
      result.output = replace_all(replace_all(dryrun, "/build/half", keep.string()), "/build/c.o", after(argv, "-o"));
    } else if (argv.front() == "/opt/cuda/bin/nvcc") {
      say("whole " + after(argv, "-ccbin"));
      write(after(argv, "-o"), "object");
      write(after(argv, "-MF"), "x.o: csrc/a.cu csrc/common.h " + device_header + "\n");
      if (keep.empty()) return result;
      write(keep / "fused.cudafe1.stub.c", k_stub);
      write(keep / "fused.fatbin.c", "fatbin");
      write(keep / "fused.ptx", ".visible .entry _Z1fi(\n");
    } else if (!after(argv, "-MF").empty()) {
      write(after(argv, "-MF"), "x.o: csrc/a.cu csrc/common.h\n");
    } else if (after(argv, "-o").ends_with(".o")) {
      say("half " + argv.front());
      write(after(argv, "-o"), "object");
    }
    return result;
  }
};

const std::string k_own = "whole /bin/sh", k_half = "half /usr/bin/aarch64-linux-gnu-g++",
                  k_cross = "whole /usr/bin/aarch64-linux-gnu-g++";

}  // namespace

TEST_CASE("of a plan for two CPUs this machine's comes first and the other takes its device code") {
  TwoCpus fake;
  const auto built = fake.build(fake.runner);
  REQUIRE_MESSAGE(built, built.error().message);
  CHECK(built->steps_run == 2);
  CHECK(fake.log == std::vector<std::string>{k_own, k_half});
}

TEST_CASE("device code of an earlier build serves, and of another source it does not") {
  TwoCpus fake;
  const auto both = fake.plan;
  const auto only = [&](const std::string& cpu) {
    fake.plan.steps = both.steps;
    fake.plan.cells = both.cells;
    std::erase_if(fake.plan.steps, [&](const Step& step) { return step.id != "compile-" + cpu; });
    std::erase_if(fake.plan.cells, [&](const Cell& cell) { return cell.id != "fake-" + cpu; });
    fake.log.clear();
    REQUIRE(fake.build(fake.runner));
    return fake.log;
  };
  CHECK(only("aarch64") == std::vector{k_cross});
  write(fake.source() / "csrc/common.h", "header 2\n");
  fake.pin();
  CHECK(only("x86_64") == std::vector{k_own});
  CHECK(only("aarch64") == std::vector{k_half});
  CHECK(only("aarch64").empty());
  write(fake.source() / "csrc/common.h", "header 3\n");
  fake.pin();
  CHECK(only("aarch64") == std::vector{k_cross});
}

TEST_CASE("a header that only the device's passes read is an input of the object that takes their code over") {
  TwoCpus fake;
  fake.device_header = "csrc/device.h";
  write(fake.source() / "csrc/device.h", "device 1\n");
  fake.pin();
  const auto run = [&] {
    fake.log.clear();
    REQUIRE(fake.build(fake.runner));
    return fake.log;
  };
  CHECK(run() == std::vector{k_own, k_half});
  CHECK(run().empty());
  write(fake.source() / "csrc/device.h", "device 2\n");
  fake.pin();
  CHECK(run() == std::vector{k_own, k_half});
}

TEST_CASE("a dry run that is not understood costs the saving and not the build") {
  TwoCpus fake;
  fake.dryrun = "#$ something new\n";
  const auto built = fake.build(fake.runner);
  REQUIRE(built);
  CHECK(built->failed.empty());
  CHECK(fake.log == std::vector{k_own, k_cross});
  CHECK(fake.watcher.saw("retried compile-aarch64"));
}
