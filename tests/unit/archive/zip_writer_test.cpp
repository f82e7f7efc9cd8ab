#include "archive/wheel_archive.hpp"
#include "archive/zip_splice.hpp"
#include "support/scratch_files.hpp"

#include <doctest/doctest.h>

#include <random>
#include <set>

using namespace sagekit;
using namespace sagekit::test;

TEST_CASE("a time becomes MS-DOS's, and what that cannot say becomes its first day") {
  const auto time = dos_time("2026-01-17T17:43:29Z");
  CHECK(time.date == ((2026 - 1980) << 9 | 1 << 5 | 17));
  CHECK(time.time == (17 << 11 | 43 << 5 | 14));
  for (const auto* text :
       {"1979-12-31T00:00:00Z", "2108-01-01T00:00:00Z", "", "yesterday", "2026-13-01T00:00:00Z", "2026-01-17"}) {
    CAPTURE(text);
    CHECK(dos_time(text) == DosTime{});
  }
}

TEST_CASE("what is written reads back, in order, with plain framing") {
  const auto folder = temporary();
  const std::string large(300000, 'x');
  const std::vector<sagekit::ZipEntry> entries{
      {"b/large.bin", large}, {"a.txt", "text\n"}, {"empty", ""}, {"d\xc3\xa4", "umlaut"}};
  REQUIRE(write_zip(folder.path() / "x.zip", entries, dos_time("2026-01-17T17:43:28Z")));
  const auto archive = WheelArchive::open(folder.path() / "x.zip");
  REQUIRE(archive);
  CHECK(archive->problems().empty());
  std::uint64_t last = 0;
  for (const auto& entry : entries) {
    const auto* member = archive->find(entry.name);
    REQUIRE(member);
    CHECK(archive->read(*member).value_or("") == entry.bytes);
    CHECK(member->header_offset >= last);
    last = member->header_offset;
    CHECK(member->mode == 0100644);
    CHECK((member->flags & 8) == 0);
    CHECK(((member->flags & 0x800) != 0) == (entry.name == "d\xc3\xa4"));
  }
  // Neither header has an extra field: the archive is exactly headers, names and data.
  std::uint64_t size = 22;
  for (const auto& member : archive->members()) size += 30 + 46 + 2 * member.name.size() + member.compressed_size;
  CHECK(archive->bytes().size() == size);
  CHECK(archive->bytes().substr(10, 4) == archive->bytes().substr(archive->find("a.txt")->header_offset + 10, 4));
}

TEST_CASE("the bytes are the same for any number of threads") {
  const auto folder = temporary();
  std::vector<std::string> contents;
  std::vector<sagekit::ZipEntry> entries;
  std::mt19937 random(7);
  for (int i = 0; i < 24; ++i) {
    auto& content = contents.emplace_back();
    for (int k = 0; k < 1000 * i; ++k) content += static_cast<char>(random() % 16);
  }
  for (std::size_t i = 0; i < contents.size(); ++i) entries.push_back({"m" + std::to_string(i), contents[i]});
  std::set<std::string> archives;
  for (const unsigned threads : {1u, 2u, 5u, 64u}) {
    const auto file = folder.path() / std::to_string(threads);
    REQUIRE(write_zip(file, entries, {}, threads));
    archives.insert(read_file(file).value_or(file.string()));
  }
  CHECK(archives.size() == 1);
  const auto archive = WheelArchive::open(folder.path() / "5");
  REQUIRE(archive);
  for (const auto& entry : entries) {
    const auto* member = archive->find(entry.name);
    REQUIRE(member);
    CHECK(member->method == k_zip_deflated);
    CHECK(archive->read(*member).value_or("damaged") == entry.bytes);
  }
}

TEST_CASE("a folder that is not there is an error with the reason") {
  const auto status = write_zip("/nowhere/at/all.zip", {{"a", "b"}}, {});
  REQUIRE_FALSE(status);
  CHECK(status.error().code == "PKG002");
}

TEST_CASE("what follows the front of another archive") {
  const auto folder = temporary();
  const auto time = dos_time("2026-01-17T17:43:28Z");
  const std::string large(200000, 'x');
  REQUIRE(write_zip(folder.path() / "old.zip", {{"a", large}, {"b", "b"}, {"c", "old"}}, time));
  const auto old = WheelArchive::open(folder.path() / "old.zip").value();
  const auto end = old.find("c")->header_offset;
  REQUIRE(write_zip_after(folder.path() / "new.zip", old, end, {{"d", "new"}, {"e", large}}, time));
  const auto made = WheelArchive::open(folder.path() / "new.zip").value();
  CHECK(made.problems().empty());
  CHECK(made.bytes().substr(0, end) == old.bytes().substr(0, end));
  CHECK(made.members().size() == 4);
  CHECK(made.read("a").value_or("") == large);
  CHECK(made.read("b").value_or("") == "b");
  CHECK(made.read("d").value_or("") == "new");
  CHECK(made.read("e").value_or("") == large);
  CHECK_FALSE(std::filesystem::exists(folder.path() / "new.zip.tail"));
  // The same members written one by one: the same bytes.
  REQUIRE(write_zip(folder.path() / "whole.zip", {{"a", large}, {"b", "b"}, {"c", "old"}, {"d", "new"}}, {}));
  const auto whole = WheelArchive::open(folder.path() / "whole.zip").value();
  REQUIRE(write_zip_after(folder.path() / "again.zip", whole, whole.find("c")->header_offset,
                          {{"c", "old"}, {"d", "new"}}, {}));
  CHECK(WheelArchive::open(folder.path() / "again.zip").value().bytes() == whole.bytes());
}
