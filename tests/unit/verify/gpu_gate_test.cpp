#include "support/real_python.hpp"
#include "unit/verify/child_artifact.hpp"

using namespace sagekit;
using namespace sagekit::test;

namespace {

/// Functions that are right and wrong in every way that the gate knows, for the torch of tests/support/fake_torch.py.
const std::string k_functions = R"(
import os, time, torch
calls = [0]
def right(a, b, **k): return a + b
def twice(a, b, **k): return (a + b) * 2
def nan(a, b, **k): return (a + b) * float("nan")
def changes(a, b, **k): return a.add_(b)
def unwritten(a, b, **k): return torch.empty(a.shape, a.dtype)
def tail(a, b, **k):
    result, sum = torch.empty(a.shape, a.dtype), (a + b).data
    result.data[:len(sum) // 2] = sum[:len(sum) // 2]
    return result
def race(a, b, **k):
    calls[0] += 1
    return (a + b) * (1 + calls[0] * 0.01)
def device(a, b, **k): raise RuntimeError("CUDA error: no kernel image is available for execution on the device")
def raises(a, b, **k): raise ValueError("no kernel for this GPU")
def shape(a, b, **k): return (a + b).reshape(-1)
def lacks(a, b, **k): import no_such_package_anywhere
def memory(a, b, **k): raise torch.OutOfMemoryError("CUDA out of memory")
def hangs(a, b, layout):
    if layout == "NHD": time.sleep(60)
    return a + b
def crashes(a, b, layout):
    if layout == "HND": os.abort()
    return a + b
def into(a, b, out, **k): out.data[:] = (a + b).data
def transposed(a, b, layout): return a + b if a.shape == ((2, 3, 4) if layout == "HND" else (3, 2, 4)) else a
)";

std::string gpu_row(const std::string& function, const std::string& more) {
  return "\n[[verify.gpu]]\nid = \"" + function + "\"\ncall = \"demo.functions:" + function + "\"\n" +
         R"(reference = "torch:add"
reference_arguments = ["a", "b"]
axis = [{ name = "layout", values = ["HND", "NHD"] }, { name = "size", values = ["4"] }]
transposed = { axis = "layout", value = "NHD", dims = [0, 1] }
cosine_min = 0.999
relative_l1_max = 0.1
seconds = 3
)" + more +
         (more.contains("arguments = ") ? "" : "arguments = [\"a\", \"b\", \"layout=layout\"]\n") +
         (more.contains("input = ") ? "" : R"(input = [
  { name = "a", shape = ["2", "3", "size"], dtype = "float16" },
  { name = "b", shape = ["2", "3", "size"], dtype = "float16" },
]
)");
}

using Findings = std::vector<Finding>;

std::optional<GpuGate> last_gate;

/// What RUN1 says when the function is called; nothing without a Python.
std::optional<Findings> gate(const std::string& rows) {
  const auto python = find_python();
  if (!python) return {};
  ChildArtifact demo{{{"torch/__init__.py", *read_file(SAGEKIT_SOURCE_DIR "/tests/support/fake_torch.py")},
                      {"demo/__init__.py", ""},
                      {"demo/functions.py", k_functions}},
                     demo_spec(k_demo_toml + rows),
                     python->version};
  VerifyOptions options;
  options.gpu = true;
  options.interpreters = {python->path};
  options.child_environment = python->environment;
  const auto runner = make_local_runner();
  auto found = demo.judged("RUN101", options, *runner);
  last_gate = demo.gate;
  return found;
}

Findings of(const Findings& all, std::string_view code) {
  Findings found;
  std::ranges::copy_if(all, std::back_inserter(found), [&](const Finding& one) { return one.code == code; });
  return found;
}

bool passes(const Findings& all, std::string_view code) {
  const auto found = of(all, code);
  return !found.empty() &&
         std::ranges::all_of(found, [](const Finding& one) { return one.result == FindingResult::pass; });
}

/// The one finding of a code that a wrong function gives, with words that are in it.
void check_caught(const std::string& function, const std::string& code, const std::string& words,
                  const std::string& more = {}) {
  CAPTURE(function);
  const auto report = gate(gpu_row(function, more));
  if (!report) return;
  const auto found = of(*report, code);
  std::string all;
  for (const auto& one : *report) all += one.code + ": " + one.message + "\n";
  CAPTURE(all);
  REQUIRE(found.size() == 1);
  CHECK(found[0].result == FindingResult::fail);
  CHECK_MESSAGE(found[0].message.contains(words), found[0].message);
}

}  // namespace

