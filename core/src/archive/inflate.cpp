#include "archive/inflate.hpp"

#include <libdeflate.h>

#include <new>

namespace sagekit {

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

}  // namespace sagekit
