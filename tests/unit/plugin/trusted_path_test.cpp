#include "plugin/trusted_path.hpp"

#include "support/file.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace sagekit;
namespace fs = std::filesystem;

namespace {

/// A private folder below /tmp with folder/plugin.so in it.
struct Place {
  Place() : top(TemporaryFolder::create("/tmp", "sagekit trust \xc3\xa9").value()) {
    folder = fs::canonical(top.path()) / "folder";
    file = folder / "plugin.so";
    fs::create_directory(folder);
    REQUIRE(write_file_atomic(file, "x"));
    ::chmod(folder.c_str(), 0755);
    ::chmod(file.c_str(), 0755);
  }
  Status check() const { return check_trusted(file.native(), {::geteuid(), {}}); }

  TemporaryFolder top;
  fs::path folder, file;
};

}  // namespace

TEST_CASE("a file of one's own below the sticky /tmp is trusted") {
  const Place place;
  const auto status = place.check();
  CHECK_MESSAGE(status, (status ? "" : status.error().message));
}

TEST_CASE("a file that others can change is refused with the command that mends it") {
  const Place place;
  ::chmod(place.file.c_str(), 0777);
  const auto error = place.check().error();
  CHECK(error.code == "PLG001");
  CHECK(error.kind == ErrorKind::usage);
  CHECK(error.message == place.file.string() + " is not trusted: it can be changed by everyone");
  CHECK(error.hint == "chmod go-w '" + place.file.string() + "'");
  ::chmod(place.file.c_str(), 0775);
  CHECK(place.check().error().message.ends_with("it can be changed by its group"));
}

TEST_CASE("a folder that others can change is refused, sticky or not, when the file lies in it") {
  const Place place;
  for (const mode_t mode : {mode_t{0777}, mode_t{01777}, mode_t{0770}}) {
    ::chmod(place.folder.c_str(), mode);
    const auto status = place.check();
    REQUIRE_FALSE(status);
    CHECK(status.error().message.find("its folder " + place.folder.string() + " can be changed by") !=
          std::string::npos);
    CHECK(status.error().hint == "chmod go-w '" + place.folder.string() + "'");
  }
}

TEST_CASE("a folder further up must be sticky if others can write to it") {
  const Place place;
  ::chmod(place.folder.parent_path().c_str(), 0777);
  CHECK_FALSE(place.check());
  ::chmod(place.folder.parent_path().c_str(), 01777);
  CHECK(place.check());
  ::chmod(place.folder.parent_path().c_str(), 0700);
}

TEST_CASE("a file of another user is refused") {
  const Place place;
  const bool is_root = ::geteuid() == 0;
  if (is_root) REQUIRE(::chown(place.file.c_str(), 12345, static_cast<gid_t>(-1)) == 0);
  const auto status = check_trusted(place.file.native(), {is_root ? 0 : ::geteuid() + 1, {}});
  REQUIRE_FALSE(status);
  CHECK(status.error().message.find("it belongs to another user (uid ") != std::string::npos);
  CHECK(status.error().hint.find("chown") != std::string::npos);
}

TEST_CASE("the write bit of a group with one member harms nobody") {
  const Place place;
  ::chmod(place.folder.c_str(), 0775);
  struct stat info {};
  REQUIRE(::stat(place.folder.c_str(), &info) == 0);
  CHECK(check_trusted(place.file.native(), {::geteuid(), info.st_gid}));
  CHECK_FALSE(check_trusted(place.file.native(), {::geteuid(), info.st_gid + 1}));
  ::chmod(place.folder.c_str(), 0777);
  CHECK_FALSE(check_trusted(place.file.native(), {::geteuid(), info.st_gid}));
}

TEST_CASE("root gets no exception for its group") {
  if (::geteuid() != 0) {
    MESSAGE("skipped: needs root");
    return;
  }
  CHECK_FALSE(current_user().private_group);
}

TEST_CASE("what cannot be looked at is refused") {
  CHECK(check_trusted("/nonexistent/plugin.so", {::geteuid(), {}}).error().message.find("No such file") !=
        std::string::npos);
}
