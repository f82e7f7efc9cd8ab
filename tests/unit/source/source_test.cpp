#include "source/source.hpp"

#include "archive/archive.hpp"
#include "source/prepared_source.hpp"
#include "support/text.hpp"
#include "unit/source/fake_source.hpp"

#include <algorithm>

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
  FakeSource tree;
  write(tree.source() / "csrc/a.cu", "changed\n");
  CountingRunner runner;
  const auto ready = tree.prepare(runner);
  REQUIRE_FALSE(ready);
  CHECK(ready.error().code == "SRC003");
  CHECK(ready.error().kind == ErrorKind::usage);
  CHECK(ready.error().message.find(tree.plan.revision.tree) != std::string::npos);
  CHECK(ready.error().message.find(tree_id(*list_folder(tree.source()))) != std::string::npos);
  CHECK(runner.steps == 0);
  CHECK(fs::is_empty(tree.options.store / "tmp"));
}

TEST_CASE("a changed folder is refused although a ready copy of the pinned one is in the store") {
  FakeSource tree;
  CountingRunner runner;
  REQUIRE(tree.prepare(runner));
  write(tree.source() / "csrc/extra.cu", "more\n");
  CHECK(tree.prepare(runner).error().code == "SRC003");
}

TEST_CASE("a git work tree is built as it is only when it is the pinned commit, unchanged") {
  if (!has_git()) return;
  FakeSource tree;
  tree.plan.commit = commit_all(tree.source());
  tree.spec.source.include = {"csrc/**", "pkg/**", "!**/*.txt", "LICENSE", "README.md", "not-in-this-revision"};
  CountingRunner runner;
  const auto ready = tree.prepare(runner);
  REQUIRE_MESSAGE(ready.has_value(), (ready ? "" : ready.error().message));
  CHECK(text_of(ready->folder / "csrc/a.cu") == "kernel a\n");

  write(tree.source() / "not-needed.txt", "mine\n");
  CHECK(tree.prepare(runner).has_value());
  write(tree.source() / "csrc/a.cu", "changed\n");
  const auto changed = tree.prepare(runner);
  REQUIRE_FALSE(changed);
  CHECK(changed.error().code == "SRC012");
  CHECK(changed.error().message.find("csrc/a.cu of the source is changed: it is 100644 ") != std::string::npos);
  fs::remove(tree.source() / "csrc/a.cu");  // stash brings no file back that was never checked out
  const auto lost = tree.prepare(runner);
  REQUIRE_FALSE(lost);
  CHECK(lost.error().code == "SRC012");
  CHECK(lost.error().hint.find("/.git") != std::string::npos);
  CHECK(lost.error().hint.ends_with(", which needs no files"));
  write(tree.source() / "csrc/a.cu", "changed\n");
  commit_all(tree.source());
  const auto moved = tree.prepare(runner);
  REQUIRE_FALSE(moved);
  CHECK(moved.error().code == "SRC011");
  CHECK(moved.error().message.find(tree.plan.commit) != std::string::npos);

  tree.plan.commit = std::string(40, 'd');
  fs::remove_all(tree.options.store);
  const auto missing = tree.prepare(runner);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == "SRC002");
}

TEST_CASE("a url is fetched at the pinned commit, once") {
  if (!has_git()) return;
  FakeSource tree;
  tree.plan.commit = commit_all(tree.source());
  tree.plan.source_url = "file://" + tree.source().string();
  tree.options.source.clear();
  CountingRunner runner;
  const auto ready = tree.prepare(runner);
  REQUIRE_MESSAGE(ready.has_value(), (ready ? "" : ready.error().message));
  REQUIRE(tree.fetches_said.size() == 1);
  fs::remove_all(tree.source());
  CHECK(tree.prepare(runner).has_value());  // the copy in the store
  CHECK(tree.fetches_said.size() == 1);

  fs::remove_all(tree.options.store);
  const auto gone = tree.prepare(runner);
  REQUIRE_FALSE(gone);
  CHECK(gone.error().code == "SRC001");
  CHECK(gone.error().kind == ErrorKind::failed);
}

TEST_CASE("offline nothing is fetched over a network, and what was fetched before serves") {
  if (!has_git()) return;
  FakeSource tree;
  tree.plan.commit = commit_all(tree.source());
  tree.plan.source_url = "https://127.0.0.1:1/source.git";
  tree.options.source.clear();
  tree.options.offline = true;
  CountingRunner runner;
  int fetches = 0;
  runner.instead = [&](const Command& command, const std::stop_token&) -> std::optional<Result<CommandResult>> {
    if (command.argv.front() != "git") return std::nullopt;
    fetches += std::ranges::find(command.argv, "fetch") != command.argv.end();
    CHECK(command.environment.at("GIT_ALLOW_PROTOCOL") == "file");
    return std::nullopt;
  };
  const auto ready = tree.prepare(runner);
  REQUIRE_FALSE(ready);
  CHECK(ready.error().code == "SRC001");
  CHECK(ready.error().message.find("--offline") != std::string::npos);
  CHECK(fetches == 0);

  tree.plan.source_url = "file://" + tree.source().string();  // needs no network
  REQUIRE(tree.prepare(runner));
  fs::remove_all(tree.options.store / "sources");
  fs::remove_all(tree.source());
  CHECK(tree.prepare(runner).has_value());  // from the store's git
  CHECK(fetches == 1);
}

