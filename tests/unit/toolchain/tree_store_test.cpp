#include "toolchain/tree_store.hpp"

#include "support/sha256.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

using namespace sagekit;
namespace fs = std::filesystem;

namespace {

const TreeNeed k_need{TreeKind::nvcc, "13.0", "", "linux_x86_64"};

struct Stage {
  TemporaryFolder folder = TemporaryFolder::create(fs::temp_directory_path(), "trees é").value();
  TreeStage stage = open().value();
  LockedTree pins{TreeKind::nvcc, "13.0.88", "13.0", "linux_x86_64", ToolSource::wheels, "", {}, {}};

  Result<TreeStage> open() const {
    return TreeStage::open(folder.path(), k_need, [] {});
  }
};

}  // namespace

TEST_CASE("a tree appears under its name whole, and only then") {
  Stage s;
  REQUIRE(s.stage.add("bin/nvcc", "#!/bin/sh\n", true));
  REQUIRE(s.stage.add("include/cuda.h", "x", false));
  CHECK(trees(s.folder.path()).empty());
  const auto tree = s.stage.publish(s.folder.path(), s.pins, "");
  REQUIRE(tree);
  CHECK(tree->id.starts_with("nvcc-13.0.88-linux_x86_64-"));
  REQUIRE(trees(s.folder.path()).size() == 1);
  CHECK((fs::status(tree->folder / "bin/nvcc").permissions() & fs::perms::owner_exec) != fs::perms::none);
  CHECK(verify_tree(*tree).value().empty());
  CHECK_FALSE(fs::exists(s.folder.path() / ".partial" / "nvcc-13.0-linux_x86_64"));
}

TEST_CASE("its id depends on its files and on nothing else") {
  const auto id = [](std::string_view text) {
    Stage s;
    REQUIRE(s.stage.add("a", text, false));
    return s.stage.publish(s.folder.path(), s.pins, "").value().id;
  };
  CHECK(id("1") == id("1"));
  CHECK(id("1") != id("2"));
}

TEST_CASE("another tree than the pinned one is not published") {
  Stage s;
  REQUIRE(s.stage.add("a", "1", false));
  const auto tree = s.stage.publish(s.folder.path(), s.pins, "nvcc-13.0.88-linux_x86_64-000000000000");
  REQUIRE_FALSE(tree);
  CHECK(tree.error().code == "PRV006");
  CHECK(trees(s.folder.path()).empty());
}

TEST_CASE("altered, missing and foreign files of a tree are found") {
  Stage s;
  for (const auto* name : {"a", "b", "c"}) REQUIRE(s.stage.add(name, name, false));
  const auto tree = s.stage.publish(s.folder.path(), s.pins, "").value();
  std::ofstream(tree.folder / "a") << "other";
  fs::remove(tree.folder / "b");
  std::ofstream(tree.folder / "d") << "d";
  const auto wrong = verify_tree(tree).value();
  REQUIRE(wrong.size() == 3);
  CHECK(wrong[0].starts_with("a was altered"));
  CHECK(wrong[1] == "b is missing");
  CHECK(wrong[2] == "d does not belong to it");
}

TEST_CASE("a list that was mended to hide an altered file is found") {
  Stage s;
  REQUIRE(s.stage.add("a", "a", false));
  const auto tree = s.stage.publish(s.folder.path(), s.pins, "").value();
  std::ofstream(tree.folder / "a") << "other";
  std::ofstream(tree.folder / "SHA256SUMS") << sha256_hex("other") << "  a\n";
  CHECK(verify_tree(tree).value().size() == 1);
}

TEST_CASE("names that would leave the tree are refused") {
  Stage s;
  for (const auto* name : {"../a", "/etc/a", "a/../../b", "", "a//b", "./a", "a\nb", "tree.toml", "SHA256SUMS", "a\\b"})
    CHECK_FALSE(s.stage.add(name, "x", false));
}

TEST_CASE("what a stopped process left is taken up when it is right, and removed when nobody asks for it") {
  TemporaryFolder folder = TemporaryFolder::create(fs::temp_directory_path(), "trees").value();
  {
    auto stopped = TreeStage::open(folder.path(), k_need, [] {}).value();
    REQUIRE(stopped.add("kept", "kept", false));
    REQUIRE(stopped.add("half", "ha", false));
    REQUIRE(stopped.add("left", "left", false));
  }
  auto stage = TreeStage::open(folder.path(), k_need, [] {}).value();
  CHECK(stage.has("kept", sha256_hex("kept")));
  CHECK_FALSE(stage.has("half", sha256_hex("half")));
  CHECK_FALSE(stage.has("other", sha256_hex("other")));
  REQUIRE(stage.add("half", "half", false));
  LockedTree pins{TreeKind::nvcc, "13.0.88", "13.0", "linux_x86_64", ToolSource::wheels, "", {}, {}};
  const auto tree = stage.publish(folder.path(), pins, "").value();
  CHECK_FALSE(fs::exists(tree.folder / "left"));
  CHECK(verify_tree(tree).value().empty());
}

TEST_CASE("a link that was planted in the stage is not written through") {
  TemporaryFolder folder = TemporaryFolder::create(fs::temp_directory_path(), "trees").value();
  const fs::path outside = folder.path() / "outside";
  std::ofstream(outside) << "mine";
  auto stage = TreeStage::open(folder.path() / "store", k_need, [] {}).value();
  fs::create_symlink(outside, stage.folder() / "a");
  CHECK_FALSE(stage.has("a", sha256_hex("mine")));
  REQUIRE(stage.add("a", "theirs", false));
  CHECK(read_file(outside).value() == "mine");
}

