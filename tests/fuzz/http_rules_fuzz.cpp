// Headers and paths that a client of the index server sends: never outside the file, never outside the folder.
#include "fuzz_target.hpp"
#include "release/http_rules.hpp"

#include <cstdint>
#include <cstdlib>

using namespace sagekit;

SAGEKIT_FUZZ_TARGET(http_rules) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const std::uint64_t whole : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1000}, ~std::uint64_t{0}}) {
    const auto range = asked_range(text, whole);
    if (range.first > whole || range.length > whole - range.first) std::abort();
    if (range.kind == AskedRange::Kind::part && range.length == 0) std::abort();
  }
  prefers_json(text);
  lists_etag(text, "\"x\"");
  names_loopback(text);
  if (const auto segments = safe_segments(text))
    for (const auto& segment : *segments)
      if (segment.empty() || segment[0] == '.' || segment.find('/') != std::string::npos) std::abort();
  return 0;
}
