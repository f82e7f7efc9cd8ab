#include "archive/deflate_parts.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

using namespace sagekit;

namespace {

/// As well compressible as machine code: words of a small vocabulary.
std::string code_of(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::string bytes;
  while (bytes.size() < size) bytes += "instruction " + std::to_string(random() % 300) + "\0\1"[random() % 2];
  bytes.resize(size);
  return bytes;
}

}  // namespace

TEST_CASE("a stream of parts is one stream of all that is in them, wherever it is cut") {
  Deflater deflater;
  Inflater inflater;
  for (const std::size_t size : {0, 1, 7, 1000, 200'000, 1'500'000}) {
    const auto content = code_of(size, 7);
    for (const auto& cuts : std::vector<std::vector<std::uint64_t>>{
             {}, {0}, {size}, {size / 3}, {size / 5, size / 2}, {1, 2, 3, size / 2, size / 2}, {size + 9}, {0, size}}) {
      CAPTURE(size);
      CAPTURE(cuts.size());
      const auto stream = deflate_in_parts(content, cuts, deflater, nullptr);
      const auto again = inflater.whole(stream, size);
      REQUIRE(again);
      CHECK(*again == content);
      CHECK(stream.size() < deflater.whole(content).size() + 400 * cuts.size() + 10);
    }
  }
}

TEST_CASE("parts that do not compress are joined, too") {
  std::mt19937 random(3);
  std::string noise(300'000, ' ');
  for (auto& c : noise) c = static_cast<char>(random());
  Deflater deflater;
  Inflater inflater;
  const auto stream = deflate_in_parts(noise, {77, 100'001}, deflater, nullptr);
  const auto again = inflater.whole(stream, noise.size());
  REQUIRE(again);
  CHECK(*again == noise);
}

TEST_CASE("what is kept changes no byte and is made once") {
  Deflater deflater;
  const auto shared = code_of(500'000, 1);
  const auto one = code_of(90'000, 2) + shared, other = code_of(70'000, 3) + shared + "end";
  CompressedParts kept;
  CHECK(deflate_in_parts(one, {90'000}, deflater, &kept) == deflate_in_parts(one, {90'000}, deflater, nullptr));
  CHECK(kept.part(shared, deflater) == kept.part(shared, deflater));
  CHECK(deflate_in_parts(other, {70'000, 570'000}, deflater, &kept) ==
        deflate_in_parts(other, {70'000, 570'000}, deflater, nullptr));
  CompressedParts none(0);
  CHECK(none.part(shared, deflater) != none.part(shared, deflater));
}

TEST_CASE("what is no whole stream is no part") {
  const auto stream = Deflater().whole(code_of(100'000, 5));
  CHECK(deflated_part(stream));
  CHECK_FALSE(deflated_part(stream.substr(0, stream.size() / 2)));
  CHECK_FALSE(deflated_part(stream + "x"));
  CHECK_FALSE(deflated_part(""));
  CHECK_FALSE(deflated_part("\x07"));
}
