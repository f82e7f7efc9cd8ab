// The decision table: decisions.txt says which wheel runs on which machine, and why.
#include "resolve/judge.hpp"

#include "spec/data.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

using namespace sagekit;

namespace {

struct Known {
  Candidate candidate;
  std::string facts;
};

struct Case {
  int line = 0;
  std::string machine, winner;
  std::map<std::string, std::string> verdicts;
};

struct Table {
  std::map<std::string, std::string> machines;
  std::map<std::string, Known> wheels;
  std::vector<Case> cases;
};

Table read_table() {
  const auto text = read_file(SAGEKIT_SOURCE_DIR "/tests/unit/resolve/decisions.txt");
  REQUIRE(text);
  Table table;
  int number = 0;
  for (const auto& line : split(*text, '\n')) {
    ++number;
    if (trim(line).empty() || line.starts_with('#')) continue;
    auto columns = split(line, '|');
    for (auto& column : columns) column = trim(column);
    const auto words = split_words(columns[0]);
    REQUIRE_MESSAGE(words.size() == 2, line);
    if (words[0] == "machine") {
      REQUIRE_MESSAGE(table.machines.emplace(words[1], columns[1]).second, line);
    } else if (words[0] == "wheel") {
      Known known;
      known.candidate.file = known.candidate.place = columns[1];
      known.facts = columns.at(2);
      REQUIRE_MESSAGE(table.wheels.emplace(words[1], known).second, line);
    } else {
      REQUIRE_MESSAGE(columns.size() == 4, line);
      REQUIRE_MESSAGE(!columns[3].empty(), "a case has a reason: " << line);
      Case one{number, words[1], columns[1], {}};
      for (const auto& pair : split_words(columns[2]))
        one.verdicts.emplace(pair.substr(0, pair.find('=')), pair.substr(pair.find('=') + 1));
      table.cases.push_back(std::move(one));
    }
  }
  return table;
}

/// As verify's table would have it: machine code where it runs, PTX where the driver can compile it.
std::vector<RunsOn> runs_on(const std::string& list, const std::set<std::string>& refused, bool windows) {
  const auto parts = split(list, '@');
  const auto arches = parse_arch_list(parts[0]);
  REQUIRE(arches);
  std::vector<RunsOn> rows;
  for (const auto& models : gpu_data().models) {
    RunsOn row;
    row.capability = models.capability;
    row.verdict = RunVerdict::no;
    for (const auto& arch : *arches) {
      const bool sass = code_runs_on({arch.capability, arch.suffix}, models.capability);
      const bool ptx = arch.ptx && ptx_reaches({arch.capability, ArchSuffix::none}, models.capability);
      if (sass) row.verdict = RunVerdict::yes;
      if (ptx && row.verdict == RunVerdict::no) row.verdict = RunVerdict::jit;
    }
    if (refused.contains(to_string(models.capability)))
      row.verdict = RunVerdict::no, row.reason = "the package refuses it";
    row.toolkit = parts.at(1);
    row.driver = driver_for(row.toolkit, row.verdict == RunVerdict::jit).on(windows);
    rows.push_back(std::move(row));
  }
  return rows;
}

/// The same functions that reading a wheel calls, with what the table says instead of what a reader finds.
Traits traits_with(const Known& known) {
  static const auto reader = WheelNameReader::make(naming_schemes());
  REQUIRE(reader);
  auto traits = traits_of(known.candidate);
  REQUIRE_MESSAGE(traits, known.candidate.file);
  add_said(*traits, known.candidate, *reader);
  std::string metadata =
      fmt::format("Metadata-Version: 2.1\nName: {}\nVersion: {}\n", traits->name.distribution, traits->name.version);
  std::string code;
  std::set<std::string> refused;
  bool says = false, modules = false;
  TorchTrait torch{TorchTrait::Kind::none, {}, "its symbols", {}, true};
  for (const auto& fact : split_words(known.facts, ";")) {
    const auto key = fact.substr(0, fact.find('=')),
               value = fact.find('=') == fact.npos ? "" : fact.substr(fact.find('=') + 1);
    if (key == "requires")
      metadata += "Requires-Dist: " + value + "\n", says = true;
    else if (key == "python")
      metadata += "Requires-Python: " + value + "\n", says = true;
    else if (key == "record") {
      const auto pair = split(value, '/');
      add_record(*traits,
                 fmt::format(R"({{"schema":"sagekit.provenance/1","torch":"{}","cuda":"{}"}})", pair[0], pair[1]));
    } else if (key == "code")
      code = value, modules = true;
    else if (key == "no")
      refused.insert(value);
    else if (key == "cpp")
      torch.kind = TorchTrait::Kind::unsaid, modules = true;
    else if (key == "stable")
      torch.kind = TorchTrait::Kind::at_least, torch.version = value, modules = true;
    else if (key == "notorch")
      modules = true;
    else if (key == "glibc")
      traits->glibc = value, traits->libc = "glibc";
    else if (key == "musl")
      traits->libc = "musl";
    else if (key == "cudart")
      state_runtimes(*traits, split(value, '/'));
    else
      FAIL("unknown fact: " << fact);
  }
  if (says) add_metadata(*traits, metadata, known.candidate.file);
  if (!code.empty()) {
    traits->runs_on = runs_on(code, refused, known.candidate.file.find("win_") != std::string::npos);
    traits->runs_on_from = "measured in the file";
  }
  if (modules) {
    traits->modules_read = true;
    state_torch(*traits, torch);
  }
  return *traits;
}

}  // namespace

