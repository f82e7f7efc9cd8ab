#include "support/json.hpp"
#include "support/parallel.hpp"
#include "support/real_python.hpp"
#include "unit/verify/child_artifact.hpp"

#include <algorithm>
#include <mutex>

using namespace sagekit;
using namespace sagekit::test;

namespace {

CommandResult said(const std::vector<Json>& lines, int signal = 0) {
  CommandResult result;
  for (const auto& line : lines) result.output += json_line(line) + "\n";
  result.signal = signal;
  result.exit_code = signal == 0 ? 0 : 128 + signal;
  return result;
}

const Json k_python{{"python", "3.12"},     {"executable", "/usr/bin/python3.12"},
                    {"system", "linux"},    {"machine", "x86_64"},
                    {"libc", "glibc 2.36"}, {"noise", 1}};
const Json k_torch{{"torch", "2.11.0+cu130"}, {"torch_cuda", "13.0"}};
const Json k_begin{{"begin", "x"}}, k_ok{{"ok", true}};

CommandResult raised(const std::string& type, const std::string& message, const std::string& missing = {}) {
  return said({k_python, k_torch, k_begin, Json{{"error", message}, {"type", type}, {"missing", missing}}});
}

Json order_of(const Command& command) { return parse_json(command.argv.at(5)); }

/// 0 = the interpreter itself is asked, then demo._a, demo._b, demo/raw.so, demo.
std::size_t place_of(const Command& command) {
  if (command.argv.at(0) == "python3.12") return 0;
  const auto order = order_of(command);
  const auto name = text_at(order, "name");
  return text_at(order, "path") == "demo/raw.so" ? 3 : name == "demo._a" ? 1 : name == "demo._b" ? 2 : 4;
}

/// Modules are loaded side by side: which child gets which answer is told by what it is asked.
class ChildScript : public CommandRunner {
 public:
  std::vector<CommandResult> answers;  ///< by place_of; the last for all behind it
  CommandResult with_one_torch;        ///< to the order for all that want torch
  std::vector<Command> calls;          ///< but for that one
  Result<CommandResult> run(const Command& command, std::stop_token = {}) override {
    const std::lock_guard lock(m_mutex);
    if (order_of(command).contains("each")) return with_one_torch;
    calls.push_back(command);
    return answers.at(std::min(place_of(command), answers.size() - 1));
  }

 private:
  std::mutex m_mutex;
};

/// What IMP says when the children say `answers`.
std::vector<Finding> imports(std::vector<CommandResult> answers, std::vector<Command>* calls = nullptr,
                             CommandResult with_one_torch = {}) {
  ChildArtifact demo{DemoBuild().files, demo_spec(), "3.12", {"cp312"}};
  ChildScript runner;
  runner.with_one_torch = std::move(with_one_torch);
  runner.answers = std::move(answers);
  VerifyOptions options;
  options.interpreters = {"python3.12"};
  auto found = demo.judged("IMP001", options, runner);
  std::ranges::sort(runner.calls, {}, place_of);
  if (calls) *calls = runner.calls;
  return found;
}

/// The finding about the first module, when all others are right.
Finding of_first(const CommandResult& answer) {
  const auto right = said({k_python, k_torch, k_begin, k_ok});
  const auto found = imports({said({k_python}), answer, right});
  for (const auto& one : found)
    if (one.where.starts_with("demo/_a")) return one;
  for (const auto& one : found)
    if (one.result == FindingResult::skipped) return one;
  return {};
}

}  // namespace