TEST_CASE("a removed tree is gone, and a folder that is none is not taken for one") {
  Stage s;
  REQUIRE(s.stage.add("a", "a", false));
  const auto tree = s.stage.publish(s.folder.path(), s.pins, "").value();
  fs::create_directories(s.folder.path() / "other");
  fs::copy(tree.folder, s.folder.path() / "renamed", fs::copy_options::recursive);
  CHECK(trees(s.folder.path()).size() == 1);
  REQUIRE(remove_tree(tree));
  CHECK(trees(s.folder.path()).empty());
}

TEST_CASE("what a killed removal left goes with the next removal, fetch or clearing") {
  Stage s;
  const auto left = s.folder.path() / ".removed-nvcc-1";
  const auto leave = [&] { fs::create_directories(left / "bin"); };
  REQUIRE(s.stage.add("a", "a", false));
  const auto tree = s.stage.publish(s.folder.path(), s.pins, "").value();
  leave();
  REQUIRE(remove_tree(tree));
  CHECK_FALSE(fs::exists(left));
  leave();
  CHECK(TreeStage::open(s.folder.path(), {TreeKind::torch, "13.0", "2.11.0", "linux_x86_64"}, [] {}));
  CHECK_FALSE(fs::exists(left));
  leave();
  const auto removed = remove_unfinished(s.folder.path()).value();
  CHECK(std::ranges::count(removed, left) == 1);
  CHECK_FALSE(fs::exists(left));
}

TEST_CASE("what unfinished fetches left is removed, but not what a living one holds") {
  Stage s;
  REQUIRE(s.stage.add("a", "a", false));
  const TreeNeed other{TreeKind::torch, "13.0", "2.11.0", "linux_x86_64"};
  REQUIRE(TreeStage::open(s.folder.path(), other, [] {}).value().add("b", "b", false));
  const auto partial = s.folder.path() / ".partial";
  CHECK(remove_unfinished(s.folder.path()).value() == std::vector{partial / "torch-2.11.0-cu130-linux_x86_64"});
  CHECK_FALSE(fs::exists(partial / "torch-2.11.0-cu130-linux_x86_64"));
  CHECK(fs::exists(s.stage.folder() / "a"));
  const auto tree = s.stage.publish(s.folder.path(), s.pins, "");
  REQUIRE(tree);
  CHECK(verify_tree(*tree).value().empty());
  CHECK(remove_unfinished(s.folder.path() / "nowhere").value().empty());
}

TEST_CASE("a program of nvcc's whose mode a copy lost is found, and how it is given back") {
  Stage s;
  for (const auto* name : {"bin/nvcc", "nvvm/bin/cicc"}) REQUIRE(s.stage.add(name, "#!/bin/sh\n", true));
  REQUIRE(s.stage.add("bin/nvcc.profile", "x", false));
  const auto tree = s.stage.publish(s.folder.path(), s.pins, "").value();
  CHECK(verify_tree(tree).value().empty());
  for (const auto* name : {"bin/nvcc", "nvvm/bin/cicc"}) fs::permissions(tree.folder / name, fs::perms(0644));
  const auto wrong = verify_tree(tree).value();
  REQUIRE(wrong.size() == 2);
  CHECK(wrong[0].starts_with("bin/nvcc may not be executed"));
  CHECK(wrong[1].starts_with("nvvm/bin/cicc may not be executed"));
  REQUIRE(std::system(chmod_programs(tree.folder).c_str()) == 0);
  CHECK(verify_tree(tree).value().empty());
}

TEST_CASE("what another user may not read is not taken for absent") {
  Stage s;
  for (const auto* name : {"a", "bin/ptxas", "include/a.h", "include/crt/b.h"}) REQUIRE(s.stage.add(name, "a", true));
  const auto tree = s.stage.publish(s.folder.path(), s.pins, "").value();
  CHECK(closed_trees(s.folder.path()).empty());
  CHECK(closed_trees(s.folder.path() / "none").empty());
  const auto as_another = [](const auto& look) {
    const bool root = ::geteuid() == 0;
    if (root) REQUIRE(::seteuid(65534) == 0);
    auto seen = look();
    if (root) REQUIRE(::seteuid(0) == 0);
    return seen;
  };
  const auto closed = [&] { return as_another([&] { return closed_trees(s.folder.path()); }); };
  fs::permissions(s.folder.path(), fs::perms(0755));
  for (const auto& path : {tree.folder / "tree.toml", tree.folder, s.folder.path()}) {
    const auto before = fs::status(path).permissions();
    fs::permissions(path, fs::perms::none);
    const auto seen = closed();
    REQUIRE(seen.size() == 1);
    CHECK(seen[0].message == path.string() + " cannot be read: Permission denied");
    fs::permissions(path, before);
  }
  for (const auto* name : {"include", "bin/ptxas"}) {
    const auto before = fs::status(tree.folder / name).permissions();
    fs::permissions(tree.folder / name, fs::perms::none);
    CHECK(as_another([&] { return verify_tree(tree).value(); }) ==
          std::vector{std::string(name) + " cannot be read: Permission denied"});
    fs::permissions(tree.folder / name, before);
  }
}