TEST_CASE("the decision table") {
  const Table table = read_table();
  std::size_t pairs = 0;
  for (const auto& one : table.cases) {
    CAPTURE(one.line);
    CAPTURE(one.machine);
    REQUIRE(table.machines.contains(one.machine));
    const auto target = parse_target(table.machines.at(one.machine), {});
    REQUIRE_MESSAGE(target, target.error().message);
    std::vector<std::tuple<Rank, std::string>> fits;
    for (const auto& [name, expected] : one.verdicts) {
      ++pairs;
      CAPTURE(name);
      REQUIRE(table.wheels.contains(name));
      const Traits traits = traits_with(table.wheels.at(name));
      const Ruling ruling = judge_wheel_for(traits, table.wheels.at(name).candidate, *target);
      CHECK_MESSAGE((ruling.fit == Fit::fits ? "fits" : ruling.code) == expected, ruling.reason);
      CHECK((ruling.fit == Fit::fits) == ruling.code.empty());
      if (ruling.fit != Fit::fits) CHECK_FALSE(ruling.reason.empty());
      if (ruling.fit == Fit::unknown) CHECK_FALSE(ruling.would_tell.empty());
      if (ruling.fit == Fit::fits) fits.emplace_back(Rank(traits, ruling, *target), name);
    }
    std::ranges::stable_sort(fits, [](const auto& a, const auto& b) { return std::get<0>(a) > std::get<0>(b); });
    CHECK((fits.empty() ? "-" : std::get<1>(fits.front())) == one.winner);
  }
  CHECK(pairs >= 150);
  MESSAGE(table.cases.size() << " cases, " << pairs << " pairs of a wheel and a machine");
}

TEST_CASE("a wheel that nobody has run on its system says so where it fits, from its record alone") {
  Known known;
  known.candidate.file = "sageattention-2.2.0+cu130torch2.9.1-cp312-cp312-win_amd64.whl";
  known.facts = "code=8.9@13.0;cpp";
  auto traits = traits_with(known);
  const auto target =
      parse_target("gpu=RTX 4090,torch=2.9.1+cu130,python=3.12,platform=win_amd64,driver=581", {}).value();
  CHECK(judge_wheel_for(traits, known.candidate, target).reason.find("experimental") == std::string::npos);
  add_record(traits, R"({"schema":"sagekit.provenance/1","experimental":"built, not run on Windows"})");
  const auto ruling = judge_wheel_for(traits, known.candidate, target);
  CHECK(ruling.fit == Fit::fits);
  CHECK(ruling.reason.starts_with("experimental: built, not run on Windows; "));
}

TEST_CASE("a GPU of the past that a table leaves out has no code in the wheel") {
  Known known;
  known.candidate.file = "sageattention-2.2.0+cu128torch2.9.1-cp312-cp312-manylinux_2_28_x86_64.whl";
  known.facts = "code=8.0,8.9@12.8;cpp";
  auto traits = traits_with(known);
  std::erase_if(*traits.runs_on, [](const RunsOn& row) { return row.capability < Capability{7, 5}; });
  const auto code_on = [&](const std::string& gpu) {
    const auto target = parse_target(
        "gpu=" + gpu + ",torch=2.9.1+cu128,python=3.12,platform=linux_x86_64,libc=glibc2.35,driver=570", {});
    REQUIRE_MESSAGE(target, target.error().message);
    return judge_wheel_for(traits, known.candidate, *target).code;
  };
  CHECK(code_on("V100") == "RES107");
  CHECK(code_on("GTX 1080") == "RES107");
  CHECK(code_on("3.7") == "RES207");  // of it nothing is known
  const auto orin = std::ranges::find(*traits.runs_on, Capability{8, 7}, &RunsOn::capability);
  REQUIRE(orin != traits.runs_on->end());
  orin->verdict = RunVerdict::unknown;  // as each wheel with another's code: the CUDA there decides
  CHECK(code_on("V100") == "RES107");
  CHECK(code_on("GTX 1080") == "RES107");
  traits.runs_on->front().verdict = RunVerdict::unknown;
  CHECK(code_on("V100") == "RES207");
}

