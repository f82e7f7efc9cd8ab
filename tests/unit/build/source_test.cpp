#include "archive/archive.hpp"
#include "fake_build.hpp"
#include "source/prepared_source.hpp"

using namespace sagekit;
using namespace sagekit::test;

namespace {

CommandResult shell(const fs::path& folder, const std::string& script) {
  Command command;
  command.argv = {"/bin/sh", "-c", script};
  command.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"HOME", folder.string()}};
  command.working_directory = folder;
  const auto result = make_local_runner()->run(command);
  REQUIRE(result);
  return *result;
}

std::string commit_all(const fs::path& folder) {
  return trim(shell(folder,
                    "git init -q . && git add -A && git -c user.name=t -c user.email=t@t commit -q -m x && "
                    "git rev-parse HEAD")
                  .output);
}

bool has_git() {
  const auto folder = temporary();
  const bool there = shell(folder.path(), "git --version").ok();
  if (!there) MESSAGE("skipped: there is no git");
  return there;
}

}  // namespace

TEST_CASE("a folder that is not the pinned tree is refused with both ids") {
  FakePackage package;
  write(package.source() / "csrc/a.cu", "changed\n");
  CountingRunner runner;
  const auto build = package.build(runner);
  REQUIRE_FALSE(build);
  CHECK(build.error().code == "SRC003");
  CHECK(build.error().kind == ErrorKind::usage);
  CHECK(build.error().message.find(package.plan.revision.tree) != std::string::npos);
  CHECK(build.error().message.find(tree_id(*list_folder(package.source()))) != std::string::npos);
  CHECK(runner.steps == 0);
  CHECK(fs::is_empty(package.options.store / "tmp"));
}

TEST_CASE("a changed folder is refused although a ready copy of the pinned one is in the store") {
  FakePackage package;
  CountingRunner runner;
  REQUIRE(package.build(runner));
  write(package.source() / "csrc/extra.cu", "more\n");
  CHECK(package.build(runner).error().code == "SRC003");
}

TEST_CASE("a git work tree is built as it is only when it is the pinned commit, unchanged") {
  if (!has_git()) return;
  FakePackage package;
  package.plan.commit = commit_all(package.source());
  package.spec.source.include = {"csrc/**", "pkg/**", "!**/*.txt", "LICENSE", "README.md", "not-in-this-revision"};
  CountingRunner runner;
  const auto build = package.build(runner);
  REQUIRE_MESSAGE(build.has_value(), (build ? "" : build.error().message));
  CHECK(text_of(build->cells.front().files[1].file).starts_with("kernel a\n"));

  write(package.source() / "not-needed.txt", "mine\n");
  CHECK(package.build(runner).has_value());
  write(package.source() / "csrc/a.cu", "changed\n");
  const auto changed = package.build(runner);
  REQUIRE_FALSE(changed);
  CHECK(changed.error().code == "SRC012");
  CHECK(changed.error().message.find("csrc/a.cu of the source is changed: it is 100644 ") != std::string::npos);
  fs::remove(package.source() / "csrc/a.cu");  // stash brings no file back that was never checked out
  const auto lost = package.build(runner);
  REQUIRE_FALSE(lost);
  CHECK(lost.error().code == "SRC012");
  CHECK(lost.error().hint.find("/.git") != std::string::npos);
  CHECK(lost.error().hint.ends_with(", which needs no files"));
  write(package.source() / "csrc/a.cu", "changed\n");
  commit_all(package.source());
  const auto moved = package.build(runner);
  REQUIRE_FALSE(moved);
  CHECK(moved.error().code == "SRC011");
  CHECK(moved.error().message.find(package.plan.commit) != std::string::npos);

  package.plan.commit = std::string(40, 'd');
  fs::remove_all(package.options.store);
  const auto missing = package.build(runner);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == "SRC002");
}

