#include "client_fixture.hpp"
#include "support/file.hpp"

using namespace sagekit;
using namespace sagekit::test;

namespace {

constexpr const char* k_me = "Basic bWU6c2VjcmV0";  // me:secret

HttpReply redirect(const std::string& to, int status = 302) {
  HttpReply reply;
  reply.status = status;
  reply.headers.emplace_back("Location", to);
  return reply;
}

std::string with_user(const HttpServer& server, const std::string& path) {
  return "http://me:secret@" + server.host() + path;
}

std::string authorization(const HttpServer& server, std::size_t number = 0) {
  return server.questions().at(number).header("authorization");
}

HttpReply content(const HttpQuestion& question) { return serve(question, "content"); }

}  // namespace

TEST_CASE("the user of an address goes to its host and to no other") {
  HttpServer other(content);
  HttpServer server([&](const HttpQuestion& question) {
    if (question.target == "/start") return redirect("/same");
    return question.target == "/same" ? redirect("http://evil:pw@" + other.host() + "/away?token=t", 307)
                                      : content(question);
  });
  const auto response = get(*quick_client(), with_user(server, "/start"));
  REQUIRE(response);
  CHECK(response->url == other.url("/away"));
  CHECK(authorization(server, 0) == k_me);
  CHECK(authorization(server, 1) == k_me);
  CHECK(authorization(other).empty());
  CHECK(other.questions()[0].target == "/away?token=t");
}

TEST_CASE("the index's user is used for files of the same host, found by link or by redirect") {
  HttpServer other(content);
  HttpServer server(content);
  HttpServer entry([&](const HttpQuestion&) { return redirect(server.url("/files/a.whl")); });
  IndexSettings settings = quick_settings();
  settings.index_url = with_user(server, "/simple");
  const auto client = quick_client(settings);
  CHECK(get(*client, server.url("/files/a.whl")));
  CHECK(get(*client, entry.url()));
  CHECK(get(*client, other.url()));
  CHECK(authorization(server, 0) == k_me);
  CHECK(authorization(server, 1) == k_me);
  CHECK(authorization(entry).empty());
  CHECK(authorization(other).empty());
}

TEST_CASE("netrc is asked for each host by itself, and not when the address names a user") {
  const auto folder = *TemporaryFolder::create(std::filesystem::temp_directory_path(), "net rc");
  HttpServer server(content);
  IndexSettings settings = quick_settings();
  settings.netrc = folder.path() / "netrc";
  REQUIRE(write_file_atomic(settings.netrc,
                            "machine 127.0.0.1 login me password secret\nmachine other login x password y\n"));
  const auto client = quick_client(settings);
  CHECK(get(*client, server.url()));
  CHECK(get(*client, "http://you@" + server.host() + "/"));
  CHECK(get(*client, "http://localhost:" + std::to_string(server.port()) + "/"));
  CHECK(authorization(server, 0) == k_me);
  CHECK(authorization(server, 1) == "Basic eW91Og==");
  CHECK(authorization(server, 2).empty());
}

TEST_CASE("a proxy gets the question with its own user; no_proxy's hosts are asked directly") {
  HttpServer proxy(content);
  HttpServer server(content);
  IndexSettings settings = quick_settings();
  settings.environment = {{"http_proxy", "http://me:secret@" + proxy.host()}, {"no_proxy", "localhost"}};
  const auto client = quick_client(settings);
  CHECK(get(*client, "http://index.example/simple/?token=t"));
  REQUIRE(proxy.questions().size() == 1);
  CHECK(proxy.questions()[0].target == "http://index.example/simple/?token=t");
  CHECK(proxy.questions()[0].header("proxy-authorization") == k_me);
  CHECK(authorization(proxy).empty());
  CHECK(get(*client, "http://localhost:" + std::to_string(server.port()) + "/"));
  CHECK(server.questions().size() == 1);
  CHECK(server.questions()[0].header("proxy-authorization").empty());
  settings.proxy = server.url();
  CHECK(get(*quick_client(settings), "http://index.example/"));
  CHECK(server.questions().size() == 2);
}

