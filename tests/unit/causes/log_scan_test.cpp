#include "causes/log_scan.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

using namespace sagekit;

namespace {

/// Rows of one's own, so that a test does not change with what is known.
constexpr std::string_view k_rows = R"(
[reading]
advice = ['(?i)\bif you\b']
likely = ['^ERROR: ']
prefixes = ['[ \t]+', '\d{4}-\d\d-\d\dT[\d:.]+Z ', '#\d+ \d+\.\d+ ']
[[fact]]
name = "gpu"
match = ['(?P<value>RTX \d{4})']
[[cause]]
code = "WHY001"
title = "disk"
match = ['disk is full(?: on (?P<disk>\w+))?']
[[cause]]
code = "WHY002"
title = "wrapped"
match = ['cannot find the compiler named (?P<name>\w+)']
[[cause]]
code = "WHY003"
title = "near"
match = ['module missing']
near = ['setup\.py']
apart = ['harmless']
[[cause]]
code = "WHY004"
title = "noise"
role = "noise"
match = ['warning: .*disk is full']
[[cause]]
code = "WHY005"
title = "attempt"
role = "attempt"
match = ['^trying again']
)";

struct Scanned {
  CauseData data;
  CausePatterns patterns;
  LogScan scan;

  explicit Scanned(std::string_view log, std::size_t piece = std::string::npos)
      : data(read_cause_data(std::array{EmbeddedText{"test", k_rows}}, false)), patterns(data), scan(patterns) {
    for (; !log.empty(); log.remove_prefix(std::min(piece, log.size()))) scan.add(log.substr(0, piece));
    scan.finish();
  }
  std::string events() const {
    std::string all;
    for (const auto& event : scan.events())
      all += (all.empty() ? "" : " ") + event.row->code.substr(5) + "@" + std::to_string(event.where.line);
    return all;
  }
};

std::string events(std::string_view log) { return Scanned(log).events(); }

}  // namespace

TEST_CASE("a line is found by its words, whatever carried it, and counted") {
  CHECK(events("a\nb\nthe disk is full\n") == "1@3");
  CHECK(events("the disk is full") == "1@1");
  const Scanned scanned("2026-11-22T08:00:01.12Z #12 0.31    the disk is full on sda\n");
  REQUIRE(scanned.scan.events().size() == 1);
  CHECK(scanned.scan.events()[0].where.text == "the disk is full on sda");
  CHECK(scanned.scan.events()[0].groups.at("disk") == "sda");
  CHECK(scanned.scan.lines() == 1);
  CHECK(events("10 %\vthe disk is full\nb\n") == "1@1");
}

TEST_CASE("a message that was wrapped is read along over two lines, and no further") {
  CHECK(events("x\ncannot find the compiler\nnamed nvcc\n").empty());  // cut within the words that are looked for
  CHECK(events("x\ncannot find the compiler named\nnvcc\n") == "2@2");
  CHECK(events("x\n#1 0.1 cannot find the compiler named\n#1 0.2 nvcc\n") == "2@2");
  CHECK(events("cannot find the compiler named\n\n\nnvcc\n").empty());
}

TEST_CASE("advice on the same line, before the words, makes it none") {
  CHECK(events("if you see that the disk is full\n").empty());
  CHECK(events("the disk is full, if you ask\n") == "1@1");
}

TEST_CASE("noise takes its whole line") {
  CHECK(events("warning: half of the disk is full\n") == "4@1");
  CHECK(events("warning: half of the disk is full\nthe disk is full\n") == "4@1 1@2");
}

