#pragma once
// zstd frames (RFC 8878); the one place that includes the library.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace sagekit {

/// One frame that states its size.
std::string zstd_frame(std::string_view content, int level);

/// What a frame says that it holds; nothing when `stored` is not exactly one frame, or when it does not say.
std::optional<std::uint64_t> zstd_content_size(std::string_view stored);

/// Decompresses frame after frame. Not for two threads at once.
class ZstdDecoder {
 public:
  ZstdDecoder();
  ~ZstdDecoder();
  ZstdDecoder(const ZstdDecoder&) = delete;
  ZstdDecoder& operator=(const ZstdDecoder&) = delete;

  /// Exactly `size` bytes to `out`, from all of `stored`, which must be one frame that states this size.
  bool whole(std::string_view stored, char* out, std::size_t size);
  /// As many of the first `wanted` bytes as come without a window of more than 8 MiB, what every decoder must grant
  /// (RFC 8878, 3.1.1.1.2).
  std::size_t beginning(std::string_view stored, char* out, std::size_t wanted);

 private:
  struct Context;
  std::unique_ptr<Context> m_context;
};

/// All of a frame; nothing when it is none or holds more than `most_bytes`.
std::optional<std::string> zstd_content(std::string_view stored, std::uint64_t most_bytes);

}  // namespace sagekit
