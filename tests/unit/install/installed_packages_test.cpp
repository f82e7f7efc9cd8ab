#include "install/installed_packages.hpp"

#include "support/file.hpp"

#include <doctest/doctest.h>

using namespace sagekit;

namespace {

namespace fs = std::filesystem;

void put(const fs::path& file, const std::string& text) {
  REQUIRE(make_directories(file.parent_path()));
  REQUIRE(write_file(file, text));
}

}  // namespace

TEST_CASE("what is installed is read where a Python looks, the first of a name counts") {
  const auto made = TemporaryFolder::create(fs::temp_directory_path(), "installed");
  REQUIRE(made);
  const auto site = made->path() / "site-packages", system = made->path() / "dist-packages";
  put(site / "Tiny_Kernels-1.0.dist-info/METADATA",
      "Metadata-Version: 2.1\r\nName: Tiny.Kernels\r\nVersion: 1.0\r\n\r\nVersion: 7\r\n");
  put(site / "Tiny_Kernels-1.0.dist-info/RECORD",
      "tiny/__init__.py,,\n\"tiny/a,b.py\",,\n../../bin/tiny,,\nTiny_Kernels-1.0.dist-info/RECORD,,\n");
  put(site / "~iny_kernels-0.9.dist-info/METADATA", "Name: tiny-kernels\nVersion: 0.9\n\n");
  put(site / "empty-1.0.dist-info/INSTALLER", "pip\n");
  put(site / "nameless-1.0.dist-info/METADATA", "Version: 1.0\n");
  put(system / "tiny_kernels-0.5.egg-info/PKG-INFO", "Name: tiny_kernels\nVersion: 0.5\n");
  put(system / "old-2.0.egg-info/PKG-INFO", "Name: old\nVersion: 2.0\n");
  put(system / "old-2.0.egg-info/installed-files.txt", "../old.py\nPKG-INFO\n");
  put(system / "older-3.egg-info", "Name: older\nVersion: 3\n");
  put(system / "unpacked.egg/EGG-INFO/PKG-INFO", "Name: unpacked\nVersion: 4\n");

  const auto packages =
      read_installed_packages({made->path() / "no such folder", site, system, system / "unpacked.egg"});
  REQUIRE(packages.size() == 4);
  CHECK(packages.at("tiny-kernels").version == "1.0");
  CHECK(packages.at("old").version == "2.0");
  CHECK(packages.at("older").version == "3");
  CHECK(packages.at("unpacked").version == "4");
  CHECK(files_of(packages.at("tiny-kernels")) == std::vector<fs::path>{site / "tiny/__init__.py", site / "tiny/a,b.py",
                                                                       made->path().parent_path() / "bin/tiny",
                                                                       site / "Tiny_Kernels-1.0.dist-info/RECORD"});
  CHECK(files_of(packages.at("old")) == std::vector<fs::path>{system / "old.py", system / "old-2.0.egg-info/PKG-INFO"});
  CHECK(files_of(packages.at("older")).empty());
  CHECK(installed_versions({system, site}).at("tiny-kernels") == "0.5");
}
