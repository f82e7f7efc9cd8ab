#include "archive/wheel_archive.hpp"
#include "package/kept_verdict.hpp"
#include "package/wheel_layout.hpp"
#include "support/text.hpp"
#include "support/wheel_builder.hpp"
#include "unit/verify/fixture.hpp"

#include <sagekit/package.hpp>

#include <random>

using namespace sagekit;
using namespace sagekit::test;

namespace {

/// Packages the demo into `output`; the report of a refusal fails the test.
Result<Verdict<PackagedWheel>> pack(DemoBuild& demo, const std::filesystem::path& output,
                                    const std::string& naming = "") {
  const auto folder = scratch();
  const Spec spec = demo_spec();
  ScriptedRunner runner;
  const auto verified = verify_build(spec, nullptr, demo.stage(folder.path()), {}, runner);
  REQUIRE(verified);
  if (!*verified) FAIL(failures(verified->error()));
  PackageOptions options;
  options.output_folder = output;
  options.naming = naming;
  auto made = write_package(**verified, spec, nullptr, spec.source.revisions[0], options, runner);
  if (made && !*made) FAIL(failures(made->error()));
  return made;
}

PackagedWheel packed(DemoBuild& demo, const std::filesystem::path& output, const std::string& naming = "") {
  auto made = pack(demo, output, naming);
  if (!made) FAIL(made.error().message);
  return **made;
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

/// The members in the order they lie in the file.
std::vector<std::string> members_of(const std::filesystem::path& wheel) {
  const auto archive = WheelArchive::open(wheel);
  REQUIRE(archive);
  auto members = archive->members();
  std::ranges::sort(members, {}, &ZipMember::header_offset);
  std::vector<std::string> names;
  for (const auto& member : members) names.push_back(member.name);
  return names;
}

std::string text_of(const std::filesystem::path& wheel, const std::string& end) {
  const auto archive = WheelArchive::open(wheel);
  REQUIRE(archive);
  for (const auto& member : archive->members())
    if (member.name.ends_with(end)) return archive->read(member).value_or("");
  return "";
}

}  // namespace

TEST_CASE("a verified build becomes a wheel that its own judge passes under every check") {
  const auto output = scratch();
  DemoBuild demo;
  const auto made = packed(demo, output.path() / "dist");
  CHECK(made.cell == demo.build.cell.id);
  CHECK(made.path.filename() == demo.build.cell.wheel);
  CHECK(made.report.pass);
  CHECK(made.sha256 == sha256_file(made.path).value_or(""));
  CHECK(made.size_bytes == std::filesystem::file_size(made.path));
  CHECK_FALSE(made.unchanged);
  CHECK(names_in(output.path() / "dist") == std::vector<std::string>{demo.build.cell.wheel});
  for (const auto* code : {"ZIP100", "INF100", "INF101", "INF102", "INF103", "INF104", "INF129", "INF105", "TRU002",
                           "TRU003", "CNT004", "CNT008", "FAT101", "RUN001"}) {
    CAPTURE(code);
    CHECK(passed(made.report, code));
  }
}

TEST_CASE("members are sorted, dist-info is last and RECORD the very last") {
  const auto output = scratch();
  DemoBuild demo;
  const std::string info = "demo-1.2.0+cu130.torch2.11.20260117.g1111111.dist-info/";
  CHECK(members_of(packed(demo, output.path()).path) ==
        std::vector<std::string>{"demo/__init__.py", "demo/_a" + k_suffix, "demo/_b" + k_suffix, "demo/ops.py",
                                 "demo/raw.so", info + "licenses/LICENSE", info + "licenses/NVIDIA-CUDA-RUNTIME.txt",
                                 info + "sboms/sagekit.cdx.json", info + "sagekit.json", info + "WHEEL",
                                 info + "METADATA", info + "RECORD"});
}

TEST_CASE("a CUDA runtime that is linked in is named among the licences") {
  const auto output = scratch();
  DemoBuild demo;
  Spec spec = demo_spec();
  for (auto& kernel : spec.kernels) kernel.torch_free = kernel.module == "demo.raw";
  spec.metadata.license = "MIT OR Apache-2.0";
  Revision revision;
  revision.commit = k_commit;
  const auto layout = lay_out_wheel(demo.stage(output.path()), spec, revision);
  REQUIRE(layout);
  const auto text = [&](std::string_view end) {
    for (const auto& entry : layout->entries)
      if (entry.name.ends_with(end)) return std::string(entry.bytes);
    return std::string();
  };
  CHECK(text("METADATA")
            .find("License-Expression: (MIT OR Apache-2.0) AND LicenseRef-NVIDIA-CUDA-EULA\n"
                  "License-File: LICENSE\nLicense-File: NVIDIA-CUDA-RUNTIME.txt\n") != std::string::npos);
  CHECK(text(".dist-info/licenses/NVIDIA-CUDA-RUNTIME.txt").find("CUDA 13.0 runtime") != std::string::npos);
  CHECK(text("RECORD").find(".dist-info/licenses/NVIDIA-CUDA-RUNTIME.txt,sha256=") != std::string::npos);
}

TEST_CASE("equal inputs give equal bytes, wherever and whenever they are packed") {
  const auto one = scratch(), two = scratch();
  DemoBuild first, second;
  const auto a = packed(first, one.path());
  for (const auto& file : second.build.files)
    std::filesystem::last_write_time(file.file, std::filesystem::file_time_type{});
  const auto b = packed(second, two.path() / "another folder");
  CHECK(a.sha256 == b.sha256);
}

TEST_CASE("the same wheel twice is unchanged; another one under its name is refused with both hashes") {
  const auto output = scratch();
  DemoBuild demo;
  const auto first = packed(demo, output.path());
  CHECK(packed(demo, output.path()).unchanged);
  demo.files["demo/ops.py"] = "def walk(): pass\n";
  const auto second = pack(demo, output.path());
  REQUIRE_FALSE(second);
  CHECK(second.error().code == "PKG001");
  CHECK(second.error().kind == ErrorKind::failed);
  CHECK(second.error().message.find(first.sha256) != std::string::npos);
  CHECK(sha256_file(first.path).value_or("") == first.sha256);
  CHECK(names_in(output.path()).size() == 1);
}

TEST_CASE("before a build a name is free, or taken by what may be the same wheel, or by another one") {
  const auto output = scratch();
  DemoBuild demo;
  Plan plan;
  plan.plugin_name = "demo";
  plan.commit = demo.build.commit;
  Cell cell = demo.build.cell;
  const auto why = [&] {
    const auto free = check_wheel_name(plan, cell, output.path());
    if (free) return std::string();
    CHECK(free.error().code == "PKG001");
    CHECK(free.error().kind == ErrorKind::failed);
    return free.error().message;
  };
  CHECK(why().empty());
  const auto made = packed(demo, output.path());
  CHECK(why().empty());
  cell.arches.pop_back();
  CHECK(why().ends_with("its arch list is 8.0 9.0a, not 8.0"));
  cell = demo.build.cell;
  cell.cuda = "12.9";
  CHECK(why().ends_with("its CUDA is 13.0, not 12.9"));
  cell = demo.build.cell;
  plan.commit = std::string(40, 'f');
  CHECK(why().ends_with("its source is " + demo.build.commit + ", not " + plan.commit));
  plan.commit = demo.build.commit;
  REQUIRE(write_file_atomic(made.path, "no wheel"));
  CHECK(why().ends_with("it does not say that sagekit made it"));
}

TEST_CASE("one for every later torch is known again by its least torch, not by whose headers it was compiled with") {
  const auto output = scratch();
  DemoBuild demo;
  demo.build.cell.torch_min = "2.9";
  Plan plan;
  plan.plugin_name = "demo";
  plan.commit = demo.build.commit;
  packed(demo, output.path());
  CHECK(check_wheel_name(plan, demo.build.cell, output.path()));
  demo.build.cell.torch = "2.11.0";
  CHECK(check_wheel_name(plan, demo.build.cell, output.path()));
  demo.build.cell.torch_min = "2.10";
  const auto other = check_wheel_name(plan, demo.build.cell, output.path());
  REQUIRE_FALSE(other);
  CHECK(other.error().message.ends_with("its torch is 2.9, not 2.10"));
}

TEST_CASE("another naming scheme changes the name, the folder and the texts together") {
  const auto output = scratch();
  for (const auto& [scheme, name] : std::vector<std::pair<std::string, std::string>>{
           {"build-tag", "demo-1.2.0-2110.130-cp312-cp312-linux_x86_64.whl"},
           {"local-version", "demo-1.2.0+cu130torch2.11.0-cp312-cp312-linux_x86_64.whl"},
           {"plain", "demo-1.2.0-cp312-cp312-linux_x86_64.whl"}}) {
    DemoBuild demo;
    const auto made = packed(demo, output.path() / scheme, scheme);
    CHECK(made.path.filename() == name);
    CHECK(made.report.pass);
    if (scheme == "build-tag") CHECK(text_of(made.path, "/WHEEL").find("Build: 2110.130\n") != std::string::npos);
  }
  DemoBuild demo;
  const auto wrong = pack(demo, output.path(), "plan");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code == "PKG005");
  CHECK(wrong.error().hint.find("plain") != std::string::npos);
}