TEST_CASE("a url is fetched at the pinned commit, once") {
  if (!has_git()) return;
  FakePackage package;
  package.plan.commit = commit_all(package.source());
  package.plan.source_url = "file://" + package.source().string();
  package.options.source.clear();
  CountingRunner runner;
  const auto build = package.build(runner);
  REQUIRE_MESSAGE(build.has_value(), (build ? "" : build.error().message));
  REQUIRE(package.watcher.messages.size() == 1);
  fs::remove_all(package.source());
  CHECK(package.build(runner)->steps_run == 0);

  fs::remove_all(package.options.store);
  const auto gone = package.build(runner);
  REQUIRE_FALSE(gone);
  CHECK(gone.error().code == "SRC001");
  CHECK(gone.error().kind == ErrorKind::failed);
}

TEST_CASE("offline nothing is fetched over a network, and what was fetched before serves") {
  if (!has_git()) return;
  FakePackage package;
  package.plan.commit = commit_all(package.source());
  package.plan.source_url = "https://127.0.0.1:1/source.git";
  package.options.source.clear();
  package.options.offline = true;
  CountingRunner runner;
  int fetches = 0;
  runner.instead = [&](const Command& command, const std::stop_token&) -> std::optional<Result<CommandResult>> {
    if (command.argv.front() != "git") return std::nullopt;
    fetches += std::ranges::find(command.argv, "fetch") != command.argv.end();
    CHECK(command.environment.at("GIT_ALLOW_PROTOCOL") == "file");
    return std::nullopt;
  };
  const auto build = package.build(runner);
  REQUIRE_FALSE(build);
  CHECK(build.error().code == "SRC001");
  CHECK(build.error().message.find("--offline") != std::string::npos);
  CHECK(fetches == 0);

  package.plan.source_url = "file://" + package.source().string();  // needs no network
  REQUIRE(package.build(runner));
  fs::remove_all(package.options.store / "sources");
  fs::remove_all(package.source());
  CHECK(package.build(runner).has_value());  // from the store's git
  CHECK(fetches == 1);
}

TEST_CASE("an archive with one folder at its top is a source; a damaged one and one that leaves its folder are not") {
  FakePackage package;
  if (!shell(package.folder.path(), "tar czf source.tar.gz 'source tree'").ok()) {
    MESSAGE("skipped: there is no tar");
    return;
  }
  package.options.source = (package.folder.path() / "source.tar.gz").string();
  CountingRunner runner;
  const auto build = package.build(runner);
  REQUIRE_MESSAGE(build.has_value(), (build ? "" : build.error().message));

  const auto whole = text_of(package.options.source);
  write(package.options.source, whole.substr(0, whole.size() / 2));
  CHECK(package.build(runner).error().code == "SRC005");
  write(package.options.source, "no archive");
  CHECK(package.build(runner).error().code == "SRC005");

  write(package.folder.path() / "inner/x", "x");
  CHECK(shell(package.folder.path() / "inner",
              "tar cPf ../evil.tar ../LICENSE ../inner/../inner/x 2>/dev/null || "
              "tar cPf ../evil.tar ../inner/x")
            .ok());
  const auto out = package.folder.path() / "out/deep";
  fs::create_directories(out);
  CHECK(unpack_archive(package.folder.path() / "evil.tar", out).error().code == "SRC005");
  CHECK(fs::is_empty(out));
}

