#include "plugin/judge.hpp"

#include "plugin/sample_artifacts.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

using namespace sagekit;

namespace {

sagekit_str str(std::string_view text) { return {text.data(), text.size()}; }
void say(const sagekit_report* report, int severity, std::string_view code, std::string_view message,
         std::string_view where = {}) {
  report->add(report->context, severity, str(code), str(message), str(where));
}
std::string_view text(sagekit_str s) { return {s.data, s.size}; }

}  // namespace

extern "C" {

static void judge_echo(const sagekit_artifact* a, const sagekit_report* report) {
  say(report, SAGEKIT_NOTE, "SIZE", std::to_string(a->struct_size), text(a->distribution));
  for (std::size_t i = 0; i < a->modules_count; ++i) {
    const sagekit_module& m = a->modules[i];
    say(report, SAGEKIT_WARNING, "MOD", text(m.name), text(m.path));
    for (std::size_t j = 0; j < m.needed_count; ++j) say(report, 2, "NEEDED", text(m.needed[j]));
    for (std::size_t j = 0; j < m.exports_count; ++j) say(report, 2, "EXPORT", text(m.exports[j]));
    for (std::size_t j = 0; j < m.undefined_count; ++j) say(report, 2, "UNDEF", text(m.undefined[j]));
    for (std::size_t j = 0; j < m.gpu_count; ++j) {
      const sagekit_gpu_code& g = m.gpu[j];
      say(report, 2, "GPU",
          std::to_string(g.capability) + (g.suffix != 0 ? std::string(1, g.suffix) : "") + (g.is_ptx != 0 ? "p" : "") +
              " " + std::to_string(g.count) + " " + std::to_string(g.bytes));
    }
  }
  for (std::size_t i = 0; i < a->files_count; ++i) {
    const sagekit_str content = a->read_file(a->context, a->files[i]);
    say(report, 2, "FILE", content.data != nullptr ? text(content) : "none", text(a->files[i]));
  }
}

static void judge_throws(const sagekit_artifact*, const sagekit_report* report) {
  say(report, SAGEKIT_NOTE, "BEFORE", "x");
  throw std::runtime_error("oh");
}
static void judge_throws_number(const sagekit_artifact*, const sagekit_report*) { throw 3; }
static void judge_floods(const sagekit_artifact*, const sagekit_report* report) {
  for (int i = 0; i < 5000; ++i) say(report, SAGEKIT_NOTE, "F", "x");
}
static void judge_is_rude(const sagekit_artifact*, const sagekit_report* report) {
  say(report, 77, std::string(1000, 'C'), std::string(4095, 'm') + "\xc3\xa9", "a\x1b[31m\n\x7f");
  report->add(report->context, SAGEKIT_ERROR, {nullptr, 5}, {nullptr, 0}, {nullptr, 99});
}
static void judge_asks_for_nothing(const sagekit_artifact* a, const sagekit_report* report) {
  if (a->read_file(a->context, {nullptr, 4}).data == nullptr) say(report, SAGEKIT_NOTE, "NONE", "x");
}
}

TEST_CASE("a judge sees all facts and its findings come back in order") {
  JudgedArtifact artifact{"sageattention", "2.2.0", "3.12", "2.11.0", "13.0", "linux_x86_64", {}, {}, {}};
  JudgedModule module{"a.b", "a/b.so", {"libc.so.6"}, {"PyInit_b"}, {"malloc"}, {}};
  GpuCode sass, ptx;
  sass.arch = {{12, 1}, ArchSuffix::a};
  sass.count = 3;
  sass.bytes = 4096;
  ptx.arch = {{9, 0}, ArchSuffix::none};
  ptx.ptx = true;
  ptx.count = 1;
  module.gpu = {sass, ptx};
  artifact.modules = {module};
  artifact.files = {"a/__init__.py", "a/b.so", "empty"};
  artifact.read_file = [](std::string_view path) -> std::optional<std::string> {
    if (path == "a/__init__.py") return "import torch";
    if (path == "empty") return "";
    return std::nullopt;
  };
  const auto s = Severity::note;
  CHECK(run_judge(judge_echo, artifact) ==
        std::vector<PluginFinding>{{s, "SIZE", std::to_string(sizeof(sagekit_artifact)), "sageattention"},
                                   {Severity::warning, "MOD", "a.b", "a/b.so"},
                                   {s, "NEEDED", "libc.so.6", ""},
                                   {s, "EXPORT", "PyInit_b", ""},
                                   {s, "UNDEF", "malloc", ""},
                                   {s, "GPU", "121a 3 4096", ""},
                                   {s, "GPU", "90p 1 0", ""},
                                   {s, "FILE", "import torch", "a/__init__.py"},
                                   {s, "FILE", "none", "a/b.so"},
                                   {s, "FILE", "", "empty"}});
}

TEST_CASE("no judge finds nothing") { CHECK(run_judge(nullptr, extreme_artifact({})).empty()); }

TEST_CASE("a judge that throws is an error finding, and what it said before is kept") {
  const auto findings = run_judge(judge_throws, empty_artifact());
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].code == "BEFORE");
  CHECK(findings[1] == PluginFinding{Severity::error, "rule-threw", "the judge threw: oh", ""});
  CHECK(run_judge(judge_throws_number, empty_artifact()).at(0).code == "rule-threw");
}

TEST_CASE("a flood is cut and is an error") {
  const auto findings = run_judge(judge_floods, empty_artifact());
  REQUIRE(findings.size() == k_most_findings + 1);
  CHECK(findings.back().code == "rule-floods");
  CHECK(findings.back().severity == Severity::error);
}

TEST_CASE("rude findings are bounded: unknown severity is an error, texts are cut whole, control characters go") {
  const auto findings = run_judge(judge_is_rude, empty_artifact());
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].severity == Severity::error);
  CHECK(findings[0].code == std::string(k_most_code_bytes, 'C'));
  CHECK(findings[0].message == std::string(4095, 'm'));
  CHECK(findings[0].where == "a [31m  ");
  CHECK(findings[1] == PluginFinding{Severity::error, "", "", ""});
}

TEST_CASE("a reader that throws or is missing gives no text") {
  CHECK(run_judge(judge_asks_for_nothing, empty_artifact()).size() == 1);
  JudgedArtifact artifact;
  artifact.files = {"x"};
  artifact.read_file = [](std::string_view) -> std::optional<std::string> { throw std::runtime_error("disk"); };
  CHECK(run_judge(judge_echo, artifact).back().message == "none");
}

TEST_CASE("codes are words that documentation can name") {
  for (const char* good : {"HOP001", "rule-threw", "a", "A.b_c-9"}) CHECK(is_finding_code(good));
  for (const char* bad : {"", "9A", "a b", "-x", "\xc3\xa9"}) CHECK_FALSE(is_finding_code(bad));
  CHECK_FALSE(is_finding_code(std::string(65, 'a')));
}