TEST_CASE("a proxy that refuses a tunnel is told as such") {
  HttpServer proxy([](const HttpQuestion&) {
    HttpReply reply;
    reply.status = 407;
    return reply;
  });
  IndexSettings settings = quick_settings();
  settings.proxy = proxy.url();
  const auto response = get(*quick_client(settings), "https://index.example/simple/");
  REQUIRE_FALSE(response);
  CHECK(response.error().code == "IDX005");
  CHECK(response.error().message == "cannot read https://index.example/simple/: the proxy answered 407");
  CHECK(proxy.questions().size() == 1);
}

TEST_CASE("what a proxy answers to CONNECT tells a refusal from no proxy, and who named it") {
  const std::pair<int, const char*> meanings[] = {{401, "IDX005"}, {403, "IDX005"}, {407, "IDX005"}, {301, "IDX002"},
                                                  {400, "IDX002"}, {404, "IDX002"}, {405, "IDX002"}, {501, "IDX002"},
                                                  {502, "IDX007"}, {503, "IDX007"}};
  for (const auto& [status, code] : meanings) {
    CAPTURE(status);
    HttpServer proxy([told = status](const HttpQuestion&) {
      HttpReply reply;
      reply.status = told;
      return reply;
    });
    IndexSettings settings = quick_settings();
    settings.environment = {{"HTTPS_PROXY", "http://me:secret@" + proxy.host()}};
    const auto response = get(*quick_client(settings), "https://index.example/simple/");
    REQUIRE_FALSE(response);
    const auto& error = response.error();
    CHECK(error.code == code);
    CHECK(error.message.find("the proxy answered " + std::to_string(status)) != std::string::npos);
    CHECK((error.message.find("it is no proxy") != std::string::npos) == (error.code == "IDX002"));
    if (error.code == "IDX007") continue;
    CHECK_MESSAGE(error.hint.ends_with("HTTPS_PROXY: it says http://" + proxy.host()), error.hint);
    CHECK((error.hint.find("password") != std::string::npos) == (error.code == "IDX005"));
  }
}

TEST_CASE("the process's own environment is not read") {
  HttpServer proxy(content);
  HttpServer server(content);
  ::setenv("http_proxy", proxy.url().c_str(), 1);
  CHECK(get(*quick_client(), server.url()));
  ::unsetenv("http_proxy");
  CHECK(proxy.questions().empty());
}

TEST_CASE("redirects end: after ten, without a target, out of http") {
  HttpServer server([](const HttpQuestion& question) {
    if (question.target == "/nowhere") return redirect("");
    if (question.target == "/file") return redirect("file:///etc/passwd");
    const int n = std::stoi(question.target.substr(1));
    return n == 0 ? content(question) : redirect(std::to_string(n - 1), n % 2 == 0 ? 301 : 308);
  });
  const auto client = quick_client();
  CHECK(get(*client, server.url("/10"))->body == "content");
  for (const char* path : {"/11", "/nowhere", "/file"}) {
    const auto response = get(*client, server.url(path));
    REQUIRE_FALSE(response);
    CHECK(response.error().code == "IDX008");
  }
}

TEST_CASE("no error tells a password or a query") {
  HttpServer server([](const HttpQuestion& question) {
    HttpReply reply;
    reply.status = question.target.starts_with("/401") ? 401 : 404;
    if (question.target.starts_with("/away")) return redirect("http://127.0.0.1:1/x?hidden=1");
    if (question.target.starts_with("/bad")) return redirect("ftp://a:hidden@b/");
    return reply;
  });
  IndexSettings settings = quick_settings();
  settings.retries = 0;
  settings.index_url = with_user(server, "/simple");
  for (const std::string& url : {with_user(server, "/401?hidden=1"), with_user(server, "/404#hidden"),
                                 with_user(server, "/away?hidden"), with_user(server, "/bad"),
                                 std::string("http://me:secret@127.0.0.1:1/?hidden"), std::string("ftp://me:secret@h/"),
                                 std::string("http://me:sec/ret@host/"), std::string("http://me:secret@[::1/")}) {
    const auto response = get(*quick_client(settings), url);
    REQUIRE_FALSE(response);
    const std::string all = response.error().message + response.error().hint + response.error().where;
    for (const char* secret : {"secret", "sec/ret", "hidden", "me:"})
      CHECK_MESSAGE(all.find(secret) == std::string::npos, all);
  }
}