TEST_CASE("a pruned folder is checked against the listing of its whole tree") {
  FakePackage package;
  const auto listing = tree_listing(*list_folder(package.source()));
  write(package.source() / k_tree_listing, listing);
  fs::remove(package.source() / "pkg/notes.txt");
  CountingRunner runner;
  const auto lacking = package.build(runner);
  REQUIRE_FALSE(lacking);
  CHECK(lacking.error().code == "SRC008");
  CHECK(lacking.error().message.find("pkg/notes.txt") != std::string::npos);

  package.spec.source.include = {"**", "!pkg/*.txt"};
  CHECK(package.build(runner).has_value());

  write(package.source() / "csrc/a.cu", "changed\n");
  CHECK(package.build(runner).error().code == "SRC003");
  write(package.source() / "csrc/a.cu", "kernel a\n");
  write(package.source() / "csrc/more.cu", "not of the tree\n");
  CHECK(package.build(runner).error().code == "SRC003");
  fs::remove(package.source() / "csrc/more.cu");
  write(package.source() / k_tree_listing, listing.substr(listing.find('\n') + 1));
  CHECK(package.build(runner).error().code == "SRC003");
}

TEST_CASE("edits change a copy, exactly as often as declared, or name file, text and counts") {
  FakePackage package;
  SourceEdit edit;
  edit.id = "louder";
  edit.file = "csrc/a.cu";
  edit.find = "kernel";
  edit.replace = "KERNEL";
  package.spec.source.edits = {edit};
  CountingRunner runner;
  const auto build = package.build(runner);
  REQUIRE(build);
  CHECK(text_of(build->cells.front().files[1].file) == "KERNEL a\nheader 1\nlinked\n");
  CHECK(text_of(package.source() / "csrc/a.cu") == "kernel a\n");
  CHECK(std::ranges::count(build->cells.front().provenance, "edit louder") == 1);

  package.spec.source.edits[0].count = 2;
  package.spec.source.edits[0].id = "twice";
  const auto twice = package.build(runner);
  REQUIRE_FALSE(twice);
  CHECK(twice.error().code == "SRC004");
  CHECK(twice.error().message ==
        "edit \"twice\" cannot be applied: csrc/a.cu holds the text \"kernel\" 1 times, expected 2");
  package.spec.source.edits[0].file = "csrc/gone.cu";
  package.spec.source.edits[0].id = "gone";
  CHECK(package.build(runner).error().code == "SRC004");
}

TEST_CASE("an edit that mends a defect is applied to revisions that have it, unless the defect is allowed") {
  FakePackage package;
  SourceEdit edit;
  edit.id = "mend";
  package.spec.source.edits = {edit};
  Defect defect;
  defect.id = "broken";
  defect.edit = "mend";
  package.spec.source.defects = {defect};
  CHECK(edits_for(package.spec, package.plan).empty());
  package.plan.revision.defects = {"broken"};
  CHECK(edits_for(package.spec, package.plan).size() == 1);
  package.plan.allowed_defects = {"broken"};
  CHECK(edits_for(package.spec, package.plan).empty());
}

TEST_CASE("a vendored tree is checked by its own id and placed at its path") {
  FakePackage package;
  const auto vendored_folder = package.folder.path() / "vendored";
  write(vendored_folder / "include/v.h", "vendored\n");
  Vendored vendored;
  vendored.name = "cutlass";
  vendored.path = "third_party/cutlass";
  vendored.commit = std::string(40, 'e');
  vendored.tree = tree_id(*list_folder(vendored_folder));
  package.spec.source.vendored = {vendored};
  package.options.vendored = {{"cutlass", vendored_folder.string()}};
  auto& argv = package.step("compile-a").argv;
  argv[4] = "third_party/cutlass/include/v.h";
  CountingRunner runner;
  const auto build = package.build(runner);
  REQUIRE_MESSAGE(build.has_value(), (build ? "" : build.error().message));
  CHECK(text_of(build->cells.front().files[1].file).starts_with("vendored\n"));

  write(vendored_folder / "include/v.h", "another\n");
  CHECK(package.build(runner).error().code == "SRC003");
  package.options.vendored = {{"cutlas", vendored_folder.string()}};
  const auto misspelt = package.build(runner);
  REQUIRE_FALSE(misspelt);
  CHECK(misspelt.error().code == "SRC009");
  CHECK(misspelt.error().hint.find("cutlass") != std::string::npos);
}
