#include "archive/inflate.hpp"

#include "support/byte_writer.hpp"

#include <libdeflate.h>

#include <new>

namespace sagekit {

namespace {

/// Of machine code it makes what zlib's level 9 makes, to half a percent, in a seventh of the CPU time
/// (bench/deflate_bench, docs/decisions/0013).
constexpr int k_deflate_level = 8;

}  // namespace

std::uint32_t crc32_of(std::string_view bytes) { return libdeflate_crc32(0, bytes.data(), bytes.size()); }

struct Inflater::Decompressor {
  libdeflate_decompressor* handle = libdeflate_alloc_decompressor();
  Decompressor() {
    if (handle == nullptr) throw std::bad_alloc();
  }
  ~Decompressor() { libdeflate_free_decompressor(handle); }
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;
};

Inflater::Inflater() = default;
Inflater::~Inflater() = default;

std::optional<std::string_view> Inflater::whole(std::string_view compressed, std::uint64_t size) {
  if (!m_decompressor) m_decompressor = std::make_unique<Decompressor>();
  const auto wanted = static_cast<std::size_t>(size);
  char* const bytes = m_memory.room(wanted);
  std::size_t used = 0;
  std::size_t made = 0;
  const auto result = libdeflate_deflate_decompress_ex(m_decompressor->handle, compressed.data(), compressed.size(),
                                                       bytes, wanted, &used, &made);
  if (result != LIBDEFLATE_SUCCESS || used != compressed.size() || made != wanted) return std::nullopt;
  return std::string_view(bytes, wanted);
}

struct Deflater::Compressor {
  libdeflate_compressor* handle = libdeflate_alloc_compressor(k_deflate_level);
  Compressor() {
    if (handle == nullptr) throw std::bad_alloc();
  }
  ~Compressor() { libdeflate_free_compressor(handle); }
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;
};

Deflater::Deflater() : m_compressor(std::make_unique<Compressor>()) {}
Deflater::~Deflater() = default;

std::string Deflater::whole(std::string_view bytes) {
  std::string stream(libdeflate_deflate_compress_bound(m_compressor->handle, bytes.size()), '\0');
  stream.resize(
      libdeflate_deflate_compress(m_compressor->handle, bytes.data(), bytes.size(), stream.data(), stream.size()));
  stream.shrink_to_fit();
  return stream;
}

std::string gzip_of(std::string_view bytes) {
  using namespace std::string_view_literals;
  // Deflate, no flags, no time, the slowest compression, unknown system.
  ByteWriter file;
  file.text("\x1f\x8b\x08\0\0\0\0\0\x02\xff"sv).text(Deflater().whole(bytes)).u32(crc32_of(bytes)).u32(bytes.size());
  return file.bytes();
}

}  // namespace sagekit
