#include "toolchain/lock.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace sagekit;

namespace {

const std::string k_hash(64, 'a');

LockedTree torch_tree(const std::string& version, const std::string& cuda) {
  LockedTree tree{TreeKind::torch, version, cuda, "linux_x86_64", ToolSource::wheels, "torch-" + version, {}, {}};
  tree.files.push_back({"torch", version, "torch-" + version + "-cp312-cp312-manylinux_2_28_x86_64.whl", 530712279,
                        k_hash, k_hash, k_hash});
  tree.exports.push_back({"libtorch_cpu.so", k_hash});
  tree.exports.push_back({"libc10.so", k_hash});
  return tree;
}

}  // namespace

TEST_CASE("what a lock's text says is what was put into it") {
  Lock lock;
  lock.set(torch_tree("2.11.0", "13.0"));
  lock.set({TreeKind::nvcc,
            "13.0.88",
            "13.0",
            "linux_x86_64",
            ToolSource::redist,
            "nvcc-13.0.88",
            {{"cuda_nvcc", "13.0.88", "a/b.tar.xz", 0, "", "", ""}},
            {}});
  const auto text = lock_text(lock);
  const auto again = parse_lock(text, "sagekit.lock");
  REQUIRE(again);
  CHECK(again->trees == lock.trees);
  CHECK(lock_text(*again) == text);
  CHECK(again->trees.front().kind == TreeKind::nvcc);
}

TEST_CASE("a lock has one tree for a need, the last one put in") {
  Lock lock;
  lock.set(torch_tree("2.11.0", "13.0"));
  auto other = torch_tree("2.11.0", "13.0");
  other.id = "another";
  lock.set(other);
  lock.set(torch_tree("2.11.0", "12.8"));
  CHECK(lock.trees.size() == 2);
  const auto* found = lock.find({TreeKind::torch, "13.0", "2.11.0", "linux_x86_64"});
  REQUIRE(found != nullptr);
  CHECK(found->id == "another");
  CHECK(lock.find({TreeKind::torch, "13.0", "2.11.0", "linux_aarch64"}) == nullptr);
  CHECK(lock.find({TreeKind::nvcc, "13.0", "", "linux_x86_64"}) == nullptr);
}

TEST_CASE("an nvcc tree answers for every patch release of its CUDA") {
  LockedTree tree{TreeKind::nvcc, "13.0.88", "13.0", "linux_x86_64", ToolSource::wheels, "x", {}, {}};
  CHECK(answers(tree, {TreeKind::nvcc, "13.0", "", "linux_x86_64"}));
  CHECK_FALSE(answers(tree, {TreeKind::nvcc, "13.1", "", "linux_x86_64"}));
}

TEST_CASE("what is no lock is refused with its place") {
  const auto refused = [](const std::string& text, const std::string& place) {
    const auto lock = parse_lock(text, "my.lock");
    REQUIRE_FALSE(lock);
    CHECK(lock.error().code == "PRV003");
    CHECK(lock.error().kind == ErrorKind::usage);
    CHECK_MESSAGE(lock.error().message.find(place) != std::string::npos, lock.error().message);
  };
  refused("version = 1\nversions = 2\n", "my.lock:2:");
  refused("version = 2\n", "later sagekit");
  refused("[[tree]]\nkind = 1\n", "my.lock:");
  refused("", "my.lock");
  refused(
      "version = "
      "1\n[[tree]]\nkind=\"nvcc\"\nversion=\"1\"\ncuda=\"1\"\nplatform=\"p\"\nsource=\"wheels\"\nid=\"../x\"\n",
      "name of a folder");
  refused(
      "version = "
      "1\n[[tree]]\nkind=\"nvcc\"\nversion=\"1\"\ncuda=\"1\"\nplatform=\"p\"\nsource=\"wheels\"\nid=\"x\"\n[[tree.file]"
      "]\nproject=\"a\"\nversion=\"1\"\nname=\"b\"\nsha256=\"12\"\n",
      "sha256");
}

TEST_CASE("a lock that is not there is empty, one that cannot be read is an error") {
  const auto none = read_lock("/nowhere/sagekit.lock", {});
  REQUIRE(none);
  CHECK(none->trees.empty());
  CHECK_FALSE(read_lock("/", {}));
}
