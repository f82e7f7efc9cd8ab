#include "archive/deflate_tail.hpp"

#include "unit/index/small_wheels.hpp"

#include <doctest/doctest.h>

using namespace sagekit;

TEST_CASE("the end of a stream is inflated from a block's start at any bit, and its bytes are right") {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const std::string content = test::like_code(900'000, seed);
    const std::string compressed = test::deflate(content);
    const auto tail = InflatedTail::read(std::string_view(compressed).substr(compressed.size() - 200'000), 64 << 20);
    REQUIRE(tail);
    CHECK(tail->size() > 150'000);
    CHECK(tail->size() < content.size());
    // Far behind the first block no copy reaches before it any more, unless by a chain of copies.
    std::uint64_t known = 0;
    const std::uint64_t begin = content.size() - tail->size();
    for (std::uint64_t at = 0; at + 1000 <= tail->size(); at += 1000) {
      const auto bytes = tail->known(at, 1000);
      if (!bytes) continue;
      known += 1000;
      REQUIRE(*bytes == std::string_view(content).substr(begin + at, 1000));
    }
    CHECK(known > 100'000);
    CHECK_FALSE(tail->known(tail->size() - 10, 11));
    CHECK_FALSE(tail->known(tail->size() + 1, 0));
    CHECK(tail->known(tail->size(), 0));
  }
}

TEST_CASE("bytes that hang on what is missing are unknown, never wrong") {
  // One block's worth repeats what stood 20,000 bytes before: the tail cannot know it.
  const std::string secret = test::like_code(20'000, 9);
  const std::string content =
      test::like_code(200'000, 2) + secret + test::like_code(100'000, 3) + secret.substr(0, 8'000);
  const std::string compressed = test::deflate(content);
  for (std::size_t length = 2'000; length < compressed.size(); length += 7'000) {
    const auto tail = InflatedTail::read(std::string_view(compressed).substr(compressed.size() - length), 64 << 20);
    if (!tail) continue;
    REQUIRE(tail->size() <= content.size());
    const std::uint64_t begin = content.size() - tail->size();
    for (std::uint64_t at = 0; at + 64 <= tail->size(); at += 64)
      if (const auto bytes = tail->known(at, 64)) REQUIRE(*bytes == std::string_view(content).substr(begin + at, 64));
  }
}

TEST_CASE("data without a block's start, cut off, altered or growing too far has no tail") {
  const std::string compressed = test::deflate(test::like_code(600'000));
  const std::string_view end = std::string_view(compressed).substr(compressed.size() - 150'000);
  REQUIRE(InflatedTail::read(end, 64 << 20));
  CHECK_FALSE(InflatedTail::read(end.substr(0, end.size() - 20), 64 << 20));
  CHECK_FALSE(InflatedTail::read(std::string(end) + "more", 64 << 20));
  CHECK_FALSE(InflatedTail::read(end, 10'000));
  CHECK_FALSE(InflatedTail::read({}, 64 << 20));
  CHECK_FALSE(InflatedTail::read(std::string(100'000, '\0'), 64 << 20));
  CHECK_FALSE(InflatedTail::read(test::like_code(100'000, 5), 64 << 20));
}

TEST_CASE("the beginning of a stream is inflated piece by piece, as far as it is wanted") {
  const std::string content = test::like_code(300'000);
  const std::string compressed = test::deflate(content);
  PrefixInflater inflater;
  std::size_t at = 0;
  for (const std::uint64_t wanted : {100u, 50'000u, 200'000u}) {
    CHECK(inflater.feed({}, wanted));
    while (inflater.content().size() < wanted) {
      REQUIRE(inflater.feed(std::string_view(compressed).substr(at, 777), wanted));
      at += 777;
    }
    CHECK(inflater.content() == content.substr(0, wanted));
  }
  CHECK(inflater.feed(std::string_view(compressed).substr(at), content.size()));
  CHECK(inflater.content() == content);
  CHECK_FALSE(inflater.feed("more", content.size() + 1));

  PrefixInflater damaged;
  CHECK_FALSE(damaged.feed(std::string(1000, '\xff'), 10'000));
  PrefixInflater moved = std::move(inflater);
  CHECK(moved.content() == content);
}
