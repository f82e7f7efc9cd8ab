#include "support/file.hpp"
#include "toolchain/tree_store.hpp"

#include <sagekit/provision.hpp>

#include <doctest/doctest.h>

using namespace sagekit;
namespace fs = std::filesystem;

namespace {

struct Silent : ProvisionObserver {
  void on_transfer(const TransferState&) override {}
  void on_message(const std::string& text) override { said += text + "\n"; }
  std::string said;
};

struct Machine {
  TemporaryFolder folder = TemporaryFolder::create(fs::temp_directory_path(), "provision").value();
  Silent observer;
  ProvisionOptions options;

  Machine() {
    options.store = folder.path() / "store";
    options.lock = folder.path() / "sagekit.lock";
    options.offline = true;
  }
  Result<Provisioned> ask(const TreeNeed& need) { return provision(need, options, observer); }
  Tree put(const TreeNeed& need, const std::string& text) {
    auto stage = TreeStage::open(options.store, need, [] {}).value();
    REQUIRE(stage.add("a", text, false));
    LockedTree pins{need.kind,
                    need.kind == TreeKind::torch ? need.torch : need.cuda + ".88",
                    need.cuda,
                    need.platform,
                    ToolSource::wheels,
                    "",
                    {},
                    {}};
    return stage.publish(options.store, pins, "").value();
  }
};

const TreeNeed k_nvcc{TreeKind::nvcc, "13.0", "", "linux_x86_64"};
const TreeNeed k_torch{TreeKind::torch, "13.0", "2.11.0", "linux_aarch64"};

}  // namespace

TEST_CASE("what is no release or no platform is refused before anything is looked up") {
  Machine machine;
  const auto refused = [&](TreeNeed need, const std::string& word) {
    const auto answer = machine.ask(need);
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code == "PRV001");
    CHECK(answer.error().kind == ErrorKind::usage);
    CHECK_MESSAGE(answer.error().message.find(word) != std::string::npos, answer.error().message);
  };
  for (const auto* cuda : {"13", "13.0.2", "thirteen", "", "13.", "013.0", "13.0rc1"})
    refused({TreeKind::nvcc, cuda, "", "linux_x86_64"}, "CUDA release");
  for (const auto* torch : {"2.11", "2.11.0+cu130", "2", "", "2.11.0rc1"})
    refused({TreeKind::torch, "13.0", torch, "linux_x86_64"}, "torch release");
  for (const auto* platform : {"windows", "win32", "linux", "", "linux_ppc64le", "x86_64"})
    refused({TreeKind::torch, "13.0", "2.11.0", platform}, "toolchains for");
  refused({TreeKind::nvcc, "13.0", "", "win_amd64"},
          "toolchains for");  // nvcc runs here; torch's headers may be Windows'
  CHECK(machine.ask({TreeKind::torch, "13.0", "2.11.0", "win_amd64"}).error().code == "PRV010");
}

TEST_CASE("offline, a tree that is not there is the machine's lack, one that is there is taken and pinned") {
  Machine machine;
  const auto none = machine.ask(k_nvcc);
  REQUIRE_FALSE(none);
  CHECK(none.error().code == "PRV010");
  CHECK(none.error().kind == ErrorKind::machine);

  const auto tree = machine.put(k_nvcc, "one");
  const auto found = machine.ask(k_nvcc);
  REQUIRE(found);
  CHECK(found->tree.id == tree.id);
  CHECK_FALSE(found->fetched);
  CHECK(machine.observer.said.find("trusted on first use") != std::string::npos);
  CHECK(read_lock(machine.options.lock, {})->find(k_nvcc)->id == tree.id);
}

TEST_CASE("a tree of a store that is only read is pinned all the same, and nothing stays beside the lock") {
  Machine machine;
  const auto tree = machine.put(k_nvcc, "one");
  const auto partial = machine.options.store / ".partial";
  fs::remove_all(partial);
  REQUIRE(write_file(partial, "in the way, of root too"));
  REQUIRE(machine.ask(k_nvcc));
  CHECK(read_lock(machine.options.lock, {})->find(k_nvcc)->id == tree.id);
  CHECK_FALSE(fs::exists(machine.options.lock.string() + ".lock"));
}

TEST_CASE("with a lock only the very tree that it pins counts") {
  Machine machine;
  const auto pinned = machine.put(k_torch, "one");
  REQUIRE(machine.ask(k_torch));
  REQUIRE(remove_tree(pinned));
  machine.put(k_torch, "another");
  CHECK(machine.ask(k_torch).error().code == "PRV010");
}

TEST_CASE("locked, what is not pinned is refused even when it is there, and the lock stays as it is") {
  Machine machine;
  machine.put(k_nvcc, "one");
  machine.options.locked = true;
  const auto answer = machine.ask(k_nvcc);
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == "PRV009");
  CHECK_FALSE(fs::exists(machine.options.lock));
}

TEST_CASE("a tree of a source that may not be used is not taken") {
  Machine machine;
  machine.put(k_nvcc, "one");
  machine.options.sources = {ToolSource::redist};
  CHECK_FALSE(machine.ask(k_nvcc));
}

TEST_CASE("a damaged lock stops everything, with its place") {
  Machine machine;
  REQUIRE(write_file(machine.options.lock, "version = 1\n[[tree]\n"));
  const auto answer = machine.ask(k_nvcc);
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == "PRV003");
  CHECK(answer.error().message.find("sagekit.lock:2") != std::string::npos);
}
