#include "archive/deflate_parts.hpp"

#include "support/sha256.hpp"

#define ZLIB_CONST  // input is const
#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

namespace sagekit {

namespace {

/// Smaller ones are compressed sooner than they are known.
constexpr std::size_t k_worth_keeping = std::size_t{64} << 10;

struct BlockReader {
  z_stream stream{};
  BlockReader() {
    if (inflateInit2(&stream, -15) != Z_OK) throw std::bad_alloc();
  }
  ~BlockReader() { inflateEnd(&stream); }
  BlockReader(const BlockReader&) = delete;
  BlockReader& operator=(const BlockReader&) = delete;
};

std::shared_ptr<const DeflatedPart> made_part(std::string_view content, Deflater& deflater) {
  auto part = deflated_part(deflater.whole(content));
  if (!part) throw std::logic_error("a stream just made is no DEFLATE stream");
  return std::make_shared<const DeflatedPart>(std::move(*part));
}

}  // namespace

std::optional<DeflatedPart> deflated_part(std::string stream) {
  // What inflate says of where it stands after a block (zlib.h): bits of the last byte that were not used, in the last
  // block, behind a block.
  constexpr int k_bits = 63, k_last = 64, k_behind_block = 128;
  if (stream.size() > std::numeric_limits<uInt>::max()) return std::nullopt;
  BlockReader reader;
  auto& z = reader.stream;
  z.next_in = reinterpret_cast<const Bytef*>(stream.data());
  z.avail_in = static_cast<uInt>(stream.size());
  std::array<Bytef, 65536> content;
  DeflatedPart part;
  for (;;) {
    z.next_out = content.data();
    z.avail_out = static_cast<uInt>(content.size());
    const int code = inflate(&z, Z_BLOCK);
    if (code == Z_STREAM_END) break;
    if (code != Z_OK) return std::nullopt;
    if ((z.data_type & k_behind_block) == 0) continue;
    const auto at = (stream.size() - z.avail_in) * 8 - static_cast<unsigned>(z.data_type & k_bits);
    ((z.data_type & k_last) != 0 ? part.bits : part.last_block) = at;
  }
  if (part.bits == 0 || z.avail_in != 0) return std::nullopt;
  part.stream = std::move(stream);
  return part;
}

std::string joined(const std::vector<std::shared_ptr<const DeflatedPart>>& parts) {
  std::string stream;
  std::size_t size = 1;
  for (const auto& part : parts) size += part->stream.size() + 1;
  stream.reserve(size);
  std::uint64_t bits = 0;
  for (const auto& part : parts) {
    const auto shift = static_cast<unsigned>(bits % 8);
    if (shift == 0) {
      stream += part->stream;
    } else {
      for (const char c : part->stream) {
        const unsigned byte = static_cast<unsigned char>(c);
        stream.back() = static_cast<char>(static_cast<unsigned char>(stream.back()) | byte << shift);
        stream.push_back(static_cast<char>(byte >> (8 - shift)));
      }
    }
    const auto last = bits + part->last_block;
    bits += part->bits;
    stream.resize((bits + 7) / 8);
    if (part != parts.back())
      stream[last / 8] = static_cast<char>(static_cast<unsigned char>(stream[last / 8]) & ~(1u << (last % 8)));
  }
  return stream;
}

std::shared_ptr<const DeflatedPart> CompressedParts::part(std::string_view content, Deflater& deflater) {
  if (content.size() < k_worth_keeping) return made_part(content, deflater);
  const auto name = sha256_hex(content);
  {
    const std::lock_guard lock(m_mutex);
    if (const auto known = m_parts.find(name); known != m_parts.end()) return known->second;
  }
  auto made = made_part(content, deflater);
  const std::lock_guard lock(m_mutex);
  if (m_bytes + made->stream.size() <= m_most_bytes && m_parts.emplace(name, made).second)
    m_bytes += made->stream.size();
  return made;
}

std::string deflate_in_parts(std::string_view content, const std::vector<std::uint64_t>& cuts, Deflater& deflater,
                             CompressedParts* kept) {
  std::vector<std::shared_ptr<const DeflatedPart>> parts;
  const auto add = [&](std::uint64_t from, std::uint64_t to) {
    if (from >= to) return;
    const auto bytes = content.substr(from, to - from);
    parts.push_back(kept == nullptr ? made_part(bytes, deflater) : kept->part(bytes, deflater));
  };
  std::uint64_t from = 0;
  for (const auto cut : cuts) {
    add(from, std::min<std::uint64_t>(cut, content.size()));
    from = std::max(from, cut);
  }
  add(from, content.size());
  return parts.empty() ? deflater.whole(content) : joined(parts);
}

}  // namespace sagekit
