#include "client_fixture.hpp"
#include "index/curl_library.hpp"
#include "support/scratch_files.hpp"

#include <chrono>
#include <future>

using namespace sagekit;
using namespace sagekit::test;

namespace {

const std::string k_content = sample_content(300'000);

HttpRequest part(const HttpServer& server, std::uint64_t offset, std::uint64_t length) {
  HttpRequest request;
  request.url = server.url("/file");
  request.range = HttpRange{offset, length};
  return request;
}

}  // namespace

TEST_CASE("a page comes whole, asked for by name, uncompressed, over a connection that is kept") {
  HttpServer server([](const HttpQuestion&) {
    HttpReply reply = status_reply(200);
    reply.headers = {{"Content-Type", "Text/HTML; charset=utf-8"}, {"ETag", "\"1\""}};
    return reply;
  });
  const auto client = quick_client();
  HttpRequest request;
  request.url = server.url("/page?token=secret#part");
  request.accept = "text/html";
  for (int i = 0; i < 3; ++i) {
    const auto response = client->get(request);
    REQUIRE(response);
    CHECK(response->status == 200);
    CHECK(response->url == server.url("/page"));
    CHECK(response->content_type == "text/html");
    CHECK(response->etag == "\"1\"");
    CHECK(response->total == 7);
    CHECK(response->body == "because");
  }
  CHECK(server.connections() == 1);
  const auto question = server.questions()[0];
  CHECK(question.target == "/page?token=secret");
  CHECK(question.header("accept") == "text/html");
  CHECK(question.header("accept-encoding") == "identity");
  CHECK(question.header("user-agent").starts_with("sagekit/"));
  CHECK(question.header("authorization").empty());
}

TEST_CASE("parts are what was asked for, from the front, the middle and the end") {
  HttpServer server([](const HttpQuestion& question) { return serve(question, k_content); });
  const auto client = quick_client();
  auto response = client->get(part(server, 1000, 500));
  REQUIRE(response);
  CHECK(response->status == 206);
  CHECK(response->offset == 1000);
  CHECK(response->total == k_content.size());
  CHECK(response->body == k_content.substr(1000, 500));
  HttpRequest end;
  end.url = server.url("/file");
  end.suffix = 100;
  response = client->get(end);
  REQUIRE(response);
  CHECK(response->offset == k_content.size() - 100);
  CHECK(response->body == k_content.substr(k_content.size() - 100));
  end.suffix = k_content.size() + 5;
  response = client->get(end);
  REQUIRE(response);
  CHECK(response->offset == 0);
  CHECK(response->body == k_content);
}

TEST_CASE("what a status means") {
  const std::pair<int, const char*> meanings[] = {{404, "IDX004"}, {410, "IDX004"}, {401, "IDX005"}, {403, "IDX005"},
                                                  {400, "IDX006"}, {416, "IDX006"}, {501, "IDX006"}, {304, "IDX006"},
                                                  {408, "IDX007"}, {429, "IDX007"}, {500, "IDX007"}, {503, "IDX007"}};
  for (const auto& [number, code] : meanings) {
    HttpServer server([told = number](const HttpQuestion&) { return status_reply(told); });
    const auto response = get(*quick_client(), server.url("/path?token=secret"));
    REQUIRE_FALSE(response);
    CHECK(response.error().code == code);
    CHECK(response.error().kind == ErrorKind::failed);
    CHECK(response.error().message.starts_with("cannot read " + server.url("/path") + ": the server answered " +
                                               std::to_string(number)));
    CHECK(server.questions().size() == (std::string(code) == "IDX007" ? 4 : 1));
  }
}

TEST_CASE("what may pass is asked again until it is there") {
  HttpServer server([](const HttpQuestion& question) {
    if (question.number == 0) return status_reply(503);
    if (question.number == 1) {
      HttpReply reply;
      reply.hang_up = true;
      return reply;
    }
    return serve(question, "content");
  });
  const auto response = get(*quick_client(), server.url());
  REQUIRE(response);
  CHECK(response->body == "content");
  CHECK(server.questions().size() == 3);
}

TEST_CASE("Retry-After is waited for, up to the limit") {
  HttpServer server([](const HttpQuestion& question) {
    HttpReply reply = status_reply(question.number == 0 ? 429 : 200);
    if (question.number == 0) reply.headers.emplace_back("Retry-After", "100");
    return reply;
  });
  const auto start = std::chrono::steady_clock::now();
  CHECK(get(*quick_client(), server.url()));
  const auto waited = std::chrono::steady_clock::now() - start;
  CHECK(waited >= std::chrono::milliseconds(300));
  CHECK(waited < std::chrono::seconds(30));
}

TEST_CASE("a part that was cut goes on where it broke off") {
  HttpServer server([](const HttpQuestion& question) {
    HttpReply reply = serve(question, k_content, "\"tag\"");
    if (question.number < 2) reply.cut_after = 1000;
    return reply;
  });
  const auto response = quick_client()->get(part(server, 100, 50'000));
  REQUIRE(response);
  CHECK(response->body == k_content.substr(100, 50'000));
  const auto questions = server.questions();
  REQUIRE(questions.size() == 3);
  CHECK(questions[1].header("range") == "bytes=1100-50099");
  CHECK(questions[1].header("if-range") == "\"tag\"");
  CHECK(questions[2].header("range") == "bytes=2100-50099");
}

TEST_CASE("pieces come in order and once each, from servers with and without ranges") {
  for (const bool ranges : {true, false}) {
    HttpServer server([ranges](HttpQuestion question) {
      if (!ranges) question.headers.erase("range");
      HttpReply reply = serve(question, k_content, "\"tag\"");
      if (question.number < 3) reply.cut_after = 70'000 * (ranges ? 1 : question.number + 1);
      return reply;
    });
    std::string pieces;
    HttpRequest request;
    request.url = server.url("/file");
    request.max_bytes = k_content.size();
    request.sink = [&](std::string_view piece) { return pieces += piece, true; };
    const auto response = quick_client()->get(request);
    REQUIRE_MESSAGE(response, (response ? "" : response.error().message));
    CHECK(pieces == k_content);
    CHECK(response->body.empty());
    CHECK(server.questions().size() == 4);
  }
}

TEST_CASE("a page that was cut is read anew, and a cut that stays is told with its place") {
  HttpServer server([](const HttpQuestion& question) {
    HttpReply reply = serve(question, question.number == 0 ? "old words of it" : "new words of it, longer");
    if (question.number == 0) reply.cut_after = 5;
    return reply;
  });
  CHECK(get(*quick_client(), server.url())->body == "new words of it, longer");
  HttpServer broken([](const HttpQuestion&) {
    HttpReply reply = status_reply(200);
    reply.announced = 100;
    return reply;
  });
  const auto response = get(*quick_client(), broken.url());
  REQUIRE_FALSE(response);
  CHECK(response.error().code == "IDX007");
  CHECK(response.error().message.ends_with("the connection was cut after 7 of 100 bytes (asked 4 times)"));
}

TEST_CASE("what changes while it is read is refused") {
  for (const bool same_size : {true, false}) {
    HttpServer server([same_size](const HttpQuestion& question) {
      const std::string now = question.number == 0 || same_size ? k_content : k_content + "more";
      HttpReply reply = serve(question, now, same_size ? "\"" + std::to_string(question.number) + "\"" : "");
      if (question.number == 0) reply.cut_after = 1000;
      return reply;
    });
    HttpRequest request;
    request.url = server.url();
    request.sink = [](std::string_view) { return true; };
    const auto response = quick_client()->get(request);
    REQUIRE_FALSE(response);
    CHECK(response.error().code == "IDX008");
    CHECK(response.error().message.find("changed on the server while it was read") != std::string::npos);
  }
}

TEST_CASE("a lying answer is refused") {
  const std::pair<const char*, const char*> lies[] = {
      {"bytes 0-99/300000", "bytes 0-99 where 10-109 were asked for"},
      {"bytes 10-108/300000", "bytes 10-108 where 10-109"},
      {"bytes 10-109/50", "called it \"bytes 10-109/50\", which is no part"},
      {"bytes 109-10/300000", "called it \"bytes 109-10/300000\", which is no part"},
      {"lines 10-109/300000", "called it \"lines 10-109/300000\", which is no part"},
      {"bytes 10-99999999999999999999/99999999999999999999999", "called it \"bytes 10-99999999999999999999/9999"},
      {"", "without saying which"}};
  for (const auto& [range, why] : lies) {
    HttpServer server([told = range](const HttpQuestion&) {
      HttpReply reply = status_reply(206);
      reply.body = std::string(100, 'x');
      reply.headers.emplace_back("Content-Range", told);
      return reply;
    });
    const auto response = quick_client()->get(part(server, 10, 100));
    REQUIRE_FALSE(response);
    CHECK(response.error().code == "IDX008");
    CHECK_MESSAGE(response.error().message.find(why) != std::string::npos, response.error().message);
    CHECK(server.questions().size() == 1);
  }
  HttpServer length([](const HttpQuestion& question) {
    HttpReply reply = serve(question, k_content);
    reply.body += "more";
    return reply;
  });
  CHECK(quick_client()->get(part(length, 10, 100)).error().message.find("announced 104 bytes as a part of 100") !=
        std::string::npos);
  HttpServer unasked([](HttpQuestion question) {
    question.headers["range"] = "bytes=0-5";
    return serve(question, k_content);
  });
  CHECK(get(*quick_client(), unasked.url()).error().code == "IDX008");
  HttpServer compressed([](const HttpQuestion&) {
    HttpReply reply = status_reply(200);
    reply.headers.emplace_back("Content-Encoding", "gzip");
    return reply;
  });
  CHECK(get(*quick_client(), compressed.url()).error().message.find("compressed (gzip)") != std::string::npos);
  HttpServer nonsense([](const HttpQuestion&) {
    HttpReply reply;
    reply.raw = "220 mail.example ESMTP\r\n";
    return reply;
  });
  CHECK(get(*quick_client(), nonsense.url()).error().code == "IDX008");
}

TEST_CASE("a whole file where a part was asked for is taken when it is small enough") {
  HttpServer server([](const HttpQuestion&) { return status_reply(200); });
  const auto response = quick_client()->get(part(server, 3, 2));
  REQUIRE(response);
  CHECK(response->status == 200);
  CHECK(response->offset == 0);
  CHECK(response->body == "because");
  HttpRequest small = part(server, 3, 2);
  small.max_bytes = 2;
  CHECK(quick_client()->get(small).error().code == "IDX009");
}

TEST_CASE("what has no end fills no memory") {
  HttpServer server([](const HttpQuestion&) {
    HttpReply reply;
    reply.body = std::string(1000, 'x');
    reply.endless = true;
    return reply;
  });
  HttpRequest request;
  request.url = server.url();
  request.max_bytes = 100'000;
  const auto response = quick_client()->get(request);
  REQUIRE_FALSE(response);
  CHECK(response.error().code == "IDX009");
  HttpServer failing([](const HttpQuestion&) {
    HttpReply reply = status_reply(404);
    reply.endless = true;
    return reply;
  });
  CHECK(get(*quick_client(), failing.url()).error().code == "IDX004");
}

TEST_CASE("a stall and a silent host end within the time allowed") {
  HttpServer server([](const HttpQuestion& question) {
    HttpReply reply = serve(question, k_content);
    if (question.number == 0) reply.stall_after = 500;
    return reply;
  });
  IndexSettings settings = quick_settings();
  settings.timeout_seconds = 0.2;
  CHECK(quick_client(settings)->get(part(server, 0, 1000))->body == k_content.substr(0, 1000));
  CHECK(server.questions()[1].header("range") == "bytes=500-999");
  settings.retries = 0;
  HttpServer silent([](const HttpQuestion&) {
    HttpReply reply;
    reply.body = "x";
    reply.stall_after = 0;
    return reply;
  });
  const auto response = get(*quick_client(settings), silent.url());
  REQUIRE_FALSE(response);
  CHECK(response.error().code == "IDX007");
  CHECK(response.error().message.find("no byte came within the time allowed after 0 of 1 bytes") != std::string::npos);
  // It waits for a line where TLS waits for an answer.
  CHECK(get(*quick_client(settings), "https://" + silent.host() + "/").error().code == "IDX002");
}

TEST_CASE("a refused connection is asked again and then told") {
  std::string url;
  {
    HttpServer gone([](const HttpQuestion&) { return HttpReply{}; });
    url = gone.url("/simple");
  }
  const auto response = get(*quick_client(), url);
  REQUIRE_FALSE(response);
  CHECK(response.error().code == "IDX002");
  CHECK(response.error().message.ends_with("(asked 4 times)"));
}

TEST_CASE("a stop ends a stalled transfer and a pause at once") {
  HttpServer server([](const HttpQuestion& question) {
    HttpReply reply = status_reply(question.target == "/pause" ? 503 : 200);
    if (question.target == "/pause") reply.headers.emplace_back("Retry-After", "60");
    if (question.target == "/stall") reply.stall_after = 1;
    return reply;
  });
  for (const char* path : {"/stall", "/pause"}) {
    const auto client = *make_http_client(quick_settings());
    std::stop_source source;
    HttpRequest request;
    request.url = server.url(path);
    auto result = std::async(std::launch::async, [&] { return client->get(request, source.get_token()); });
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    const auto start = std::chrono::steady_clock::now();
    source.request_stop();
    const auto response = result.get();
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
    REQUIRE_FALSE(response);
    CHECK(response.error().code == "IDX016");
    CHECK(response.error().kind == ErrorKind::interrupted);
  }
}

TEST_CASE("many threads share a client") {
  HttpServer server([](const HttpQuestion& question) { return serve(question, k_content); });
  const auto client = quick_client();
  std::vector<std::future<bool>> all;
  for (std::size_t i = 0; i < 8; ++i)
    all.push_back(std::async(std::launch::async, [&, i] {
      for (std::size_t k = 0; k < 10; ++k) {
        const auto response = client->get(part(server, i * 1000 + k, 5000));
        if (!response || response->body != k_content.substr(i * 1000 + k, 5000)) return false;
      }
      return true;
    }));
  for (auto& one : all) CHECK(one.get());
  CHECK(server.connections() <= 8);
}

TEST_CASE("what takes the bytes may refuse them; what it throws comes through") {
  HttpServer server([](const HttpQuestion& question) { return serve(question, k_content); });
  HttpRequest request;
  request.url = server.url();
  request.sink = [](std::string_view) { return false; };
  CHECK(quick_client()->get(request).error().code == "IDX008");
  request.sink = [](std::string_view) -> bool { throw std::runtime_error("thrown"); };
  CHECK_THROWS_AS((void)quick_client()->get(request), std::runtime_error);
  request.sink = {};
  request.on_answer = [](const HttpResponse& answer) { return answer.total != k_content.size(); };
  CHECK(quick_client()->get(request).error().code == "IDX008");
  CHECK(server.questions().size() == 3);
}

TEST_CASE("a machine without libcurl is told which package brings it") {
  const auto curl = load_curl("libcurl-that-is-nowhere.so.4");
  REQUIRE_FALSE(curl);
  CHECK(curl.error().code == "IDX001");
  CHECK(curl.error().kind == ErrorKind::machine);
  CHECK(curl.error().message == "libcurl-that-is-nowhere.so.4 is not on this machine");
  CHECK(curl.error().hint == "apt-get install libcurl4");
  const auto other = load_curl("libm.so.6");
  REQUIRE_FALSE(other);
  CHECK(other.error().message.starts_with("libm.so.6 is too old"));
}

TEST_CASE("a file of certificates that is not there is the fault of who named it, and is named") {
  HttpServer server([](const HttpQuestion&) { return status_reply(200); });
  auto settings = quick_settings();
  settings.ca_bundle = "/nowhere/ca.pem";
  const auto refused = get(*quick_client(settings), "https://" + server.host() + "/");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == "IDX003");
  CHECK(refused.error().kind == ErrorKind::usage);
  CHECK(refused.error().message.find("/nowhere/ca.pem, cannot be read: No such file or directory") !=
        std::string::npos);
  CHECK(get(*quick_client(settings), server.url("/plain")));  // what needs none goes on

  const auto folder = temporary();
  settings.ca_bundle = folder.path() / "ca.pem";
  write(settings.ca_bundle, "not found\n");
  const auto none = get(*quick_client(settings), "https://" + server.host() + "/");
  REQUIRE_FALSE(none);
  CHECK(none.error().code == "IDX003");
  CHECK(none.error().kind == ErrorKind::usage);
  CHECK(none.error().message.find("cannot be read: it is no PEM file") != std::string::npos);
}
