#include "support/pe_builder.hpp"
#include "support/wheel_builder.hpp"
#include "unit/verify/fixture.hpp"

using namespace sagekit;
using namespace sagekit::test;

namespace {

namespace fs = std::filesystem;

WheelBuilder some_wheel() {
  WheelBuilder wheel;
  wheel.files.emplace_back("tiny_kernels/_k" + k_suffix, demo_module("_k", {{80, 0}}).build());
  return wheel;
}

/// What an installer makes of a wheel: the same files, and its own.
void unpack(const WheelBuilder& wheel, const fs::path& folder, bool installed, const std::string& more_record = "") {
  for (const auto& [name, content] : wheel.all_but_record()) REQUIRE(write_file_atomic(folder / name, content));
  std::string record = wheel.right_record() + more_record;
  if (installed) {
    REQUIRE(write_file_atomic(folder / wheel.folder / "INSTALLER", "pip\n"));
    record += wheel.folder + "/INSTALLER," + sha256_record("pip\n") + ",4\n../../bin/tiny,,\n" +
              "tiny_kernels/__pycache__/__init__.cpython-312.pyc,,\n";
    REQUIRE(write_file_atomic(folder / "tiny_kernels/__pycache__/__init__.cpython-312.pyc", "x"));
  }
  REQUIRE(write_file_atomic(folder / wheel.folder / "RECORD", record));
}

Result<std::vector<WheelReport>> judge(const fs::path& folder, const std::vector<std::string>& packages = {},
                                       const VerifyOptions& options = {}) {
  ScriptedRunner runner;
  return verify_folder(folder, {packages}, {}, options, runner);
}

WheelReport one(const Result<std::vector<WheelReport>>& reports) {
  if (!reports) FAIL(reports.error().message);
  REQUIRE(reports->size() == 1);
  return reports->front();
}

}  // namespace

TEST_CASE("of a folder, too, a hash that nobody here computes is skipped") {
  const auto folder = scratch();
  const auto wheel = some_wheel();
  unpack(wheel, folder.path(), false);
  const auto record = folder.path() / wheel.folder / "RECORD";
  auto text = read_file(record).value_or("");
  text.replace(text.find("sha256"), 6, "shake_256");
  REQUIRE(write_file(record, text));
  const auto report = one(judge(folder.path()));
  CAPTURE(failures(report));
  CHECK(report.pass);
  for (const auto* code : {"INF016", "INF100"}) {
    REQUIRE(trouble(report, code).size() == 1);
    CHECK(trouble(report, code)[0].result == FindingResult::skipped);
  }
}

TEST_CASE("an unpacked wheel is judged as the wheel would be, but for archive and file name") {
  const auto folder = scratch();
  unpack(some_wheel(), folder.path(), false);
  const auto report = one(judge(folder.path()));
  CAPTURE(failures(report));
  CHECK(report.pass);
  CHECK(report.kind == ArtifactKind::unpacked);
  for (const auto* code : {"INF100", "INF104", "ELF001", "PYA001", "PYA002"}) CHECK(passed(report, code));
  for (const auto* code : {"ZIP100", "NAM101"}) {
    REQUIRE(trouble(report, code).size() == 1);
    CHECK(trouble(report, code)[0].result == FindingResult::skipped);
  }
  CHECK(row(report, {8, 0}).verdict == RunVerdict::yes);
  VerifyOptions options;
  options.require = {"ZIP"};
  CHECK_FALSE(one(judge(folder.path(), {}, options)).pass);
}

TEST_CASE("an installed package is what its RECORD lists; what installers and Python write is no fault") {
  const auto folder = scratch();
  unpack(some_wheel(), folder.path(), true);
  REQUIRE(write_file_atomic(folder.path() / "stranger.py", "x = 1\n"));
  for (const auto& path : {folder.path(), folder.path() / "tiny_kernels-1.2.0.dist-info"}) {
    const auto report = one(judge(path));
    CAPTURE(failures(report));
    CHECK(report.pass);
    CHECK(report.kind == ArtifactKind::installed);
    CHECK(passed(report, "INF100"));
    CHECK(passed(report, "TRU006"));
  }
}

TEST_CASE("a changed, a missing and a false file of an installed package are found") {
  const auto folder = scratch();
  unpack(some_wheel(), folder.path(), true);
  REQUIRE(write_file_atomic(folder.path() / "tiny_kernels/data.txt", "other text"));
  fs::remove(folder.path() / "tiny_kernels/__init__.py");
  const auto report = one(judge(folder.path()));
  CHECK(trouble(report, "INF016").size() == 1);
  CHECK(trouble(report, "INF014").size() == 1);
  CHECK_FALSE(report.pass);
}