TEST_CASE("each module is loaded in a process of its own, after torch, and a library by its path") {
  std::vector<Command> calls;
  const auto found = imports({said({k_python}), said({k_python, k_torch, k_begin, k_ok})}, &calls);
  REQUIRE(calls.size() == 5);
  for (const auto& call : calls) CHECK(call.argv[1] == "-I");
  CHECK(calls[0].argv[0] == "python3.12");
  CHECK(calls[1].argv[0] == "/usr/bin/python3.12");
  CHECK(calls[1].environment.at("LD_LIBRARY_PATH").empty());
  CHECK(order_of(calls[1])["name"] == "demo._a");
  CHECK(order_of(calls[1])["torch"] == true);
  CHECK(order_of(calls[3])["library"] == true);
  CHECK(order_of(calls[3])["path"] == "demo/raw.so");
  CHECK(order_of(calls[4])["name"] == "demo");
  REQUIRE(found.size() == 8);  // four modules, IMP002 to IMP004
  for (const auto& one : found) CHECK(one.result == FindingResult::pass);
}

TEST_CASE("what loads beside a torch that others use, too, is not loaded again, and what does not is") {
  std::vector<Command> calls;
  const auto right = said({k_python, k_torch, k_begin, k_ok});
  const Json first{{"begin", "demo._a"}}, second{{"begin", "demo._b"}}, wrong{{"error", "no"}, {"type", "ImportError"}};
  auto found = imports({said({k_python}), said({}, 11), right}, &calls, said({k_torch, first, k_ok, second, wrong}));
  CHECK(calls.size() == 4);
  CHECK(std::ranges::none_of(calls, [](const Command& call) { return place_of(call) == 1; }));
  for (const auto& one : found) CHECK(one.result == FindingResult::pass);
  // Another torch than the wheel's is no judge, however it is asked.
  found = imports({said({k_python}), right}, &calls, said({Json{{"torch", "2.8.0+cu129"}}, first, k_ok, second, k_ok}));
  CHECK(std::ranges::none_of(
      found, [](const Finding& one) { return one.code == "IMP001" && one.result == FindingResult::pass; }));
}

TEST_CASE("each way not to load has its code, and the missing thing is named") {
  using enum FindingResult;
  const auto error = of_first(raised("ImportError", "cannot import name 'ops'"));
  CHECK(error.code == "IMP001");
  CHECK(error.result == fail);
  const auto library = of_first(raised("ImportError", "libdemo.so.1: cannot open shared object file: No such file"));
  CHECK(library.code == "IMP002");
  CHECK(library.message.find("libdemo.so.1") != std::string::npos);
  const auto symbol = of_first(raised("ImportError", "/x/_a.so: undefined symbol: _ZN3c105ErrorC1Ev"));
  CHECK(symbol.code == "IMP003");
  CHECK(symbol.result == fail);
  CHECK(symbol.message.find("c10::Error") != std::string::npos);
  // By the eyes of explain: why, and what mends it.
  const auto old_abi =
      of_first(raised("ImportError", "/x/_a.so: undefined symbol: _ZN3c106detail14torchCheckFailEPKcS2_jRKSs"));
  CHECK(old_abi.hint.find("sagekit explain WHY401") != std::string::npos);
  CHECK(old_abi.hint.find("mend: ") != std::string::npos);
  const auto other_version = of_first(raised("ImportError", "cannot import name 'ops' from 'demo' (/x/__init__.py)"));
  CHECK(other_version.hint.ends_with("; mend: python3.12 -m pip check"));
  const auto crash = of_first(said({k_python, k_torch, k_begin}, 11));
  CHECK(crash.code == "IMP004");
  CHECK(crash.message.find("signal 11") != std::string::npos);
  CommandResult hang = said({k_python, k_torch, k_begin}, 15);
  hang.timed_out = true;
  CHECK(of_first(hang).code == "IMP004");
  // A module of the package itself that is missing is the wheel's fault.
  CHECK(of_first(raised("ModuleNotFoundError", "No module named 'demo.quant'", "demo.quant")).result == fail);
}