TEST_CASE("a long description is whole, and METADATA is the last member but one") {
  const auto output = scratch();
  DemoBuild demo;
  std::mt19937 random(1);
  for (int i = 0; i < 40000; ++i) demo.build.readme += i % 100 == 99 ? '\n' : static_cast<char>('0' + random() % 75);
  const auto made = packed(demo, output.path());
  CHECK(text_of(made.path, "/METADATA").ends_with("\n\n" + demo.build.readme));
  const auto members = members_of(made.path);
  REQUIRE(members.size() >= 2);
  CHECK(members[members.size() - 2].ends_with(".dist-info/METADATA"));
  CHECK(members.back().ends_with(".dist-info/RECORD"));
}

TEST_CASE("a file that changes between the two judgements stops the wheel") {
  const auto folder = scratch(), output = scratch();
  const Spec spec = demo_spec();
  ScriptedRunner runner;
  DemoBuild demo;
  const auto verified = verify_build(spec, nullptr, demo.stage(folder.path()), {}, runner);
  REQUIRE(verified);
  REQUIRE(*verified);
  REQUIRE(write_file_atomic(demo.build.files[0].file, "changed\n"));
  PackageOptions options;
  options.output_folder = output.path();
  const auto made = write_package(**verified, spec, nullptr, spec.source.revisions[0], options, runner);
  REQUIRE_FALSE(made);
  CHECK(made.error().code == "PKG003");
  CHECK(names_in(output.path()).empty());
}

