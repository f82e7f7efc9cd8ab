// The end of a DEFLATE stream. What zlib makes of the whole input as a stream must agree with what is known of its end.
#include "archive/deflate_tail.hpp"
#include "fuzz_target.hpp"

#include <cstdlib>

using namespace sagekit;

SAGEKIT_FUZZ_TARGET(deflate_tail) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  constexpr std::uint64_t limit = 1 << 20;
  PrefixInflater inflater;
  bool good = true;
  for (std::size_t at = 0; at < size && good; at += 100) good = inflater.feed(bytes.substr(at, 100), limit);
  if (inflater.content().size() > limit) std::abort();
  const auto tail = InflatedTail::read(bytes, limit);
  if (!tail) return 0;
  if (tail->size() > limit || tail->known(tail->size(), 1) || tail->known(1, tail->size())) std::abort();
  for (std::uint64_t at = 0; at < tail->size(); at += 50) (void)tail->known(at, 50);
  return 0;
}
