#pragma once
// The two compressions of fatbin images; the one place that includes zstd and LZ4.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sagekit {

enum class ImageCompression { none, lz4, zstd };

/// An image larger than this when decompressed, or more than `k_max_image_ratio` times its stored size, is refused
/// before anything is allocated. LZ4 cannot pass 255; zstd does on padding only.
inline constexpr std::uint64_t k_max_image_bytes = std::uint64_t{1} << 31;
inline constexpr std::uint64_t k_max_image_ratio = 2048;

/// May an image of `stored` bytes be `size` bytes when decompressed?
bool image_size_is_sane(std::uint64_t stored, std::uint64_t size);

/// Decompresses one LZ4 block or one zstd frame that must use all of `stored` and give exactly `size` bytes.
/// Nothing when it does not, or when `image_size_is_sane` says no.
std::optional<std::string> decompress_image(std::string_view stored, ImageCompression compression, std::uint64_t size);

}  // namespace sagekit
