#include "build/device_half.hpp"

#include "support/file.hpp"
#include "support/text.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace sagekit;

namespace {

// What nvcc 13.0.88 printed for one source of sage2 and a cross compiler, paths shortened.
std::string recorded(const std::string& name) {
  const auto text = read_file(SAGEKIT_SOURCE_DIR "/tests/unit/build/data/" + name);
  REQUIRE(text);
  return *text;
}

bool has(const std::vector<std::string>& argv, const std::string& word) {
  return std::ranges::find(argv, word) != argv.end();
}

}  // namespace

TEST_CASE("a recorded dry run gives the host's half") {
  const auto half = read_dryrun(recorded("dryrun-13.0.txt"));
  REQUIRE(half);
  CHECK(half->preprocess.front() == "/usr/bin/aarch64-linux-gnu-g++");
  CHECK(half->preprocess.back() == "/build/half/fused.cpp4.ii");
  CHECK(has(half->preprocess, "-I/store/shim"));
  CHECK(has(half->preprocess, "cuda_runtime.h"));
  CHECK(half->split.front() == "/opt/cuda/bin/cudafe++");
  CHECK(half->split.back() == "/build/half/fused.cpp4.ii");
  CHECK(has(half->split, "--arm_cross_compiler"));
  CHECK(half->compile.front() == "/usr/bin/aarch64-linux-gnu-g++");
  CHECK(half->compile.back() == "/build/c.o");
  CHECK(has(half->compile, "/build/half/fused.cudafe1.cpp"));
  CHECK(half->stub == "/build/half/fused.cudafe1.stub.c");
  CHECK(half->fatbin == "/build/half/fused.fatbin.c");
}

TEST_CASE("with several arches the host takes the last one's stub") {
  const auto half = read_dryrun(recorded("dryrun-13.0-two-arches.txt"));
  REQUIRE(half);
  CHECK(half->stub == "/build/half/fused.compute_121a.cudafe1.stub.c");
  CHECK(half->fatbin == "/build/half/fused.fatbin.c");
  CHECK(has(half->compile, "-D__CUDA_ARCH_LIST__=800,1210"));
}

TEST_CASE("a dry run with anything unknown, missing or doubled is not understood") {
  const auto text = recorded("dryrun-13.0.txt");
  const auto refused = [](const std::string& changed) {
    const auto half = read_dryrun(changed);
    REQUIRE_FALSE(half);
    CHECK(half.error().code == "BLD009");
    return half.error().message;
  };
  refused("");
  CHECK(refused(text + "#$ newtool \"/build/half/fused.ptx\"\n").find("newtool") != std::string::npos);
  CHECK(refused("nvcc warning : something\n" + text).find("something else") != std::string::npos);
  for (const std::string key : {"cudafe++", "fatbinary", "cudafe1.cpp\" -o", ".cpp4.ii\"\n", "_HERE_="}) {
    CAPTURE(key);
    std::string without, twice;
    for (const auto& line : split(text, '\n')) {
      const bool it = (line + "\n").find(key) != std::string::npos && line.find(" cicc") == std::string::npos;
      if (!it) without += line + "\n";
      twice += line + "\n";
      if (it && key != "_HERE_=") twice += line + "\n";
    }
    CHECK(without != text);
    refused(without);
    if (key != "_HERE_=") refused(twice);
  }
  refused(replace_all(text, "fused.cudafe1.cpp\" -o", "fused.cudafe1.cpp\" | tee -o"));
}

TEST_CASE("command lines are split as a shell splits them, and anything more of a shell is refused") {
  CHECK(split_command("\"/a b\"/g++ -D \"X=\\\"y\\\"\"  -I\"c\\d\" e\\ f \"\"").value() ==
        std::vector<std::string>{"/a b/g++", "-D", "X=\"y\"", "-Ic\\d", "e f", ""});
  CHECK(split_command("").value().empty());
  for (const std::string bad : {"a $B", "a \"$B\"", "a `b`", "a; b", "a > b", "a | b", "a & b", "'a'", "\"a", "a *"}) {
    CAPTURE(bad);
    CHECK_FALSE(split_command(bad));
  }
}

TEST_CASE("kernels of a stub and of PTX must be the same") {
  const std::string stub =
      "__cudaRegisterEntry(__T0, ((void (*)(half *, int))f<(unsigned int)64u, (bool)1> ), _Z1aILj64EEvP6__halfi, (-1));"
      "__cudaRegisterEntry(__T0, ((void (*)(int))g), _Z1gi, (-1));";
  const std::string both = ".visible .entry _Z1aILj64EEvP6__halfi(\n.param .u64 x\n)\n.weak .entry _Z1gi(\n)\n";
  CHECK(same_kernels(stub, {both}));
  CHECK(same_kernels(stub, {both, both}));
  CHECK_FALSE(same_kernels(stub, {both, ".visible .entry _Z1gi("}));
  CHECK_FALSE(same_kernels(stub, {both + ".visible .entry _Z1hv("}));
  CHECK_FALSE(same_kernels(stub, {replace_all(both, "_Z1gi", "_Z1gc")}));
  CHECK_FALSE(same_kernels("__cudaRegisterEntry(__T0", {both}));
  CHECK(same_kernels("", {""}));
}