TEST_CASE("of a site-packages every package with modules is judged, or the chosen one") {
  const auto folder = scratch();
  unpack(some_wheel(), folder.path(), true);
  WheelBuilder pure;
  pure.folder = "plain-1.0.dist-info";
  pure.metadata = "Metadata-Version: 2.1\nName: Plain\nVersion: 1.0\n\n";
  pure.wheel = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n";
  pure.files = {{"plain.py", "x = 1\n"}};
  pure.licence_path = "LICENSE";
  unpack(pure, folder.path(), true);
  const auto all = judge(folder.path());
  CHECK(one(all).path.ends_with("tiny_kernels-1.2.0.dist-info"));
  const auto chosen = one(judge(folder.path(), {"PLAIN"}));
  CAPTURE(failures(chosen));
  CHECK(chosen.pass);
  CHECK(chosen.path.ends_with("plain-1.0.dist-info"));
  const auto wrong = judge(folder.path(), {"tiny-kernel"});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code == "VFY004");
  CHECK(wrong.error().kind == ErrorKind::no_match);
  CHECK(wrong.error().hint.find("tiny-kernels") != std::string::npos);
}

TEST_CASE("a link out of the folder is not followed and not passed; one inside is as good as a file") {
  const auto folder = scratch();
  const auto elsewhere = scratch();
  unpack(some_wheel(), folder.path(), true);
  const auto module = folder.path() / ("tiny_kernels/_k" + k_suffix);
  fs::rename(module, elsewhere.path() / "k.so");
  fs::create_symlink(elsewhere.path() / "k.so", module);
  const auto report = one(judge(folder.path()));
  CHECK_FALSE(report.pass);
  CHECK(trouble(report, "VFY007").size() == 1);
  fs::remove(module);
  fs::rename(elsewhere.path() / "k.so", folder.path() / "k.so");
  fs::create_symlink("../k.so", module);
  CHECK(one(judge(folder.path())).pass);
}

TEST_CASE("an editable install is said to be one") {
  const auto folder = scratch();
  auto wheel = some_wheel();
  const std::string text = R"({"url": "file:///home/me/tree", "dir_info": {"editable": true}})";
  wheel.files.emplace_back(wheel.folder + "/direct_url.json", text);
  unpack(wheel, folder.path(), true);
  const auto report = one(judge(folder.path()));
  REQUIRE(trouble(report, "TRU006").size() == 1);
  CHECK(trouble(report, "TRU006")[0].message.find("/home/me/tree") != std::string::npos);
}

TEST_CASE("a folder of modules without dist-info is judged by its modules; one with nothing is an error") {
  const auto folder = scratch();
  CHECK(judge(folder.path()).error().code == "VFY005");
  CHECK(judge(folder.path() / "nowhere").error().code == "FIL001");
  REQUIRE(write_file_atomic(folder.path() / ("pkg/_k" + k_suffix), demo_module("_k", {{90, 'a'}}).build()));
  const auto report = one(judge(folder.path()));
  CAPTURE(failures(report));
  CHECK(report.pass);
  CHECK(report.kind == ArtifactKind::folder);
  CHECK(trouble(report, "INF100")[0].result == FindingResult::skipped);
  CHECK(row(report, {9, 0}).verdict == RunVerdict::yes);
}

TEST_CASE("an interpreter says where its packages are") {
  const auto folder = scratch();
  ScriptedRunner runner;
  CommandResult result;
  result.output = "/nowhere/at/all\n" + folder.path().string() + "\n" + folder.path().string() + "\n";
  runner.answers = {result};
  const auto found = package_folders("/usr/bin/python3", {}, runner);
  REQUIRE(found);
  CHECK(*found == std::vector{folder.path()});
  result.exit_code = 1;
  runner.answers = {result};
  runner.calls.clear();
  CHECK(package_folders("/usr/bin/python3", {}, runner).error().code == "VFY006");
}

TEST_CASE("what only a tag could tell is skipped where nothing says the tags, and no module is called bad for it") {
  PeBuilder pe;
  pe.imports = {{"python312.dll", {"PyModule_Create2"}}};
  pe.exports = {"PyInit__k"};
  const auto folder = scratch();
  REQUIRE(write_file_atomic(folder.path() / "pkg/_k.cp312-win_amd64.pyd", pe.build()));
  REQUIRE(write_file_atomic(folder.path() / "pkg/_t.abi3.so", demo_module("_t", {{90, 'a'}}).build()));
  WheelBuilder wheel;
  wheel.with_wheel = false;
  wheel.files.emplace_back("tiny_kernels/_k.cp312-win_amd64.pyd", pe.build());
  const auto file = folder.path() / "tiny.whl";
  REQUIRE(write_file_atomic(file, wheel.zip().build()));
  ScriptedRunner runner;
  const auto misnamed = verify_wheel(file, "", {}, {}, runner);
  REQUIRE(misnamed);
  for (const auto& report : {one(judge(folder.path() / "pkg")), *misnamed}) {
    CAPTURE(report.path);
    CHECK(trouble(report, "CNT001").empty());
    for (const std::string code : {"PYA005", "ELF001", "ELF006", "LBC003", "LBC006", "LBC007"}) {
      CAPTURE(code);
      REQUIRE(trouble(report, code).size() == 1);
      CHECK(trouble(report, code)[0].result == FindingResult::skipped);
    }
  }
  CHECK(trouble(*misnamed, "PYA001").at(0).result == FindingResult::skipped);
  CHECK(trouble(*misnamed, "ZIP101").at(0).result == FindingResult::skipped);
}
