#pragma once
// A raw DEFLATE stream (RFC 1951) out of parts that were compressed each by itself: GPU code that the modules of a
// whole matrix share is compressed once.

#include "archive/inflate.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// A stream that others can follow.
struct DeflatedPart {
  std::string stream;
  std::uint64_t bits = 0;        ///< its length
  std::uint64_t last_block = 0;  ///< the bit at which its last block begins: it says that it is the last
};

/// Nothing for what is no whole raw stream.
std::optional<DeflatedPart> deflated_part(std::string stream);

/// One stream of their contents, one after the other.
std::string joined(const std::vector<std::shared_ptr<const DeflatedPart>>& parts);

/// Parts by what is in them. For several threads.
class CompressedParts {
 public:
  explicit CompressedParts(std::size_t most_bytes = std::size_t{256} << 20) : m_most_bytes(most_bytes) {}

  /// From what is kept, or made by `deflater` and kept while there is room.
  std::shared_ptr<const DeflatedPart> part(std::string_view content, Deflater& deflater);

 private:
  std::mutex m_mutex;
  std::size_t m_most_bytes, m_bytes = 0;
  std::map<std::string, std::shared_ptr<const DeflatedPart>> m_parts;
};

/// The stream of `content`, cut at these offsets, which grow: a function of content and cuts, whatever is kept.
std::string deflate_in_parts(std::string_view content, const std::vector<std::uint64_t>& cuts, Deflater& deflater,
                             CompressedParts* kept);

}  // namespace sagekit
