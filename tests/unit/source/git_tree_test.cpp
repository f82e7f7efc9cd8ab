#include "source/git_tree.hpp"

#include "support/scratch_files.hpp"
#include "support/text.hpp"

#include <sagekit/command.hpp>

using namespace sagekit;
using namespace sagekit::test;

namespace {

/// stdout of git in a folder; "" when there is no git.
std::string git(const fs::path& folder, std::vector<std::string> arguments) {
  Command command;
  command.argv = {"git", "-C", folder.string(), "-c", "user.name=t", "-c", "user.email=t@t"};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.environment = {
      {"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"GIT_CONFIG_NOSYSTEM", "1"}, {"HOME", folder.string()}};
  command.separate_stderr = true;
  const auto result = make_local_runner()->run(command);
  return result && result->ok() ? trim(result->output) : "";
}

}  // namespace

TEST_CASE("the empty blob and the empty tree have git's well-known ids") {
  CHECK(blob_id("") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
  CHECK(tree_id({}) == "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
}

TEST_CASE("a folder's tree id is the one git computes") {
  const auto folder = temporary();
  const auto& root = folder.path();
  // Names whose order differs when a folder's slash is left out of the comparison.
  for (const std::string name : {"a.c", "a/x", "a0", "a-b/y", "b/c/d/e", "ünï/cö de", "z"})
    write(root / name, name + "\n");
  REQUIRE(write_file_atomic(root / "tool", "#!/bin/sh\n", true));
  fs::create_symlink("a/x", root / "link");
  fs::create_directories(root / "empty/folder");
  if (git(root, {"init", "--quiet", "."}).empty() && !fs::exists(root / ".git")) {
    MESSAGE("skipped: there is no git to compare with");
    return;
  }
  git(root, {"add", "-A"});
  const auto entries = list_folder(root);
  REQUIRE(entries);
  CHECK(entries->size() == 9);
  CHECK(tree_id(*entries) == git(root, {"write-tree"}));
  fs::permissions(root / "z", fs::perms::owner_exec, fs::perm_options::add);
  CHECK(tree_id(*list_folder(root)) != git(root, {"write-tree"}));
}

TEST_CASE("a listing reads back as it was written and refuses what is none") {
  const std::vector<TreeEntry> entries{{"100644", "a b/c", blob_id("x")}, {"160000", "sub", blob_id("y")}};
  const auto again = parse_tree_listing(tree_listing(entries));
  REQUIRE(again);
  CHECK(*again == entries);
  const auto id = blob_id("");
  const std::vector<std::string> bad_lines{"100644 " + id + " ../up",
                                           "100644 " + id + " /root",
                                           "100644 " + id + " a/.git/config",
                                           "100644 " + id + " a//b",
                                           "100600 " + id + " a",
                                           "100644 12ab a",
                                           "words"};
  for (const auto& bad : bad_lines) CHECK_MESSAGE(parse_tree_listing(bad).error().code == "SRC006", bad);
  CHECK(parse_ls_tree("100644 blob " + id + "\ta b" + std::string(1, '\0'))->front().path == "a b");
}
