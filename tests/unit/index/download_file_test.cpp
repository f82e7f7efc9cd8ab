#include "client_fixture.hpp"
#include "index/remote_file.hpp"
#include "support/file.hpp"
#include "support/sha256.hpp"

#include <future>
#include <set>

using namespace sagekit;
using namespace sagekit::test;
namespace fs = std::filesystem;

namespace {

const std::string k_downloaded = sample_content(500'000);

HttpReply good(const HttpQuestion& question) { return serve(question, k_downloaded, "\"1\""); }

struct Download {
  TemporaryFolder folder = *TemporaryFolder::create(fs::temp_directory_path(), "down load");
  fs::path path = folder.path() / "deep/a.whl";

  Result<std::string> from(const HttpServer& server, std::uint64_t expected_size = 0) const {
    IndexSettings settings = quick_settings();
    settings.retries = 0;
    return download_file(*quick_client(settings), server.url("/a.whl"), path, expected_size);
  }
  /// Stops after so many bytes: what a killed process leaves.
  void leave_part(const HttpServer& server, std::uint64_t bytes) const {
    std::uint64_t seen = 0;
    std::stop_source source;
    const auto stop_there = [&](std::uint64_t more) {
      if ((seen += more) >= bytes) source.request_stop();
    };
    const auto stopped = download_file(*quick_client(), server.url("/a.whl"), path, 0, stop_there, source.get_token());
    CHECK(stopped.error().kind == ErrorKind::interrupted);
    CHECK_FALSE(fs::exists(path));
  }
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(path.parent_path())) found.insert(entry.path().filename());
    return found;
  }
  fs::path part() const { return path.string() + ".part"; }
};

// A server whose answers break off after that many bytes of the content.
HttpServer::Handler cut_at(std::size_t bytes) {
  return [bytes](const HttpQuestion& question) {
    HttpReply reply = good(question);
    reply.cut_after = bytes;
    return reply;
  };
}

}  // namespace

TEST_CASE("a download appears whole under its name, with its hash") {
  HttpServer server(good);
  const Download download;
  CHECK(download.from(server, k_downloaded.size()) == sha256_hex(k_downloaded));
  CHECK(read_file(download.path) == k_downloaded);
  CHECK(download.names() == std::set<std::string>{"a.whl"});
}

TEST_CASE("what another process left is taken up where it ended") {
  HttpServer broken(cut_at(100'000));
  HttpServer server(good);
  const Download download;
  CHECK(download.from(broken).error().code == "IDX007");
  CHECK_FALSE(fs::exists(download.path));
  CHECK(fs::file_size(download.part()) == 100'000);
  // Another address is another file.
  CHECK(download.from(server) == sha256_hex(k_downloaded));
  CHECK(server.questions().back().header("range").empty());

  HttpServer both([](const HttpQuestion& question) {
    HttpReply reply = good(question);
    if (question.number == 0) reply.cut_after = 100'000;
    return reply;
  });
  const Download resumed;
  CHECK(resumed.from(both).error().code == "IDX007");
  CHECK(resumed.from(both) == sha256_hex(k_downloaded));
  CHECK(both.questions().back().header("range") == "bytes=100000-499999");
  CHECK(read_file(resumed.path) == k_downloaded);
}

TEST_CASE("a stopped download is taken up; a part that was whole already asks for its last byte") {
  HttpServer server(good);
  const Download download;
  download.leave_part(server, 1);
  CHECK(download.from(server) == sha256_hex(k_downloaded));
  CHECK(server.questions().back().header("range").ends_with("-499999"));

  const Download whole;
  whole.leave_part(server, 1);
  REQUIRE(write_file_atomic(whole.part(), k_downloaded));
  CHECK(whole.from(server) == sha256_hex(k_downloaded));
  CHECK(server.questions().back().header("range") == "bytes=499999-499999");
}

TEST_CASE("a part of what the server no longer has is thrown away") {
  struct Case {
    const char* what;
    std::string now, etag;
    bool ranges = true;
  };
  for (const Case& c :
       {Case{"another tag", std::string(k_downloaded.rbegin(), k_downloaded.rend()), "\"2\""},
        Case{"another size", k_downloaded + "more", "\"1\""}, Case{"shorter than the part", "short", "\"1\""},
        Case{"no ranges any more", k_downloaded, "\"1\"", false}}) {
    CAPTURE(c.what);
    HttpServer server([&](HttpQuestion question) {
      if (question.number == 0) {
        HttpReply reply = good(question);
        reply.cut_after = 100'000;
        return reply;
      }
      if (!c.ranges) question.headers.erase("range");
      return serve(question, c.now, c.etag);
    });
    const Download download;
    CHECK(download.from(server).error().code == "IDX007");
    CHECK(download.from(server) == sha256_hex(c.now));
    CHECK(read_file(download.path) == c.now);
  }
}

TEST_CASE("a part without its note, or with a spoilt one, is not believed") {
  HttpServer server(good);
  for (const std::string note : {"", "nonsense", "\n\n\n", "x\n99999999999999999999999\ny\n", "x\n-1\ny\n"}) {
    const Download download;
    REQUIRE(write_file_atomic(download.part(), "what is this"));
    if (!note.empty()) REQUIRE(write_file_atomic(download.part().string() + ".of", note));
    CHECK(download.from(server) == sha256_hex(k_downloaded));
    CHECK(read_file(download.path) == k_downloaded);
  }
}

TEST_CASE("another size than expected leaves nothing under the name") {
  HttpServer server(good);
  const Download download;
  const auto hash = download.from(server, 17);
  REQUIRE_FALSE(hash);
  CHECK(hash.error().code == "IDX010");
  CHECK_FALSE(fs::exists(download.path));
  HttpServer chunked([](const HttpQuestion&) {
    HttpReply reply;
    reply.body = std::string(1000, 'x');
    reply.endless = true;
    return reply;
  });
  CHECK(download.from(chunked, 5000).error().code == "IDX009");
  CHECK_FALSE(fs::exists(download.path));
}

TEST_CASE("a full disk is the machine's fault and leaves nothing") {
  HttpServer server(good);
  const Download download;
  fs::create_directories(download.path.parent_path());
  fs::create_symlink("/dev/full", download.part());
  const auto hash = download.from(server);
  REQUIRE_FALSE(hash);
  CHECK(hash.error().code == "FIL002");
  CHECK(hash.error().kind == ErrorKind::machine);
  CHECK(hash.error().message.starts_with("cannot write " + download.path.string()));
  CHECK(download.names().empty());
}

TEST_CASE("of two downloads of one file one fetches, the other waits and takes it") {
  HttpServer server([](const HttpQuestion& question) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return good(question);
  });
  const Download download;
  auto first = std::async(std::launch::async, [&] { return download.from(server); });
  auto second = std::async(std::launch::async, [&] { return download.from(server, k_downloaded.size()); });
  CHECK(first.get() == sha256_hex(k_downloaded));
  CHECK(second.get() == sha256_hex(k_downloaded));
  CHECK(server.questions().size() == 1);
}