namespace {

/// A made wheel, taken apart to be changed and put together again.
struct OpenWheel {
  std::string name, info;
  std::map<std::string, std::string> members;

  explicit OpenWheel(const PackagedWheel& made) : name(made.path.filename().string()) {
    const auto archive = WheelArchive::open(made.path);
    REQUIRE(archive);
    for (const auto& member : archive->members()) members[member.name] = archive->read(member).value_or("");
    for (const auto& [path, text] : members)
      if (path.ends_with("/RECORD")) info = path.substr(0, path.rfind('/') + 1);
  }
  std::string& at(const std::string& end) {
    for (auto& [path, text] : members)
      if (path.ends_with(end)) return text;
    FAIL("no " << end);
    return members.begin()->second;
  }
  void write_record() {
    std::string record;
    for (const auto& [path, text] : members)
      if (path != info + "RECORD")
        record += path + "," + sha256_record(text) + "," + std::to_string(text.size()) + "\n";
    members[info + "RECORD"] = record + info + "RECORD,,\n";
  }
  WheelReport judge(bool own_record = false) {
    if (!own_record) write_record();
    ZipBuilder zip;
    for (const bool inside : {false, true})
      for (const auto& [path, text] : members)
        if (path.starts_with(info) == inside && path != info + "RECORD") zip.add(path, text);
    if (members.contains(info + "RECORD")) zip.add(info + "RECORD", members[info + "RECORD"]);
    const auto folder = scratch();
    const auto file = folder.path() / name;
    REQUIRE(write_file_atomic(file, zip.build()));
    ScriptedRunner runner;
    const Spec spec = demo_spec();
    const auto verdict = verify_own_wheel(file, name, spec, nullptr, {}, runner);
    REQUIRE(verdict);
    return *verdict ? (*verdict)->report() : verdict->error();
  }
};

}  // namespace

