// The decompressors of fatbin images: the first bytes say which, and what size is claimed.
#include "fuzz_target.hpp"
#include "gpu/image_codec.hpp"

#include <cstdlib>

using namespace sagekit;

SAGEKIT_FUZZ_TARGET(image_codec) {
  if (size < 4) return 0;
  const auto compression = static_cast<ImageCompression>(data[0] % 3);
  const std::uint64_t claimed = data[1] | std::uint64_t{data[2]} << 8;
  const std::string_view stored(reinterpret_cast<const char*>(data) + 4, size - 4);
  ImageDecoder decoder;
  std::string beginning;
  const auto first = decoder.beginning(stored, compression, claimed, 64);
  if (first) beginning = *first;
  // What could be decompressed whole must begin as it did before; of LZ4 only the beginning refuses a distance of 0.
  const auto whole = decoder.whole(stored, compression, claimed);
  if (whole && !first && compression != ImageCompression::lz4) std::abort();
  if (whole && first && !whole->starts_with(beginning)) std::abort();
  return 0;
}
