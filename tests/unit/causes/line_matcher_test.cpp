#include "causes/line_matcher.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>

using namespace sagekit;

TEST_CASE("a line is looked at for long words, not for a short one that stands everywhere") {
  const LineMatcher matcher({"CUDA (?P<needs>\\d+\\.\\d) or (?:above|newer) is required"});
  const auto is_looked_at = [&](std::string_view line) {
    std::vector<WordHit> hits;
    matcher.read_line(line, 0, hits);
    return std::ranges::any_of(hits, [&](const WordHit& hit) { return matcher.is_first(hit.word); });
  };
  CHECK_FALSE(is_looked_at("/usr/local/cuda/bin/nvcc -c csrc/a.cu, as CUDA is required"));
  CHECK(is_looked_at("CUDA 12.3 or newer is required"));
  CHECK(is_looked_at("cuda 12.3 OR ABOVE IS REQUIRED"));
}
