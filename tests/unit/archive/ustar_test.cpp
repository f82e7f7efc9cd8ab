#include "archive/ustar.hpp"

#include "archive/archive.hpp"
#include "archive/inflate.hpp"
#include "support/file.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <string>

using namespace sagekit;
namespace fs = std::filesystem;

TEST_CASE("a tar of ustar members, gzipped, is unpacked with its modes and links") {
  const std::string deep = "top/" + std::string(90, 'd') + "/" + std::string(95, 'f');
  const std::string tar = *ustar_member("top/a.txt", {}, "text") +
                          *ustar_member("top/run", {.executable = true}, std::string(513, 'x')) +
                          *ustar_member("top/link", {.link = "a.txt"}, "") +
                          *ustar_member(deep, {.time = 1768671808}, "deep") + ustar_end();
  CHECK(tar.size() % k_tar_block == 0);
  const auto folder = *TemporaryFolder::create(fs::temp_directory_path(), "ustar");
  REQUIRE(write_file_atomic(folder.path() / "t.tar.gz", gzip_of(tar)));
  fs::create_directories(folder.path() / "out");
  const auto unpacked = unpack_archive(folder.path() / "t.tar.gz", folder.path() / "out");
  if (!unpacked) FAIL(unpacked.error().message);
  const auto out = folder.path() / "out";
  CHECK(read_file(out / "top/a.txt") == "text");
  CHECK((fs::status(out / "top/a.txt").permissions() & fs::perms::owner_exec) == fs::perms::none);
  CHECK(fs::file_size(out / "top/run") == 513);
  CHECK((fs::status(out / "top/run").permissions() & fs::perms::owner_exec) != fs::perms::none);
  CHECK(fs::read_symlink(out / "top/link") == "a.txt");
  CHECK(read_file(out / deep) == "deep");
}

TEST_CASE("what a tar header cannot hold is refused, to the byte") {
  const auto fits = [](const std::string& path) { return ustar_member(path, {}, "").has_value(); };
  CHECK(fits(std::string(99, 'n')));
  CHECK_FALSE(fits(std::string(100, 'n')));
  CHECK(fits(std::string(154, 'd') + "/" + std::string(99, 'n')));
  CHECK_FALSE(fits(std::string(155, 'd') + "/n"));
  CHECK_FALSE(fits(std::string(100, 'd') + "/" + std::string(100, 'n')));
  CHECK_FALSE(ustar_member("link", {.link = std::string(100, 'l')}, ""));
}
