// Files that are neither wheel nor module are named for what they are.
#include "support/file_kind.hpp"

#include "archive/wheel_archive.hpp"
#include "archive/archive.hpp"
#include "support/file.hpp"
#include "support/wheel_builder.hpp"

#include <sagekit/inspect.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>

using namespace sagekit;
using namespace std::string_view_literals;

TEST_CASE("each stranger is named, whatever name its file has") {
  const auto folder = TemporaryFolder::create(std::filesystem::temp_directory_path(), "kinds");
  REQUIRE(folder);
  const std::string wheel = test::WheelBuilder().zip().build();
  const std::vector<std::pair<std::string, std::string>> files = {
      {"INS050", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n"},
      {"INS051", "\n<!DOCTYPE html>\n<html></html>"},
      {"INS051", "<!-- saved page --><HTML>"},
      {"INS052", "{\"message\": \"Not Found\"}"},
      {"INS052", "<?xml version=\"1.0\"?><Error/>"},
      {"INS053", "404: Not Found\n"},
      {"INS053", "gr\xc3\xbc\xc3\x9f"},
      {"INS054", ""},
      {"INS055", wheel.substr(0, wheel.size() / 2)},
      {"INS056", "\x1f\x8b\x08 rest"},
      {"INS056", "7z\xbc\xaf\x27\x1c rest"},
      {"INS056", std::string(257, '\0') + "ustar" + std::string(300, '\0')},
      {"INS057", "%PDF-1.7 \x80\x81"},
      {"INS057", std::string("L\0\0\0\x01\x14\x02\0 rest"sv)},
      {"INS058", std::string(5000, '\0')},
      {"INS059", std::string(100, '\x80') + wheel.substr(wheel.size() / 2)},
  };
  for (const auto& [code, bytes] : files) {
    CAPTURE(code);
    CAPTURE(bytes.substr(0, 30));
    const auto kind = other_kind(Bytes(bytes));
    REQUIRE(kind);
    CHECK(kind->code == code);
    CHECK_FALSE(kind->what.empty());
    CHECK_FALSE(kind->hint.empty());
    if (code == "INS059") continue;  // its directory can be found: the framing says what is wrong
    for (const char* const name : {"x-1.0-py3-none-any.whl", "module.so"}) {
      // Archives of another kind can be inspected under any name but a wheel's; a cut one is named by its reader.
      if ((code == "INS055" || code == "INS056") && name[0] == 'm') continue;
      const auto path = folder->path() / name;
      REQUIRE(write_file_atomic(path, bytes));
      const auto facts = inspect_file(path);
      REQUIRE_FALSE(facts);
      CHECK(facts.error().code == code);
    }
  }
}

TEST_CASE("what is not known is not named, and a module is none of these") {
  CHECK_FALSE(other_kind(Bytes("\x80\x81\x82\x83 binary"sv)));
  CHECK_FALSE(
      other_kind(Bytes("\x7f"
                       "ELF\x02\x01\x01\0\0\0\0\0"sv)));
}

namespace {

/// Every file below a folder with its content.
std::map<std::string, std::string> tree(const std::filesystem::path& root) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
    if (entry.is_regular_file())
      files[entry.path().lexically_relative(root).generic_string()] = *read_file(entry.path());
  return files;
}

}  // namespace

// Names in ASCII only: libarchive writes others by the locale of the process, which a test must not change.
TEST_CASE("the members are those that libarchive sees, in right archives and in slightly odd ones") {
  const test::WheelBuilder wheel;
  std::vector<std::pair<std::string, test::ZipBuilder>> archives;
  archives.emplace_back("plain", wheel.zip());
  archives.emplace_back("stored", wheel.zip());
  for (auto& entry : archives.back().second.entries) entry.method = 0;
  archives.emplace_back("zip64", wheel.zip());
  archives.back().second.zip64 = true;
  archives.emplace_back("data descriptor", wheel.zip());
  archives.back().second.entries[0].descriptor = true;
  archives.emplace_back("comment", wheel.zip());
  archives.back().second.comment = "hello";
  archives.emplace_back("member comment", wheel.zip());
  archives.back().second.entries[1].comment = "hello";
  archives.emplace_back("folder", wheel.zip());
  archives.back().second.add("tiny_kernels/sub/", "").mode = 040755;
  archives.back().second.add("tiny_kernels/sub/x.txt", "x");
  for (const auto& [name, zip] : archives) {
    CAPTURE(name);
    const auto folder = TemporaryFolder::create(std::filesystem::temp_directory_path(), "oracle");
    REQUIRE(folder);
    const auto path = folder->path() / "x.zip";
    REQUIRE(write_file_atomic(path, zip.build()));
    REQUIRE(unpack_archive(path, folder->path() / "out"));
    const auto archive = WheelArchive::open(path);
    REQUIRE(archive);
    std::map<std::string, std::string> ours;
    for (const auto& member : archive->members())
      if (!member.is_folder()) ours[member.name] = archive->read(member).value_or("unreadable");
    CHECK(ours == tree(folder->path() / "out"));
  }
}
