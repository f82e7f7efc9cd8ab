#pragma once
// DEFLATE and CRC-32; the one place that includes libdeflate.

#include "support/scratch_memory.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace sagekit {

std::uint32_t crc32_of(std::string_view bytes);

/// Inflates stream after stream into the same memory. Not for two threads at once.
class Inflater {
 public:
  Inflater();
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// One raw DEFLATE stream that must use all of `compressed` and give exactly `size` bytes; nothing when it does
  /// neither. The caller bounds `size`: that much is allocated. The view is good until the next call.
  std::optional<std::string_view> whole(std::string_view compressed, std::uint64_t size);

 private:
  struct Decompressor;
  std::unique_ptr<Decompressor> m_decompressor;
  ScratchMemory m_memory;
};

/// Makes stream after stream, each a function of its bytes alone. Not for two threads at once.
class Deflater {
 public:
  Deflater();
  ~Deflater();
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  /// One raw DEFLATE stream.
  std::string whole(std::string_view bytes);

 private:
  struct Compressor;
  std::unique_ptr<Compressor> m_compressor;
};

/// A gzip file (RFC 1952) of one member, without name and time.
std::string gzip_of(std::string_view bytes);

}  // namespace sagekit
