#include "inspect/diff_names.hpp"

#include <sagekit/diff.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace sagekit;

namespace {

MemberFacts file(std::string path, std::string sha256) {
  MemberFacts member;
  member.path = std::move(path);
  member.sha256 = std::move(sha256);
  member.size_bytes = 10;
  return member;
}

GpuCode code_for(Capability capability, std::vector<std::string> kernels) {
  GpuCode code;
  code.arch = {capability, ArchSuffix::none};
  code.count = 1;
  code.names = std::move(kernels);
  return code;
}

MemberFacts module(std::string path, std::string sha256, Capability capability, std::vector<std::string> kernels) {
  MemberFacts member = file(std::move(path), std::move(sha256));
  member.elf.emplace();
  member.elf->needed = {"libc.so.6"};
  member.gpu.push_back(code_for(capability, std::move(kernels)));
  return member;
}

KernelResources needs(std::uint32_t registers, std::uint64_t local_bytes) {
  KernelResources kernel;
  kernel.name = "f";
  kernel.registers = registers;
  kernel.local_store_bytes = local_bytes;
  return kernel;
}

FileFacts wheel(std::string version, std::vector<MemberFacts> members) {
  FileFacts facts;
  facts.path = "demo-" + version + ".whl";
  facts.kind = "wheel";
  facts.sha256 = "sha of " + version;
  facts.wheel.emplace();
  facts.wheel->metadata_version = version;
  facts.wheel->dist_info = "demo-" + version + ".dist-info";
  facts.members = std::move(members);
  std::ranges::sort(facts.members, {}, &MemberFacts::path);
  return facts;
}

const MemberChange* find(const FileDiff& diff, std::string_view path) {
  const auto found = std::ranges::find(diff.members, path, &MemberChange::path);
  return found == diff.members.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("a library and a module that are both for no Python do not differ in that") {
  auto before = module("a/_C.so", "1", {8, 0}, {}), after = module("a/_C.pyd", "2", {8, 0}, {});
  after.python_abi = "none";
  const auto fields = [](const MemberFacts& was, const MemberFacts& now) {
    const auto diff = diff_files(wheel("1", {was}), wheel("1", {now}));
    REQUIRE(diff.members.size() == 1);
    return diff.members.front().changes.fields;
  };
  CHECK(fields(before, after).empty());
  before.python_abi = "cp312";
  REQUIRE(fields(after, before).size() == 1);
  CHECK(fields(after, before).front().before == "none");
  after.python_abi.clear();
  CHECK(fields(after, before).front().before == "none");
}

TEST_CASE("a wheel does not differ from itself") {
  const auto one = wheel("1.0", {file("demo/a.py", "a"), module("demo/_k.so", "k", {9, 0}, {"f"})});
  const auto diff = diff_files(one, one);
  CHECK(diff.identical);
  CHECK(diff.changes.empty());
  CHECK(diff.members.empty());
  CHECK(diff.same == 2);
}

TEST_CASE("files that came, went and changed are told apart, across dist-info folders of two versions") {
  const auto before =
      wheel("1.0", {file("demo/a.py", "a"), file("demo/gone.py", "g"), file("demo-1.0.dist-info/METADATA", "m")});
  const auto after =
      wheel("1.1", {file("demo/a.py", "b"), file("demo/new.py", "n"), file("demo-1.1.dist-info/METADATA", "m")});
  const auto diff = diff_files(before, after);
  CHECK_FALSE(diff.identical);
  REQUIRE(diff.changes.fields.size() == 1);
  CHECK(diff.changes.fields[0] == FieldChange{"Version", "1.0", "1.1"});
  REQUIRE(diff.members.size() == 3);
  CHECK(find(diff, "demo/a.py")->kind == MemberChange::Kind::changed);
  CHECK(find(diff, "demo/gone.py")->kind == MemberChange::Kind::removed);
  CHECK(find(diff, "demo/new.py")->kind == MemberChange::Kind::added);
  CHECK(diff.same == 1);
}

TEST_CASE("a module for another Python is the same module, with what changed in its code") {
  const auto before = wheel("1.0", {module("demo/_k.cpython-312-x86_64-linux-gnu.so", "a", {9, 0}, {"f", "g"})});
  auto other = module("demo/_k.cpython-313-x86_64-linux-gnu.so", "b", {9, 0}, {"f", "h"});
  other.elf->needed.push_back("libtorch.so");
  other.gpu.push_back(code_for({12, 0}, {}));
  const auto diff = diff_files(before, wheel("1.0", {other}));
  REQUIRE(diff.members.size() == 1);
  const auto& member = diff.members[0];
  CHECK(member.kind == MemberChange::Kind::changed);
  CHECK(member.was == "demo/_k.cpython-312-x86_64-linux-gnu.so");
  const auto has = [&](const SetChange& wanted) { return std::ranges::count(member.changes.sets, wanted) == 1; };
  CHECK(has({"needed libraries", {}, {"libtorch.so"}}));
  CHECK(has({"GPU code", {}, {"sm_120"}}));
  CHECK(has({"sm_90 kernels", {"g"}, {"h"}}));
}

TEST_CASE("two modules of one stem are not mixed up") {
  const auto before = wheel("1.0", {module("demo/_k.abi3.so", "a", {9, 0}, {}), module("demo/_k.so", "b", {9, 0}, {})});
  const auto diff = diff_files(before, before);
  CHECK(diff.members.empty());
  CHECK(diff.same == 2);
}

TEST_CASE("what a kernel needs is compared where it was read") {
  auto before = module("demo/_k.so", "a", {9, 0}, {"f"}), after = module("demo/_k.so", "b", {9, 0}, {"f"});
  before.gpu[0].resources = {needs(96, 0)};
  after.gpu[0].resources = {needs(168, 64)};
  const auto diff = diff_files(wheel("1.0", {before}), wheel("1.0", {after}));
  REQUIRE(diff.members.size() == 1);
  const auto& fields = diff.members[0].changes.fields;
  CHECK(std::ranges::count(fields, FieldChange{"sm_90 f registers", "96", "168"}) == 1);
  CHECK(std::ranges::count(fields, FieldChange{"sm_90 f local bytes", "0", "64"}) == 1);
}

TEST_CASE("anonymous namespaces of two compilations are one") {
  CHECK(without_unique_parts("_ZN36_GLOBAL__N__2d2f4b3a_4_k_cu_9cb4bc2d1fEv") == "_ZN12_GLOBAL__N_11fEv");
  CHECK(without_unique_parts("_ZN12_GLOBAL__N_11fEv") == "_ZN12_GLOBAL__N_11fEv");
  CHECK(without_unique_parts("plain") == "plain");
  CHECK(without_unique_parts("_GLOBAL__N_") == "_GLOBAL__N_");
  CHECK(without_unique_parts("9999_GLOBAL__N_x") == "9999_GLOBAL__N_x");
}

TEST_CASE("the diff's JSON has its keys") {
  const auto json = diff_json(diff_files(wheel("1.0", {}), wheel("1.1", {file("x", "y")})));
  for (const auto* key : {"\"schema\": \"sagekit.diff/1\"", "\"before\"", "\"after\"", "\"identical\": false",
                          "\"same_members\": 0", "\"fields\"", "\"sets\"", "\"members\"", "\"change\": \"added\""})
    CHECK_MESSAGE(json.find(key) != std::string::npos, key);
}

TEST_CASE("a damaged module is one file that differs, and its damage is said") {
  const auto before = wheel("1.0", {module("demo/_k.so", "a", {9, 0}, {"f"}), file("demo/a.py", "same")});
  auto broken = file("demo/_k.so", "");
  broken.problems.push_back({Severity::error, "ZIP022", "demo/_k.so does not inflate", {"demo/_k.so", 0, 0, {}}, {}});
  auto after = wheel("1.0", {broken, file("demo/a.py", "same")});
  after.sha256 = "another";
  const auto diff = diff_files(before, after);
  REQUIRE(diff.members.size() == 1);
  CHECK(diff.members[0].kind == MemberChange::Kind::changed);
  REQUIRE(diff.members[0].changes.fields.size() == 1);
  CHECK(diff.members[0].changes.fields[0] == FieldChange{"readable", "yes", "no"});
  CHECK(diff.members[0].changes.sets.empty());
  CHECK(diff.before_damage.empty());
  REQUIRE(diff.after_damage.size() == 1);
  CHECK(diff_json(diff).find("ZIP022") != std::string::npos);
}