TEST_CASE("a function that is right passes, and its worst case is named") {
  const auto report = gate(gpu_row("right", ""));
  if (!report) return;
  for (const char* code : {"RUN100", "RUN101", "RUN102", "RUN103", "RUN104", "RUN105", "RUN106"})
    CHECK_MESSAGE(passes(*report, code), code);
  const auto numbers = of(*report, "RUN101");
  REQUIRE(numbers.size() == 1);
  CHECK(numbers[0].message.contains("right: 2 cases on Stand-in GPU (9.0), torch 2.11.0+cu130; worst: right layout="));
  CHECK(numbers[0].message.contains("relative L1 error 0.000"));
}

TEST_CASE("layouts are exchanged for the call and back for the reference; results may be inputs") {
  auto report = gate(gpu_row("transposed", ""));
  if (!report) return;
  CHECK(passes(*report, "RUN101"));
  report = gate(gpu_row("into", R"(arguments = ["a", "b", "out", "layout=layout"]
outputs = ["out"]
input = [
  { name = "a", shape = ["2", "3", "size"], dtype = "float32" },
  { name = "b", shape = ["2", "3", "size"], dtype = "float32", distribution = "uniform" },
  { name = "out", shape = ["2", "3", "size"], dtype = "float32", distribution = "zeros" },
]
)"));
  CHECK(passes(*report, "RUN101"));
  CHECK(passes(*report, "RUN103"));
}

TEST_CASE("every way to be wrong has its code and its words") {
  check_caught("twice", "RUN101", "relative L1 error");
  check_caught("shape", "RUN101", "a result of shape [24], the reference's is [2, 3, 4]");
  check_caught("device", "RUN102", "no kernel image is available");
  check_caught("changes", "RUN103", "it writes to its input a");
  check_caught("unwritten", "RUN104", "100 % of the result still is what memory held before");
  check_caught("tail", "RUN104", "50 % of the result");
  check_caught("race", "RUN104", "the same inputs give other bits");
  check_caught("nan", "RUN105", "100 % of the result is NaN or infinite");
  check_caught("raises", "RUN100", "ValueError: no kernel for this GPU");
}

TEST_CASE("a case that hangs or crashes is one finding, and the others are run all the same") {
  check_caught("hangs", "RUN106", "hangs in 1 of 2 cases");
  check_caught("crashes", "RUN106", "crashes in 1 of 2 cases");
}

TEST_CASE("what the row allows is allowed") {
  auto report = gate(gpu_row("changes", "may_change = [\"a\"]\n"));
  if (!report) return;
  CHECK(passes(*report, "RUN103"));
  report = gate(gpu_row("race", "deterministic = false\n"));
  CHECK(passes(*report, "RUN104"));
}

TEST_CASE("what the machine lacks is skipped with the reason, never passed") {
  for (const auto& [function, words] :
       {std::pair{"lacks", "no no_such_package_anywhere"}, std::pair{"memory", "not enough free memory"}}) {
    const auto report = gate(gpu_row(function, ""));
    if (!report) return;
    const auto found = of(*report, "RUN101");
    REQUIRE(found.size() == 1);
    CHECK(found[0].result == FindingResult::skipped);
    CHECK_MESSAGE(found[0].message.contains(words), found[0].message);
    const auto others = of(*report, "RUN104");
    REQUIRE(others.size() == 1);
    CHECK(others[0].result == FindingResult::skipped);
  }
  auto report = gate(gpu_row("right", "capabilities = [\"8.0\"]\n"));
  CHECK(of(*report, "RUN101")[0].message.contains("has no case for Stand-in GPU (9.0)"));
  report = gate("");
  CHECK(of(*report, "RUN101")[0].message.contains("says nothing to call on a GPU"));
}

TEST_CASE("without --gpu nothing is called and nothing is said") {
  ChildArtifact demo{{{"demo/__init__.py", ""}}, demo_spec(k_demo_toml + gpu_row("right", "")), ""};
  ScriptedRunner runner;
  VerifyOptions options;
  options.interpreters = {"python3"};
  CHECK(demo.judged("RUN101", options, runner).empty());
  CHECK(runner.calls.empty());
}

TEST_CASE("the gate counts what it judged, and what of that was right") {
  struct Case {
    std::string function;
    std::size_t cases, passed;
  };
  for (const auto& one : std::vector<Case>{{"right", 2, 2}, {"twice", 2, 0}, {"crashes", 2, 1}, {"lacks", 0, 0}}) {
    CAPTURE(one.function);
    if (!gate(gpu_row(one.function, ""))) return;
    REQUIRE(last_gate);
    CHECK(last_gate->cases == one.cases);
    CHECK(last_gate->passed == one.passed);
    CHECK(to_string(last_gate->capability) == "9.0");
  }
}
