#include "index/route.hpp"

#include <doctest/doctest.h>

using namespace sagekit;

namespace {

Route route(const IndexSettings& settings, const char* url) {
  const auto parsed = parse_url(url);
  REQUIRE(parsed);
  return route_to(*parsed, settings);
}

}  // namespace

TEST_CASE("an explicit proxy is for every host; else the environment's variables decide by scheme") {
  IndexSettings settings;
  CHECK(route(settings, "https://host/").proxy.empty());
  settings.environment = {{"https_proxy", "http://secure:1"}, {"http_proxy", "http://plain:1"}, {"no_proxy", "a,b"}};
  CHECK(route(settings, "https://host/").proxy == "http://secure:1");
  CHECK(route(settings, "http://host/").proxy == "http://plain:1");
  CHECK(route(settings, "http://host/").no_proxy == "a,b");
  settings.environment = {{"HTTP_PROXY", "http://plain:1"}, {"HTTPS_PROXY", "http://secure:1"}, {"NO_PROXY", "c"}};
  CHECK(route(settings, "http://host/").proxy.empty());  // what a web server would take from a client's header
  CHECK(route(settings, "https://host/").proxy == "http://secure:1");
  CHECK(route(settings, "https://host/").no_proxy == "c");
  settings.environment = {{"all_proxy", "http://all:1"}};
  CHECK(route(settings, "http://host/").proxy == "http://all:1");
  settings.environment = {{"https_proxy", "http://secure:1"}, {"no_proxy", "*"}};
  settings.proxy = "http://mine:1";
  CHECK(route(settings, "https://host/").proxy == "http://mine:1");
  CHECK(route(settings, "https://host/").no_proxy.empty());
}

TEST_CASE("the index's user is for its own scheme, host and port, nearest path first") {
  IndexSettings settings;
  settings.index_url = "https://me:one@host.example/a/simple";
  settings.extra_index_urls = {"https://you:two@host.example/b/simple", "https://third@other.example/simple"};
  settings.netrc = "/some/netrc";
  CHECK(route(settings, "https://host.example/files/x.whl").password == "one");
  CHECK(route(settings, "https://host.example/b/simple/torch/").password == "two");
  CHECK(route(settings, "https://other.example/x").user == "third");
  CHECK(route(settings, "https://host.example/x").netrc.empty());
  for (const char* elsewhere :
       {"http://host.example/x", "https://host.example:8443/x", "https://example/x", "https://evil-host.example/x"}) {
    CHECK_FALSE(route(settings, elsewhere).has_user);
    CHECK(route(settings, elsewhere).netrc == "/some/netrc");
  }
  CHECK(route(settings, "https://own:self@host.example/x").password == "self");
}

TEST_CASE("only trusted hosts go unverified") {
  IndexSettings settings;
  CHECK(route(settings, "https://host/").verify);
  settings.trusted_hosts = {"Host.Example", "other.example:8443"};
  CHECK_FALSE(route(settings, "https://host.example:99/").verify);
  CHECK_FALSE(route(settings, "https://other.example:8443/").verify);
  CHECK(route(settings, "https://other.example/").verify);
  CHECK(route(settings, "https://sub.host.example/").verify);
}

TEST_CASE("a redirect keeps the user on its host, never leads from https to http, and must lead somewhere") {
  const auto from = *parse_url("https://me:secret@host.example/a/b?q");
  const auto same = redirected(from, "../c?d");
  REQUIRE(same);
  CHECK(same->without_user() == "https://host.example/c?d");
  CHECK(same->password == "secret");
  for (const char* location :
       {"https://other.example/c", "https://host.example:8443/c", "https://you:word@other.example/"}) {
    const auto other = redirected(from, location);
    REQUIRE(other);
    CHECK_FALSE(other->has_user);
    CHECK(other->password.empty());
  }
  CHECK(redirected(from, "https://you:word@host.example/c")->password == "secret");
  CHECK(redirected(from, "http://host.example/c").error().find("from https to http") != std::string::npos);
  CHECK(redirected(*parse_url("http://host.example/"), "https://host.example/"));
  for (const char* location : {"", "file:///etc/passwd", "ftp://host.example/", "https://"})
    CHECK_FALSE(redirected(from, location));
}
