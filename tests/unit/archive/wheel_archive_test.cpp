#include "archive/wheel_archive.hpp"

#include "archive/archive.hpp"
#include "support/scratch_files.hpp"
#include "support/wheel_builder.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace sagekit;

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
    const auto folder = test::temporary();
    const auto path = folder.path() / "x.zip";
    test::write(path, zip.build());
    REQUIRE(unpack_archive(path, folder.path() / "out"));
    const auto archive = WheelArchive::open(path);
    REQUIRE(archive);
    std::map<std::string, std::string> ours;
    for (const auto& member : archive->members())
      if (!member.is_folder()) ours[member.name] = archive->read(member).value_or("unreadable");
    CHECK(ours == tree(folder.path() / "out"));
  }
}
