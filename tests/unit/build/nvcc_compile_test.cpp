#include "build/nvcc_compile.hpp"

#include "fake_build.hpp"

using namespace sagekit;
using namespace sagekit::test;

namespace {

const std::string k_stub_text = "__cudaRegisterEntry(__T0, ((void (*)(int))f), _Z1fi, (-1));";

/// Answers as nvcc and the programs of its dry run would.
struct FakeNvcc : CommandRunner {
  std::vector<std::vector<std::string>> seen;
  std::string dryrun, fails;
  std::string stub_when_compiled;

  static std::string after(const std::vector<std::string>& argv, const std::string& flag) {
    const auto found = std::ranges::find(argv, flag);
    return found == argv.end() ? "" : *(found + 1);
  }

  Result<CommandResult> run(const Command& command, std::stop_token) override {
    const auto& argv = command.argv;
    seen.push_back(argv);
    CommandResult result;
    result.cpu_seconds = 1;
    if (!fails.empty() && argv.front().find(fails) != std::string::npos) result.exit_code = 1;
    const fs::path keep = after(argv, "--keep-dir");
    if (std::ranges::find(argv, "--dryrun") != argv.end()) {
      result.output = replace_all(dryrun, "/build/half", keep.string());
    } else if (!keep.empty()) {
      write(keep / "fused.cudafe1.stub.c", k_stub_text);
      write(keep / "fused.fatbin.c", "fatbin");
      write(keep / "fused.ptx", ".visible .entry _Z1fi(\n");
      write(keep / "fused.cpp4.ii", "much text");
    } else if (std::ranges::find(argv, "-c") != argv.end() && argv.front().find("g++") != std::string::npos) {
      const fs::path source = *std::ranges::find_if(argv, [](const auto& w) { return w.ends_with(".cudafe1.cpp"); });
      stub_when_compiled = text_of(source.parent_path() / "fused.cudafe1.stub.c");
      CHECK(text_of(source.parent_path() / "fused.fatbin.c") == "fatbin");
    }
    return result;
  }
};

struct Fixture {
  TemporaryFolder folder = temporary();
  Store store = *Store::open(folder.path() / "store");
  FakeNvcc nvcc;
  Command command;

  Fixture() {
    nvcc.dryrun = text_of(SAGEKIT_SOURCE_DIR "/tests/unit/build/data/dryrun-13.0.txt");
    command.argv = {"/opt/cuda/bin/nvcc", "-c", "fused.cu", "-o", "/build/c.o", "-MD", "-MF", "/build/c.d"};
  }

  std::optional<ActionRecord> kept() {
    NvccCompile whole(store, folder.path() / "tmp", std::nullopt);
    REQUIRE(whole.run(command, nvcc, {}));
    REQUIRE(whole.keep("key", {{{"{source}/a.h", "hash"}}, {}, {}, false, "17"}));
    auto records = store.records("key");
    return records.empty() ? std::nullopt : std::optional(records.front());
  }
};

Step compile_step(const std::string& platform) {
  Step step;
  step.kind = StepKind::compile;
  step.argv = {"{nvcc-exe-13.0}",
               "-ccbin",
               "{cxx-" + platform + "}",
               "-isystem",
               "{torch-2.11.0-cu130-" + platform + "}/include",
               "-c",
               "{source}/a.cu",
               "-o",
               "{work}/obj/a-" + platform + ".o",
               "-MD",
               "-MF",
               "{work}/obj/a-" + platform + ".d"};
  return step;
}

}  // namespace

TEST_CASE("the same step for two CPUs has the same device code") {
  const auto x86 = compile_step("linux_x86_64"), arm = compile_step("linux_aarch64");
  const auto ours = device_step(x86, x86.argv), theirs = device_step(arm, arm.argv);
  REQUIRE(ours);
  REQUIRE(theirs);
  CHECK(ours->platform == "linux_x86_64");
  CHECK(theirs->platform == "linux_aarch64");
  CHECK(ours->argv == theirs->argv);
  CHECK(ours->argv == std::vector<std::string>{"{nvcc-exe-13.0}", "-ccbin", "{cxx}", "-isystem",
                                               "{torch-2.11.0-cu130}/include", "-c", "{source}/a.cu", "-MD"});
  auto other = x86;
  other.kind = StepKind::bind;
  CHECK_FALSE(device_step(other, other.argv));
  CHECK_FALSE(device_step(x86, {"{cxx-linux_x86_64}", "-c", "a.cpp"}));
}

TEST_CASE("a whole run keeps its device code, and only when its kernels are those of the PTX") {
  Fixture f;
  const auto record = f.kept();
  REQUIRE(record);
  REQUIRE(record->outputs.size() == 2);
  CHECK(record->outputs[0].path == "{work}/half/fused.cudafe1.stub.c");
  CHECK(record->outputs[1].path == "{work}/half/fused.fatbin.c");
  CHECK(record->headers.size() == 1);
  CHECK(record->epoch == "17");
  CHECK(fs::is_empty(f.folder.path() / "tmp"));

  NvccCompile odd(f.store, f.folder.path() / "tmp", std::nullopt);
  REQUIRE(odd.run(f.command, f.nvcc, {}));
  const auto keep = fs::directory_iterator(f.folder.path() / "tmp")->path();
  write(keep / "fused.ptx", ".visible .entry _Z1gi(\n");
  REQUIRE(odd.keep("odd", {}));
  CHECK(f.store.records("odd").empty());
}

TEST_CASE("with device code in the store only the host's half is run") {
  Fixture f;
  NvccCompile half(f.store, f.folder.path() / "tmp", f.kept());
  f.nvcc.seen.clear();
  const auto result = half.run(f.command, f.nvcc, {});
  REQUIRE(result);
  CHECK(result->ok());
  CHECK(result->cpu_seconds == 4);
  CHECK(half.why_whole().empty());
  REQUIRE(f.nvcc.seen.size() == 4);
  CHECK(f.nvcc.seen[0].front() == "/opt/cuda/bin/nvcc");
  CHECK(FakeNvcc::after(f.nvcc.seen[1], "-MF") == "/build/c.d");
  CHECK(FakeNvcc::after(f.nvcc.seen[1], "-MT") == "/build/c.o");
  CHECK(f.nvcc.seen[2].front() == "/opt/cuda/bin/cudafe++");
  CHECK(f.nvcc.seen[3].back() == "/build/c.o");
  CHECK(f.nvcc.stub_when_compiled == k_stub_text);
  REQUIRE(half.keep("other", {}));
  CHECK(f.store.records("other").empty());
}

TEST_CASE("where the halves do not come together nvcc is run as a whole, and it is said why") {
  Fixture f;
  const auto known = f.kept();
  const auto why_whole = [&](const std::optional<ActionRecord>& record) {
    NvccCompile compile(f.store, f.folder.path() / "tmp", record);
    f.nvcc.seen.clear();
    const auto result = compile.run(f.command, f.nvcc, {});
    REQUIRE(result);
    CHECK(f.nvcc.seen.back() == f.command.argv);
    return compile.why_whole();
  };
  f.nvcc.fails = "cudafe++";
  CHECK(why_whole(known).find("cudafe++") != std::string::npos);
  f.nvcc.fails.clear();
  auto changed = known;
  changed->outputs.pop_back();
  CHECK(why_whole(changed) == "the store's device code has no fused.fatbin.c");
  f.nvcc.dryrun = "nvcc fatal: no\n";
  CHECK(why_whole(known).starts_with("nvcc's dry run is not understood"));
}