TEST_CASE("what this machine lacks is skipped, never passed and never failed") {
  const auto skipped = [](const CommandResult& answer) { return of_first(answer).result == FindingResult::skipped; };
  CHECK(skipped(said({k_python, Json{{"no_torch", "ModuleNotFoundError: No module named 'torch'"}}})));
  CHECK(skipped(said({k_python, Json{{"torch", "2.8.0+cu129"}, {"torch_cuda", "12.9"}}, k_begin, k_ok})));
  CHECK(skipped(said({k_python, Json{{"torch", "2.11.0+cu128"}, {"torch_cuda", "12.8"}}, k_begin, k_ok})));
  CHECK(skipped(raised("ModuleNotFoundError", "No module named 'triton'", "triton")));
  CHECK(skipped(raised("ImportError", "libcudart.so.13: cannot open shared object file: No such file or directory")));
  CHECK(skipped(raised("ImportError", "/lib/libc.so.6: version `GLIBC_2.99' not found (required by /x/_a.so)")));
  CHECK(skipped(said({k_python}, 11)));  // torch itself ends it
}

TEST_CASE("one that crashes hides no other, and two that hang end the check") {
  const auto right = said({k_python, k_torch, k_begin, k_ok});
  CommandResult hang = said({k_python, k_torch, k_begin}, 15);
  hang.timed_out = true;
  int passed = 0;
  for (const auto& one : imports({said({k_python}), said({k_python, k_torch, k_begin}, 6), right}))
    passed += one.code == "IMP001" && one.result == FindingResult::pass;
  CHECK(passed == 3);
  std::vector<Command> calls;
  const auto found = imports({said({k_python}), hang}, &calls);
  // As many as are loaded at once were started before the second hang was seen.
  const auto at_once = std::clamp<std::size_t>(available_threads(), 2, 4);
  CHECK(calls.size() == 1 + at_once);
  if (at_once == 4) return;                                // none was left
  for (const auto* code : {"IMP001", "IMP002", "IMP003"})  // the hangs are IMP004's
    CHECK(std::ranges::count_if(found, [&](const Finding& one) {
            return one.code == code && one.result == FindingResult::skipped;
          }) == 1);
}

TEST_CASE("interpreters of another version or machine are no judges") {
  const auto answer = [](const char* key, const char* value) {
    Json python = k_python;
    python[key] = value;
    const auto found = imports({said({python})});
    const auto wrong = std::ranges::find(found, "IMP005", &Finding::code);
    REQUIRE(wrong != found.end());
    CHECK(wrong->result == FindingResult::fail);
    CHECK(std::ranges::count(found, FindingResult::skipped, &Finding::result) > 0);
    return wrong->message;
  };
  CHECK(answer("python", "3.11").find("3.11, the modules are for 3.12") != std::string::npos);
  CHECK(answer("python", "3.12t").find("3.12t") != std::string::npos);
  CHECK(answer("machine", "aarch64").find("it is for aarch64, the modules are for x86_64") != std::string::npos);
}

TEST_CASE("a real interpreter imports from the wheel's files and nothing else") {
  const auto python = find_python();
  if (!python) return;
  const auto result = [&](const std::string& init) {
    ChildArtifact demo{{{"demo/__init__.py", init}, {"demo/ops.py", ""}}, demo_spec(), python->version};
    demo.spec.verify.import_modules = {"demo"};
    VerifyOptions options;
    options.interpreters = {python->path};
    options.child_environment = python->environment;
    const auto runner = make_local_runner();
    const auto found = demo.judged("IMP001", options, *runner);
    REQUIRE_FALSE(found.empty());
    const auto failed = std::ranges::find(found, FindingResult::fail, &Finding::result);
    return failed == found.end() ? found[0] : *failed;
  };
  using enum FindingResult;
  CHECK(result("from . import ops\nprint('noise')\n").result == pass);
  CHECK(result("from . import nothing\n").result == fail);
  CHECK(result("import no_such_package_anywhere\n").result == skipped);
  CHECK(result("import os\nos.abort()\n").code == "IMP004");
}
