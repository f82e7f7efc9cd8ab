#include "index/remote_file.hpp"

#include "client_fixture.hpp"
#include "support/file.hpp"
#include "support/sha256.hpp"

using namespace sagekit;
using namespace sagekit::test;
namespace fs = std::filesystem;

namespace {

const std::string k_remote = sample_content(500'000);

struct Remote {
  explicit Remote(HttpServer::Handler handler) : server(std::move(handler)) {}

  Result<std::unique_ptr<RandomAccess>> open(std::uint64_t expected_size = 0) {
    return open_remote_file(
        *client, server.url("/a.whl?token=secret"), expected_size, folder.path() / "scratch.whl",
        [this](std::uint64_t bytes) { progress += bytes; }, 10'000);
  }
  HttpServer server;
  std::unique_ptr<HttpClient> client = quick_client();
  TemporaryFolder folder = *TemporaryFolder::create(fs::temp_directory_path(), "remote \xc3\xa9");
  std::atomic<std::uint64_t> progress = 0;
};

HttpReply ranged(const HttpQuestion& question) { return serve(question, k_remote, "\"1\""); }
HttpReply unranged(HttpQuestion question) {
  question.headers.erase("range");
  return ranged(question);
}

}  // namespace

TEST_CASE("a remote file is its end and what is read of it") {
  Remote remote(ranged);
  const auto file = remote.open(k_remote.size());
  REQUIRE(file);
  CHECK((*file)->size() == k_remote.size());
  CHECK((*file)->requests() == 1);
  CHECK((*file)->bytes_read() == 10'000);
  CHECK((*file)->read(k_remote.size() - 10'000, 10'000) == k_remote.substr(k_remote.size() - 10'000));
  CHECK((*file)->read(k_remote.size() - 1, 1) == k_remote.substr(k_remote.size() - 1));
  CHECK((*file)->read(5, 0) == "");
  CHECK((*file)->requests() == 1);
  CHECK((*file)->read(1000, 20'000) == k_remote.substr(1000, 20'000));
  CHECK((*file)->read(0, k_remote.size()) == k_remote);
  CHECK((*file)->requests() == 3);
  CHECK((*file)->bytes_read() == 30'000 + k_remote.size());
  CHECK(remote.progress == 30'000 + k_remote.size());
  CHECK_FALSE(fs::exists(remote.folder.path() / "scratch.whl"));
}

TEST_CASE("a range beyond the end is an error, never a short answer") {
  Remote remote(ranged);
  const auto file = *remote.open();
  for (const auto& [offset, length] : {std::pair<std::uint64_t, std::uint64_t>{k_remote.size(), 1},
                                       {0, k_remote.size() + 1},
                                       {UINT64_MAX, 2},
                                       {1, UINT64_MAX}})
    CHECK(file->read(offset, length).error().code == "IDX018");
  CHECK(remote.server.questions().size() == 1);
}

TEST_CASE("a file smaller than its tail takes one request") {
  Remote remote([](const HttpQuestion& question) { return serve(question, "PK small"); });
  const auto file = *remote.open();
  CHECK(file->read(0, 8) == "PK small");
  CHECK(file->requests() == 1);
}

TEST_CASE("a page in place of a wheel is told") {
  Remote remote([](const HttpQuestion& question) { return serve(question, "<!DOCTYPE html><title>Log in</title>"); });
  CHECK(remote.open().error().code == "IDX010");
}

TEST_CASE("a server without ranges sends the whole file once, to disk") {
  Remote remote(unranged);
  const auto file = remote.open(k_remote.size());
  REQUIRE_MESSAGE(file, (file ? "" : file.error().message));
  CHECK((*file)->size() == k_remote.size());
  CHECK((*file)->read(1000, 20'000) == k_remote.substr(1000, 20'000));
  CHECK((*file)->read(k_remote.size(), 1).error().code == "IDX018");
  CHECK((*file)->bytes_read() == k_remote.size());
  CHECK(remote.progress == k_remote.size());
  CHECK(remote.server.questions().size() == 2);
  CHECK(read_file(remote.folder.path() / "scratch.whl") == k_remote);
}

TEST_CASE("a server that does not know the last bytes is asked for the size first") {
  Remote remote([](const HttpQuestion& question) {
    HttpReply reply = ranged(question);
    if (question.header("range").starts_with("bytes=-")) reply = status_reply(416);
    return reply;
  });
  const auto file = remote.open();
  REQUIRE(file);
  CHECK((*file)->size() == k_remote.size());
  CHECK((*file)->read(k_remote.size() - 100, 100) == k_remote.substr(k_remote.size() - 100));
  CHECK((*file)->requests() == 3);
}

TEST_CASE("another size than expected is a replaced file, before and while it is read") {
  for (const auto& handler : {HttpServer::Handler(ranged), HttpServer::Handler(unranged)}) {
    Remote remote(handler);
    const auto file = remote.open(k_remote.size() + 1);
    REQUIRE_FALSE(file);
    CHECK(file.error().code == "IDX010");
    CHECK(file.error().message ==
          remote.server.url("/a.whl") + " has 500000 bytes, 500001 were expected: it was replaced");
  }
  Remote remote(
      [](const HttpQuestion& question) { return serve(question, question.number == 0 ? k_remote : k_remote + "x"); });
  CHECK((*remote.open())->read(0, 100).error().code == "IDX010");
}

TEST_CASE("a server that forgets ranges or lies on the way is an error") {
  Remote forgets(
      [](const HttpQuestion& question) { return question.number == 0 ? ranged(question) : unranged(question); });
  CHECK((*forgets.open())->read(0, 100).error().code == "IDX009");
  Remote lies([](HttpQuestion question) {
    if (question.number > 0) question.headers["range"] = "bytes=1-100";
    return ranged(question);
  });
  CHECK((*lies.open())->read(0, 100).error().code == "IDX008");
  Remote missing([](const HttpQuestion&) { return status_reply(404); });
  CHECK(missing.open().error().code == "IDX004");
}

TEST_CASE("a local file reads the same way") {
  const auto folder = *TemporaryFolder::create(fs::temp_directory_path(), "local");
  REQUIRE(write_file_atomic(folder.path() / "f", k_remote));
  const auto file = *open_local_file(folder.path() / "f");
  CHECK(file->size() == k_remote.size());
  CHECK(file->read(10, 20) == k_remote.substr(10, 20));
  CHECK(file->read(0, k_remote.size()) == k_remote);
  CHECK(file->read(1, k_remote.size()).error().code == "IDX018");
  CHECK(file->requests() == 2);
  CHECK(file->bytes_read() == k_remote.size() + 20);
  CHECK(open_local_file(folder.path() / "none").error().code == "FIL001");
}
