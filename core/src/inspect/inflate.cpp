#include "inspect/inflate.hpp"

#include <libdeflate.h>

#include <memory>

namespace sagekit {

std::uint32_t crc32_of(std::string_view bytes) { return libdeflate_crc32(0, bytes.data(), bytes.size()); }

std::optional<std::string> inflate_exactly(std::string_view compressed, std::uint64_t size) {
  const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> decompressor{
      libdeflate_alloc_decompressor(), &libdeflate_free_decompressor};
  if (!decompressor) return std::nullopt;
  std::string bytes(static_cast<std::size_t>(size), '\0');
  std::size_t used = 0;
  std::size_t made = 0;
  const auto result = libdeflate_deflate_decompress_ex(decompressor.get(), compressed.data(), compressed.size(),
                                                       bytes.data(), bytes.size(), &used, &made);
  if (result != LIBDEFLATE_SUCCESS || used != compressed.size() || made != bytes.size()) return std::nullopt;
  return bytes;
}

}  // namespace sagekit