TEST_CASE("an arch set in a name refuses no GPU that its package serves without a module") {
  Known known;
  known.candidate.file = "sageattention-2.2.0+cu130.torch2.11.0.sm89-cp312-cp312-manylinux_2_28_x86_64.whl";
  auto traits = traits_with(known);
  const auto target =
      parse_target("gpu=RTX 3090,torch=2.11.0+cu130,python=3.12,platform=linux_x86_64,libc=glibc2.35,driver=580", {})
          .value();
  CHECK(judge_wheel_for(traits, known.candidate, target).code == "RES107");
  traits.without_modules = {{8, 6}};
  CHECK(judge_wheel_for(traits, known.candidate, target).code == "RES207");
}

TEST_CASE("verify --gpu is advised only where a plugin has cases for the package") {
  Known known;
  known.candidate.file = "bitsandbytes-0.49.0-py3-none-manylinux_2_28_x86_64.whl";
  known.facts = "code=9.0@13.0;notorch;cudart=12/13";
  auto traits = traits_with(known);
  const auto target =
      parse_target("gpu=H100,torch=2.11.0+cu130,python=3.12,platform=linux_x86_64,libc=glibc2.35,driver=580", {})
          .value();
  CHECK(judge_wheel_for(traits, known.candidate, target).code == "RES206");
  CHECK(judge_wheel_for(traits, known.candidate, target).would_tell == "import it and run it on that machine");
  traits.has_cases = true;
  CHECK(judge_wheel_for(traits, known.candidate, target).would_tell ==
        "verify --gpu --interpreter PYTHON on that machine");
}

TEST_CASE("a file that was given is not asked for") {
  Known known;
  known.candidate.file = "sageattention-2.2.0+torch2.11.0-cp312-cp312-manylinux_2_28_x86_64.whl";
  const auto target =
      parse_target("gpu=H100,torch=2.11.0+cu130,python=3.12,platform=linux_x86_64,libc=glibc2.35,driver=580", {})
          .value();
  const auto told = [&](Traits traits, bool names_only) {
    traits.names_only = names_only;
    const auto ruling = judge_wheel_for(traits, known.candidate, target);
    return ruling.code + " " + ruling.would_tell;
  };
  CHECK(told(traits_with(known), false).starts_with("RES206 the file itself tells: give it"));
  CHECK(told(traits_with(known), true) == "RES206 the file itself tells: leave out --names-only");
  known.facts = "code=9.0@13.0;cpp";
  CHECK(told(traits_with(known), false) == "RES206 import it and run it on that machine");
  known.candidate.file = "sageattention-2.2.0+cu130torch2.11.0-cp312-cp312-manylinux_2_28_x86_64.whl";
  known.facts.clear();
  CHECK(told(traits_with(known), true) == "RES207 the file itself tells: leave out --names-only");
}

TEST_CASE("without torch it is to be installed, for install takes none by --for") {
  Known known;
  known.candidate.file = "tiny_kernels-1.0-cp312-cp312-manylinux_2_28_x86_64.whl";
  known.facts = "code=9.0@13.0;notorch";
  const auto ruling_with = [&](const std::string& torch) {
    const auto target =
        parse_target(torch + "gpu=H100,python=3.12,platform=linux_x86_64,libc=glibc2.35,driver=580", {});
    REQUIRE_MESSAGE(target, target.error().message);
    return judge_wheel_for(traits_with(known), known.candidate, *target);
  };
  CHECK(ruling_with("torch=none,").code == "RES206");
  CHECK(ruling_with("torch=none,").would_tell == "install torch there first");
  CHECK(ruling_with("").would_tell == "--for torch=2.9.1+cu130");
  // What was said is said in full, not beside another torch.
  CHECK(ruling_with("torch=2.11,").would_tell == "torch=2.11+cu130 in --for");
}

TEST_CASE("wheels that are here are looked into until it is stopped") {
  struct NoPrograms : CommandRunner {
    Result<CommandResult> run(const Command&, std::stop_token) override {
      return fail(ErrorKind::machine, "CMD001", "no such program");
    }
  } runner;
  Candidate candidate;
  candidate.file = "tiny_kernels-1.0-cp312-cp312-manylinux_2_28_x86_64.whl";
  candidate.address = candidate.place = "/nonexistent/" + candidate.file;
  const auto target =
      parse_target("gpu=H100,torch=2.11.0+cu130,python=3.12,platform=linux_x86_64,libc=glibc2.35,driver=580", {});
  REQUIRE(target);
  std::stop_source stop;
  REQUIRE(resolve({candidate}, *target, {}, runner, stop.get_token()));
  stop.request_stop();
  const auto stopped = resolve({candidate}, *target, {}, runner, stop.get_token());
  REQUIRE_FALSE(stopped);
  CHECK(stopped.error().kind == ErrorKind::interrupted);
}