TEST_CASE("a wheel that was tampered with is caught under the right code") {
  const auto output = scratch();
  DemoBuild demo;
  const auto made = packed(demo, output.path());
  {
    OpenWheel same(made);
    const auto report = same.judge();
    CAPTURE(failures(report));
    CHECK(report.pass);
  }
  const auto a = "demo/_a" + k_suffix;
  struct Case {
    std::string code;
    std::function<void(OpenWheel&)> change;
    bool own_record = false;
  };
  const std::vector<Case> cases{
      {"INF006", [](OpenWheel& w) { w.name.replace(w.name.find("1.2.0"), 5, "1.3.0"); }},
      {"INF009", [](OpenWheel& w) { w.name.replace(w.name.find("cp312-cp312"), 11, "cp311-cp311"); }},
      {"INF010", [](OpenWheel& w) { w.name.replace(w.name.find("-cp312"), 6, "-1-cp312"); }},
      {"INF016", [](OpenWheel& w) { w.at("ops.py") = "def tun():\n    pass\n"; }, true},
      {"INF013", [](OpenWheel& w) { w.members["demo/more.py"] = "x"; }, true},
      {"INF014", [](OpenWheel& w) { w.members.erase("demo/ops.py"); }, true},
      {"INF101", [](OpenWheel& w) { w.at("/METADATA").replace(w.at("/METADATA").find("2.11.*"), 6, "2.10.*"); }},
      {"INF101",
       [](OpenWheel& w) { w.at("/METADATA").replace(w.at("/METADATA").find("Requires-Dist"), 13, "X-Requires-Di"); }},
      {"INF102",
       [](OpenWheel& w) { w.at("/METADATA") = replace_all(w.at("/METADATA"), "License-File", "X-License-Fi"); }},
      {"INF023", [](OpenWheel& w) { w.members.erase(w.info + "licenses/LICENSE"); }},
      {"INF103", [](OpenWheel& w) { w.at("/WHEEL").replace(w.at("/WHEEL").find("sagekit"), 7, "bdist_w"); }},
      {"INF129", [](OpenWheel& w) { w.at("/WHEEL").replace(w.at("/WHEEL").find("false"), 5, "true"); }},
      {"INF105",
       [](OpenWheel& w) { w.at("/METADATA").replace(w.at("/METADATA").find("torch==2.11.*"), 13, "torch==2.11.0"); }},
      {"TRU002", [](OpenWheel& w) { w.members.erase(w.info + "sagekit.json"); }},
      {"TRU003", [](OpenWheel& w) { w.at("/sagekit.json") = "{}"; }},
      {"TRU003",
       [](OpenWheel& w) { w.at("/sagekit.json").replace(w.at("/sagekit.json").find("\"2.11.0\""), 8, "\"2.10.0\""); }},
      {"TRU003",
       [](OpenWheel& w) { w.at("/sagekit.json").replace(w.at("/sagekit.json").find("11111111"), 8, "33333333"); }},
      {"CNT002", [a](OpenWheel& w) { w.members.erase(a); }},
      {"FAT101", [a](OpenWheel& w) { w.members[a] = demo_module("_a", {{90, 'a'}}).build(); }},
      {"RUN001", [a](OpenWheel& w) { w.members[a] = demo_module("_a", {{90, 'a'}}).build(); }},
      {"FAT103", [a](OpenWheel& w) { w.members[a] = demo_module("_a", {}).build(); }},
      {"TRU001", [](OpenWheel& w) { w.at("ops.py") = "def run(): pass\ndef run(): pass\n"; }},
      {"CNT001", [](OpenWheel& w) { w.members["demo/a.cu"] = "x"; }},
  };
  for (const auto& one : cases) {
    CAPTURE(one.code);
    OpenWheel wheel(made);
    one.change(wheel);
    const auto report = wheel.judge(one.own_record);
    CAPTURE(failures(report));
    CHECK_FALSE(report.pass);
    REQUIRE_FALSE(trouble(report, one.code).empty());
    CHECK(trouble(report, one.code)[0].result == FindingResult::fail);
  }
}

