#include "index/package_index.hpp"

#include "client_fixture.hpp"

using namespace sagekit;
using namespace sagekit::test;

namespace {

HttpServer::Handler page_of(const std::string& links) {
  return [links](const HttpQuestion& question) {
    HttpReply reply;
    reply.headers.emplace_back("Content-Type", "text/html");
    reply.body = "<!DOCTYPE html><title>Links for x</title>" + links;
    if (question.target != "/simple/tiny-kernels/") reply.status = 404;
    return reply;
  };
}

IndexSettings settings_for(const HttpServer& main, const std::vector<const HttpServer*>& extra = {}) {
  IndexSettings settings = quick_settings();
  settings.retries = 0;
  settings.index_url = "http://me:secret@" + main.host() + "/simple";
  for (const HttpServer* server : extra) settings.extra_index_urls.push_back(server->url("/simple/"));
  return settings;
}

Result<std::vector<IndexFile>> find(const IndexSettings& settings, const char* project = "Tiny_.Kernels") {
  return find_project(*quick_client(settings), settings, project);
}

}  // namespace

TEST_CASE("a project's files over all indexes: the main one first, a name once, JSON asked for before HTML") {
  HttpServer main(page_of("<a href=a-1.whl>a</a><a href=b-1.whl>b</a>"));
  HttpServer extra(page_of("<a href=b-1.whl>b</a><a href=c-1.whl>c</a>"));
  const auto files = find(settings_for(main, {&extra}));
  REQUIRE_MESSAGE(files, (files ? "" : files.error().message));
  REQUIRE(files->size() == 3);
  CHECK(files->at(0).url == main.url("/simple/tiny-kernels/a-1.whl"));
  CHECK(files->at(0).index == main.url("/simple"));
  CHECK(files->at(1).index == main.url("/simple"));
  CHECK(files->at(2).index == extra.url("/simple/"));
  CHECK(main.questions()[0].header("accept").starts_with("application/vnd.pypi.simple.v1+json, "));
  CHECK(main.questions()[0].header("authorization") == "Basic bWU6c2VjcmV0");
  CHECK(extra.questions()[0].header("authorization").empty());
}

TEST_CASE("an index without the project is passed over; when none has it, that is no match") {
  HttpServer main(page_of(""));
  HttpServer extra([](const HttpQuestion&) {
    HttpReply reply;
    reply.headers.emplace_back("Content-Type", "application/vnd.pypi.simple.v1+json");
    reply.body = R"({"meta":{"api-version":"1.0"},"files":[{"filename":"o-1.whl","url":"o-1.whl","hashes":{}}]})";
    return reply;
  });
  CHECK(find(settings_for(main, {&extra}), "other")->size() == 1);
  CHECK(find(settings_for(main))->empty());
  const auto none = find(settings_for(main), "other");
  REQUIRE_FALSE(none);
  CHECK(none.error().code == "IDX013");
  CHECK(none.error().kind == ErrorKind::no_match);
  CHECK(none.error().message == "there is no project other on " + main.url("/simple"));
}

TEST_CASE("an index that cannot be asked is not one without the project") {
  HttpServer main(page_of("<a href=a-1.whl>a</a>"));
  for (const auto& [status, code] : {std::pair{503, "IDX007"}, {401, "IDX005"}, {200, "IDX011"}}) {
    HttpServer extra([told = status](const HttpQuestion&) {
      HttpReply reply;
      reply.status = told;
      reply.headers.emplace_back("Content-Type", "text/html");
      reply.body = "<html><form>log in</form></html>";
      return reply;
    });
    const auto files = find(settings_for(main, {&extra}));
    REQUIRE_FALSE(files);
    CHECK(files.error().code == code);
  }
}

TEST_CASE("no index and no name are said") {
  CHECK(find(quick_settings()).error().code == "IDX014");
  CHECK(find(quick_settings()).error().kind == ErrorKind::usage);
  HttpServer main(page_of(""));
  for (const char* name : {"", "../evil", "a b", "a/b", "a?b"})
    CHECK(find(settings_for(main), name).error().kind == ErrorKind::usage);
  CHECK(main.questions().empty());
}
