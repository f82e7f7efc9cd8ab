#include "support/archive.hpp"

#include "inspect/archive_reader.hpp"
#include "support/elf_builder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdio>

using namespace sagekit;

namespace {

/// One member of a POSIX tar archive.
std::string tar_member(const std::string& name, const std::string& content, char type = '0') {
  std::string header(512, '\0');
  const auto put = [&](std::size_t at, const std::string& text) { header.replace(at, text.size(), text); };
  std::array<char, 16> number{};
  put(0, name);
  put(100, "0000644");
  std::snprintf(number.data(), number.size(), "%011zo", content.size());
  put(124, number.data());
  put(136, "00000000000");
  put(148, "        ");
  header[156] = type;
  put(257, std::string("ustar\0", 6) + "00");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  std::snprintf(number.data(), number.size(), "%06o", sum);
  put(148, number.data() + std::string(1, '\0') + " ");
  return header + content + std::string((512 - content.size() % 512) % 512, '\0');
}

std::string tar(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string bytes;
  for (const auto& [name, content] : files) bytes += tar_member(name, content);
  return bytes + std::string(1024, '\0');
}

std::string ar_member(const std::string& name, const std::string& content) {
  std::array<char, 64> header{};
  std::snprintf(header.data(), header.size(), "%-16s%-12s%-6s%-6s%-8s%-10zu`\n", name.c_str(), "0", "0", "0", "100644",
                content.size());
  return header.data() + content + (content.size() % 2 == 1 ? "\n" : "");
}

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

TEST_CASE("links and folders are no files") {
  const auto facts = read(tar_member("link", "", '2') + tar_member("folder/", "", '5') + tar({{"a", "b"}}));
  REQUIRE(facts);
  CHECK(facts->members.size() == 1);
}
