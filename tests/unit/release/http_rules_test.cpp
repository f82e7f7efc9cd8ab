#include "release/http_rules.hpp"

#include <doctest/doctest.h>

using namespace sagekit;

namespace {

std::string shown(std::string_view header, std::uint64_t size) {
  const auto range = asked_range(header, size);
  if (range.kind == AskedRange::Kind::whole) return "whole";
  if (range.kind == AskedRange::Kind::beyond) return "beyond";
  return std::to_string(range.first) + "+" + std::to_string(range.length);
}

}  // namespace

TEST_CASE("a Range header is one part, or the whole, never outside") {
  CHECK(shown("", 10) == "whole");
  CHECK(shown("bytes=0-3", 10) == "0+4");
  CHECK(shown("Bytes=4-", 10) == "4+6");
  CHECK(shown("bytes=-3", 10) == "7+3");
  CHECK(shown("bytes=-300", 10) == "0+10");
  CHECK(shown("bytes=5-900", 10) == "5+5");
  CHECK(shown("bytes=9-9", 10) == "9+1");
  CHECK(shown("bytes=10-", 10) == "beyond");
  CHECK(shown("bytes=-0", 10) == "beyond");
  CHECK(shown("bytes=-5", 0) == "beyond");
  CHECK(shown("bytes=0-", 0) == "beyond");
  for (const auto* nonsense : {"bytes=3-1", "bytes=0-1,3-4", "bytes=a-b", "bytes=-", "bytes=", "items=0-3",
                               "bytes=99999999999999999999-", "bytes=1-2-3", "bytes=+1-2"})
    CHECK(shown(nonsense, 10) == "whole");
}

TEST_CASE("an ETag is found in lists, weak or strong") {
  CHECK(lists_etag("\"a\"", "\"a\""));
  CHECK(lists_etag("\"b\", W/\"a\"", "\"a\""));
  CHECK(lists_etag("*", "\"a\""));
  CHECK_FALSE(lists_etag("\"ab\"", "\"a\""));
  CHECK_FALSE(lists_etag("", "\"a\""));
}

TEST_CASE("a page is JSON for those that would rather have it") {
  // pip's, uv's, a browser's, curl's, and one that says no.
  CHECK(prefers_json(
      "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html; q=0.1, text/html; q=0.01"));
  CHECK(
      prefers_json("application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01"));
  CHECK(prefers_json("application/vnd.pypi.simple.latest+json"));
  CHECK_FALSE(prefers_json("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"));
  CHECK_FALSE(prefers_json("*/*"));
  CHECK_FALSE(prefers_json(""));
  CHECK_FALSE(prefers_json("application/vnd.pypi.simple.v1+json;q=0, text/html;q=0.1"));
  CHECK_FALSE(prefers_json("application/vnd.pypi.simple.v1+json;q=0.25, text/html;q=0.3"));
}

TEST_CASE("a path leads to visible names below the folder and nowhere else") {
  CHECK(safe_segments("/")->empty());
  CHECK(*safe_segments("/simple/a/") == std::vector<std::string>{"simple", "a"});
  CHECK(*safe_segments("/x+y.whl") == std::vector<std::string>{"x+y.whl"});
  for (const std::string_view bad : {"", "simple", "/../etc/passwd", "/simple/../../x", "/./x", "//etc", "/a//b",
                                     "/.git/config", "/a/.hidden", "/a\\..\\b", "/a/.."})
    CHECK_MESSAGE(!safe_segments(bad), bad);
  CHECK_FALSE(safe_segments(std::string_view("/a\0b", 4)));
}

TEST_CASE("only this machine's own names are its own") {
  for (const auto* good : {"127.0.0.1", "127.0.0.1:8080", "localhost:1", "LOCALHOST", "[::1]:8080"})
    CHECK_MESSAGE(names_loopback(good), good);
  for (const auto* bad : {"", "evil.example", "127.0.0.1.evil.example:80", "192.168.0.1", "[::2]"})
    CHECK_MESSAGE(!names_loopback(bad), bad);
}
