#include "support/file.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

using namespace sagekit;

TEST_CASE("a written file reads back, whatever its name") {
  const auto folder = TemporaryFolder::create("/tmp", "sagekit test \xc3\xa9");
  REQUIRE(folder);
  const auto path = folder->path() / "a b\xc3\xbc" / "x";
  REQUIRE(write_file_atomic(path, "hello"));
  CHECK(read_file(path).value() == "hello");
  REQUIRE(write_file_atomic(path, ""));
  CHECK(read_file(path).value() == "");
  CHECK(std::distance(std::filesystem::directory_iterator(path.parent_path()), {}) == 1);
}

TEST_CASE("what cannot be read says why") {
  CHECK(read_file("/nonexistent/x").error().message == "cannot read /nonexistent/x: No such file or directory");
  CHECK(read_file("/tmp").error().message == "cannot read /tmp: it is a folder");
  CHECK(read_file("/nonexistent/x").error().kind == ErrorKind::usage);
}

TEST_CASE("what lies where a file is missed is told") {
  const auto folder = TemporaryFolder::create("/tmp", "sagekit-near");
  REQUIRE(folder);
  REQUIRE(write_file(folder->path() / "out.tar", "x"));
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(folder->path());
  const auto missing = MappedFile::open("packed-yesterday.tar");
  std::filesystem::current_path(here);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().hint == "here is out.tar");
}

TEST_CASE("a lock keeps others out until it is gone") {
  const auto folder = TemporaryFolder::create("/tmp", "sagekit-lock");
  REQUIRE(folder);
  const auto path = folder->path() / "lock";
  {
    const auto held = FileLock::acquire(path, false);
    REQUIRE(held->has_value());
    CHECK_FALSE(FileLock::acquire(path, false)->has_value());
  }
  CHECK(FileLock::acquire(path, false)->has_value());
}

TEST_CASE("whoever waited for a lock holds one that others meet, although its file was removed") {
  const auto folder = TemporaryFolder::create("/tmp", "sagekit-lock");
  REQUIRE(folder);
  const auto path = folder->path() / "lock";
  int inside = 0, most = 0, entered = 0;
  std::mutex mutex;
  const auto work = [&] {
    for (int i = 0; i < 200; ++i) {
      const auto held = FileLock::acquire(path, true);
      {
        const std::lock_guard lock(mutex);
        most = std::max(most, ++inside);
        ++entered;
      }
      std::this_thread::yield();
      const std::lock_guard lock(mutex);
      --inside;
      std::filesystem::remove(path);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  }
  CHECK(entered == 800);
  CHECK(most == 1);
  CHECK_FALSE(std::filesystem::exists(path));
}
