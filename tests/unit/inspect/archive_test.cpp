#include "archive/archive.hpp"

#include "inspect/archive_reader.hpp"
#include "support/elf_builder.hpp"
#include "support/tar_builder.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace sagekit;
using test::ar_member, test::tar, test::tar_member;

namespace {

Result<FileFacts> read(const std::string& bytes, InspectOptions options = {}) {
  return read_archive_file("a.tar", Bytes(bytes), options);
}

}  // namespace

TEST_CASE("a tarball's files are listed, its modules read") {
  test::ElfBuilder module;
  const auto bytes = tar({{"demo-1.0/setup.py", "x = 1\n"}, {"demo-1.0/demo/_k.so", module.build()}});
  CHECK(looks_like_archive(Bytes(bytes)));
  const auto facts = read(bytes);
  REQUIRE(facts);
  CHECK(facts->kind == "archive");
  REQUIRE(facts->members.size() == 2);
  CHECK(facts->members[0].path == "demo-1.0/demo/_k.so");
  CHECK(facts->members[0].elf.has_value());
  CHECK(facts->members[1].size_bytes == 6);
  CHECK(facts->members[1].sha256.size() == 64);
  CHECK(facts->sha256.size() == 64);
}

TEST_CASE("a Debian package's files are those of its inner archive") {
  const auto bytes =
      "!<arch>\n" + ar_member("debian-binary", "2.0\n") + ar_member("data.tar", tar({{"./usr/lib/libx.txt", "hello"}}));
  const auto facts = read(bytes);
  REQUIRE(facts);
  CHECK(std::ranges::count(facts->members, "./usr/lib/libx.txt", &MemberFacts::path) == 1);
  CHECK(std::ranges::count(facts->members, "data.tar", &MemberFacts::path) == 0);
}

TEST_CASE("an archive that is cut off says so, with what was there before") {
  auto bytes = tar({{"first", std::string(600, 'x')}, {"second", std::string(4000, 'y')}});
  bytes.resize(512 + 1024 + 512 + 100);
  const auto facts = read(bytes);
  REQUIRE(facts);
  CHECK(std::ranges::count(facts->members, "first", &MemberFacts::path) == 1);
  const auto rest = std::ranges::find(facts->members, "(the rest)", &MemberFacts::path);
  REQUIRE(rest != facts->members.end());
  CHECK(rest->problems[0].code == "INS060");
}

TEST_CASE("what is no archive, or passes a limit, is refused") {
  const auto none = read("hello, I am a text");
  REQUIRE_FALSE(none);
  CHECK(none.error().code == "INS060");
  CHECK(none.error().kind == ErrorKind::failed);
  InspectOptions little;
  little.memory_bytes = 100;
  CHECK_FALSE(read(tar({{"large", std::string(101, 'x')}}), little));
  const auto many = read_archive(tar({{"a", ""}, {"b", ""}, {"c", ""}}), {.entries = 2},
                                 [](const std::string&, std::string_view) { return Status(); });
  REQUIRE_FALSE(many);
  CHECK(many.error().code == "INS060");
}

TEST_CASE("what an archive unpacks to is bounded by its size, what folders claim to hold included") {
  const ArchiveLimits limits{.all_bytes = 2000};
  const auto nothing = [](const std::string&, std::string_view) { return Status(); };
  CHECK(read_archive(tar({{"a", std::string(1000, 'x')}, {"b", std::string(1000, 'x')}}), limits, nothing));
  CHECK_FALSE(read_archive(tar({{"a", std::string(1000, 'x')}, {"b", std::string(1001, 'x')}}), limits, nothing));
  CHECK_FALSE(read_archive(tar_member("folder/", std::string(2001, 'x'), '5') + tar({}), limits, nothing));
}

TEST_CASE("links and folders are no files") {
  const auto facts = read(tar_member("link", "", '2') + tar_member("folder/", "", '5') + tar({{"a", "b"}}));
  REQUIRE(facts);
  CHECK(facts->members.size() == 1);
}
