#include "index/url.hpp"

#include <doctest/doctest.h>

using namespace sagekit;

TEST_CASE("an address is taken apart and put together without its user") {
  const auto url = parse_url("HTTPS://me:p%40ss@Host.Example:8443/a b/\xc3\xa9?q=1&r#frag");
  REQUIRE(url);
  CHECK(url->scheme == "https");
  CHECK(url->has_user);
  CHECK(url->user == "me");
  CHECK(url->password == "p@ss");
  CHECK(url->host == "host.example");
  CHECK(url->port == 8443);
  CHECK(url->target == "/a%20b/%C3%A9?q=1&r");
  CHECK(url->without_user() == "https://host.example:8443/a%20b/%C3%A9?q=1&r");
  CHECK(parse_url("http://host")->without_user() == "http://host/");
  CHECK(parse_url("https://host:443/x")->without_user() == "https://host/x");
  CHECK(parse_url("http://[::1]:8080/x")->without_user() == "http://[::1]:8080/x");
  CHECK(parse_url("http://host?q")->target == "/?q");
  CHECK(parse_url("https://token@host/")->user == "token");
  CHECK_FALSE(parse_url("https://host/")->has_user);
}

TEST_CASE("what is no http address, or smuggles a line, is refused or encoded") {
  for (const char* text : {"", "host/path", "ftp://host/", "file:///etc/passwd", "javascript:alert(1)", "https:host",
                           "https://", "https:///path", "http://host:0/", "http://host:65536/", "http://host:8x/",
                           "http://ho st/", "http://ho\nst/", "http://[::1/", "http://a%2fb/"})
    CHECK_MESSAGE(!parse_url(text), text);
  CHECK(parse_url("http://host/a\r\nEvil: 1")->target == "/a%0D%0AEvil:%201");
}

TEST_CASE("links are resolved as browsers do, and never carry the page's user along") {
  const std::string base = "https://me:secret@host.example/simple/torch/?x=1";
  const auto at = [&](const char* link) { return resolve_url(base, link).value_or("nothing"); };
  CHECK(at("a.whl") == "https://host.example/simple/torch/a.whl");
  CHECK(at("../../files/a.whl#sha256=00") == "https://host.example/files/a.whl");
  CHECK(at("/a.whl?b#c") == "https://host.example/a.whl?b");
  CHECK(at("//other.example/a") == "https://other.example/a");
  CHECK(at("http://other.example:81/a#f") == "http://other.example:81/a");
  CHECK(at("../../../../a") == "https://host.example/a");
  CHECK(at("./") == "https://host.example/simple/torch/");
  CHECK(at("..") == "https://host.example/simple/");
  CHECK(at("?y") == "https://host.example/simple/torch/?y");
  CHECK(at("javascript:alert(1)") == "nothing");
  CHECK(at("mailto:me@host") == "nothing");
  CHECK_FALSE(resolve_url("no base", "a"));
}

TEST_CASE("percent escapes are decoded, other percent signs stay") {
  CHECK(percent_decoded("a%2Bb%2bc") == "a+b+c");
  CHECK(percent_decoded("100%") == "100%");
  CHECK(percent_decoded("%zz%4") == "%zz%4");
}