TEST_CASE("rows ask for words around them, and for words that are not there") {
  const std::string far(30000, 'x');
  CHECK(events("module missing\n").empty());
  CHECK(events("python setup.py\nmodule missing\n") == "3@2");
  CHECK(events("module missing\npython setup.py\n") == "3@1");
  CHECK(events("python setup.py\nharmless\nmodule missing\n").empty());
  // What is far behind is not around; the log's beginning always is.
  CHECK(events("python setup.py\nharmless\n" + far + "\nmodule missing\n") == "3@4");
  // The same words are looked for again where the log goes on.
  CHECK(events("python setup.py\nmodule missing\n" + far + "\nharmless\nmodule missing\n" + far + "\n" + far +
               "\nmodule missing\n") == "3@2 3@8");
}

TEST_CASE("the same again says no more, until something is tried again") {
  std::string many;
  for (int i = 0; i < 50; ++i) many += "the disk is full\n";
  CHECK(events(many) == "1@1 1@2 1@3");
  CHECK(events(many + "trying again\n" + many) == "1@1 1@2 1@3 5@51 1@52 1@53 1@54");
}

TEST_CASE("a log is read the same in pieces: interleaved, cut, with long lines") {
  std::string log;
  for (int i = 0; i < 400; ++i) {
    log += "[" + std::to_string(i) + "/400] nvcc -c a.cu\n";
    if (i % 50 == 7) log += "cannot find the compiler named\r\n  nvcc\n";
    if (i % 90 == 3)
      log += "trying again\n" + std::string(20000, 'y') + " the disk is full " + std::string(9000, 'z') + "\n";
    if (i == 300) log += std::string(600000, 'w') + "\n";
  }
  log += "the disk is fu";
  const auto whole = events(log);
  CHECK(whole.find("2@") != std::string::npos);
  CHECK(whole.find("1@") != std::string::npos);
  for (const std::size_t piece : {1009u, 4096u, 65537u}) {
    const Scanned scanned(log, piece);
    CHECK(scanned.events() == whole);
    CHECK(scanned.scan.lines() == Scanned(log).scan.lines());
  }
}

TEST_CASE("memory of what lines say does not grow with the log") {
  std::string log;
  for (int i = 0; i < 20000; ++i) log += "the disk is full on sd" + std::to_string(i) + "\n";
  CHECK(events(log) == "1@1 1@2 1@3");
}

TEST_CASE("facts and likely lines") {
  const Scanned scanned("GPU: RTX 5090\nERROR: something else\nok\nERROR: again\n");
  CHECK(scanned.scan.facts().at("gpu") == "RTX 5090");
  REQUIRE(scanned.scan.likeliest().size() == 2);
  CHECK(scanned.scan.likeliest()[0].line == 2);
  CHECK(scanned.scan.last_likely() == 4);
}

TEST_CASE("a progress bar before a message is what carried it") {
  const std::string said =
      "Error running sage attention: CUDA error: no kernel image is available for execution on the device";
  for (const std::string bar :
       {"  0%|          | 0/20 [00:00<?, ?it/s]", "  5%|\xe2\x96\x88\xe2\x96\x8e    | 1/20 [00:02<00:39,  2.10s/it]",
        "Sampling: 50%|#####     | 10/20 [00:10<00:10,  1.00it/s, loss=0.1]", "12it [00:10,  1.20it/s]",
        "100%|##########| 1.2G/1.2G [00:10<00:00, 120MB/s]",
        "0%|  | 0/9 [00:00<?, ?it/s] 10%|# | 1/9 [00:01<00:08,  1.00s/it]"}) {
    INFO(bar);
    const auto causes = explain_log_text(bar + said + "\n").causes;
    REQUIRE_FALSE(causes.empty());
    CHECK(causes.front().code == "WHY501");
    CHECK(causes.front().where.text == said);
  }
  // What is anchored to a line's beginning is found behind a bar, too; a percentage by itself is no bar.
  CHECK(explain_log_text("  0%|  | 0/9 [00:00<?, ?it/s]ImportError: cannot import name 'a' from 'b' (/v/b.py)\n")
            .causes.size() == 1);
  CHECK(explain_log_text("50% of it: CUDA error: no kernel image is available for execution on the device\n")
            .causes.at(0)
            .where.text.starts_with("50%"));
}