TEST_CASE("an archive with one folder at its top is a source; a damaged one and one that leaves its folder are not") {
  FakeSource tree;
  if (!shell(tree.folder.path(), "tar czf source.tar.gz 'source tree'").ok()) {
    MESSAGE("skipped: there is no tar");
    return;
  }
  tree.options.source = (tree.folder.path() / "source.tar.gz").string();
  CountingRunner runner;
  const auto ready = tree.prepare(runner);
  REQUIRE_MESSAGE(ready.has_value(), (ready ? "" : ready.error().message));

  const auto whole = text_of(tree.options.source);
  write(tree.options.source, whole.substr(0, whole.size() / 2));
  CHECK(tree.prepare(runner).error().code == "SRC005");
  write(tree.options.source, "no archive");
  CHECK(tree.prepare(runner).error().code == "SRC005");

  write(tree.folder.path() / "inner/x", "x");
  CHECK(shell(tree.folder.path() / "inner",
              "tar cPf ../evil.tar ../LICENSE ../inner/../inner/x 2>/dev/null || "
              "tar cPf ../evil.tar ../inner/x")
            .ok());
  const auto out = tree.folder.path() / "out/deep";
  fs::create_directories(out);
  CHECK(unpack_archive(tree.folder.path() / "evil.tar", out).error().code == "SRC005");
  CHECK(fs::is_empty(out));
}

TEST_CASE("a pruned folder is checked against the listing of its whole tree") {
  FakeSource tree;
  const auto listing = tree_listing(*list_folder(tree.source()));
  write(tree.source() / k_tree_listing, listing);
  fs::remove(tree.source() / "pkg/notes.txt");
  CountingRunner runner;
  const auto lacking = tree.prepare(runner);
  REQUIRE_FALSE(lacking);
  CHECK(lacking.error().code == "SRC008");
  CHECK(lacking.error().message.find("pkg/notes.txt") != std::string::npos);

  tree.spec.source.include = {"**", "!pkg/*.txt"};
  CHECK(tree.prepare(runner).has_value());

  write(tree.source() / "csrc/a.cu", "changed\n");
  CHECK(tree.prepare(runner).error().code == "SRC003");
  write(tree.source() / "csrc/a.cu", "kernel a\n");
  write(tree.source() / "csrc/more.cu", "not of the tree\n");
  CHECK(tree.prepare(runner).error().code == "SRC003");
  fs::remove(tree.source() / "csrc/more.cu");
  write(tree.source() / k_tree_listing, listing.substr(listing.find('\n') + 1));
  CHECK(tree.prepare(runner).error().code == "SRC003");
}

TEST_CASE("edits change a copy, exactly as often as declared, or name file, text and counts") {
  FakeSource tree;
  SourceEdit edit;
  edit.id = "louder";
  edit.file = "csrc/a.cu";
  edit.find = "kernel";
  edit.replace = "KERNEL";
  tree.spec.source.edits = {edit};
  CountingRunner runner;
  const auto ready = tree.prepare(runner);
  REQUIRE(ready);
  CHECK(text_of(ready->folder / "csrc/a.cu") == "KERNEL a\n");
  CHECK(text_of(tree.source() / "csrc/a.cu") == "kernel a\n");
  CHECK(ready->edits == std::vector<std::string>{"louder"});

  tree.spec.source.edits[0].count = 2;
  tree.spec.source.edits[0].id = "twice";
  const auto twice = tree.prepare(runner);
  REQUIRE_FALSE(twice);
  CHECK(twice.error().code == "SRC004");
  CHECK(twice.error().message ==
        "edit \"twice\" cannot be applied: csrc/a.cu holds the text \"kernel\" 1 times, expected 2");
  tree.spec.source.edits[0].file = "csrc/gone.cu";
  tree.spec.source.edits[0].id = "gone";
  CHECK(tree.prepare(runner).error().code == "SRC004");
}

TEST_CASE("an edit that mends a defect is applied to revisions that have it, unless the defect is allowed") {
  FakeSource tree;
  SourceEdit edit;
  edit.id = "mend";
  tree.spec.source.edits = {edit};
  Defect defect;
  defect.id = "broken";
  defect.edit = "mend";
  tree.spec.source.defects = {defect};
  CHECK(edits_for(tree.spec, tree.plan).empty());
  tree.plan.revision.defects = {"broken"};
  CHECK(edits_for(tree.spec, tree.plan).size() == 1);
  tree.plan.allowed_defects = {"broken"};
  CHECK(edits_for(tree.spec, tree.plan).empty());
}

TEST_CASE("a vendored tree is checked by its own id and placed at its path") {
  FakeSource tree;
  const auto vendored_folder = tree.folder.path() / "vendored";
  write(vendored_folder / "include/v.h", "vendored\n");
  Vendored vendored;
  vendored.name = "cutlass";
  vendored.path = "third_party/cutlass";
  vendored.commit = std::string(40, 'e');
  vendored.tree = tree_id(*list_folder(vendored_folder));
  tree.spec.source.vendored = {vendored};
  tree.options.vendored = {{"cutlass", vendored_folder.string()}};
  CountingRunner runner;
  const auto ready = tree.prepare(runner);
  REQUIRE_MESSAGE(ready.has_value(), (ready ? "" : ready.error().message));
  CHECK(text_of(ready->root / "third_party/cutlass/include/v.h") == "vendored\n");

  write(vendored_folder / "include/v.h", "another\n");
  CHECK(tree.prepare(runner).error().code == "SRC003");
  tree.options.vendored = {{"cutlas", vendored_folder.string()}};
  const auto misspelt = tree.prepare(runner);
  REQUIRE_FALSE(misspelt);
  CHECK(misspelt.error().code == "SRC009");
  CHECK(misspelt.error().hint.find("cutlass") != std::string::npos);
}