TEST_CASE("a good wheel under a wrong file name is judged by what METADATA and WHEEL call it") {
  const auto output = scratch();
  DemoBuild demo;
  const OpenWheel made(packed(demo, output.path()));
  const auto right = OpenWheel(made).judge();
  for (const auto& [name, code] : {std::pair{std::string("demo.zip"), "NAM001"}, {"demo-1.2.0 (1).whl", "NAM006"}}) {
    CAPTURE(name);
    OpenWheel wheel(made);
    wheel.name = name;
    const auto report = wheel.judge();
    CAPTURE(failures(report));
    CHECK(std::ranges::count(report.findings, FindingResult::fail, &Finding::result) == 1);
    CHECK(failures(report).starts_with(code));
    CHECK((report.python == right.python && report.abi == right.abi && report.platform == right.platform));
    for (const auto& one : right.findings)
      if (!one.code.starts_with("RUN")) CHECK((passed(report, one.code) == passed(right, one.code)));
    // Its code is right for each arch: the name's finding is the one that it has.
    CHECK(trouble(report, "RUN001").at(0).result == FindingResult::skipped);
    CHECK(trouble(report, "RUN001")[0].message == report.unusable);
    CHECK(row(report, {9, 0}).reason == report.unusable);
  }
  OpenWheel hollow(made);
  hollow.name = "demo.zip";
  for (auto& [path, text] : hollow.members)
    if (path.ends_with("_a" + k_suffix)) text = demo_module("_a", {{90, 'a'}}).build();
  CHECK(trouble(hollow.judge(), "RUN001").at(0).result == FindingResult::fail);
}

TEST_CASE("a wheel outside the size band warns") {
  const auto output = scratch();
  DemoBuild demo;
  std::mt19937 random(1);
  std::string noise(std::size_t{2} << 20, ' ');
  for (auto& c : noise) c = static_cast<char>(random());
  demo.files["demo/noise.py"] = noise;
  const auto made = packed(demo, output.path());
  REQUIRE_FALSE(trouble(made.report, "CNT004").empty());
  CHECK(trouble(made.report, "CNT004")[0].result == FindingResult::warn);
}

TEST_CASE("a kept verdict is for the Pythons that gave it, and for their environment") {
  PackageOptions options;
  options.verify.child_environment["PATH"] = "/usr/bin";
  const auto key = [&] { return verdict_key("plugin", Revision{}, options).value(); };
  const auto alone = key();
  options.verify.child_environment["PATH"] = "/opt/bin:/usr/bin";
  CHECK(key() == alone);  // nobody was asked
  options.verify.interpreters = {"/usr/bin/true"};
  const auto asked = key();
  CHECK(asked != alone);
  options.verify.child_environment["PATH"] = "/usr/bin";
  CHECK(key() != asked);
}
