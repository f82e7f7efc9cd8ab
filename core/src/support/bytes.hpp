#pragma once
// Little-endian numbers and strings read out of foreign bytes, with every offset checked.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace sagekit {

/// A view of bytes somebody else wrote. Offsets may be anything: nothing outside the view is ever read.
///
/// Records are read in two steps: `slice` says whether the whole record is there, then its fields are taken from the
/// slice. A field outside the view reads as 0, so a forgotten check is a wrong fact and not a wild read.
class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(std::string_view bytes) : m_bytes(bytes) {}

  std::uint64_t size() const { return m_bytes.size(); }
  bool empty() const { return m_bytes.empty(); }
  std::string_view view() const { return m_bytes; }
  const char* data() const { return m_bytes.data(); }

  bool holds(std::uint64_t offset, std::uint64_t length) const {
    return offset <= m_bytes.size() && length <= m_bytes.size() - offset;
  }
  std::optional<Bytes> slice(std::uint64_t offset, std::uint64_t length) const {
    if (!holds(offset, length)) return std::nullopt;
    return Bytes(m_bytes.substr(static_cast<std::size_t>(offset), static_cast<std::size_t>(length)));
  }
  /// From `offset` to the end; empty when there is nothing.
  Bytes from(std::uint64_t offset) const {
    return offset >= m_bytes.size() ? Bytes() : Bytes(m_bytes.substr(static_cast<std::size_t>(offset)));
  }
  /// The NUL-terminated string at `offset`; nothing when no NUL follows.
  std::optional<std::string_view> c_string(std::uint64_t offset) const {
    if (offset >= m_bytes.size()) return std::nullopt;
    const std::string_view rest = m_bytes.substr(static_cast<std::size_t>(offset));
    const std::size_t end = rest.find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    return rest.substr(0, end);
  }

  std::uint8_t u8(std::uint64_t offset) const { return static_cast<std::uint8_t>(number(offset, 1)); }
  std::uint16_t u16(std::uint64_t offset) const { return static_cast<std::uint16_t>(number(offset, 2)); }
  std::uint32_t u32(std::uint64_t offset) const { return static_cast<std::uint32_t>(number(offset, 4)); }
  std::uint64_t u64(std::uint64_t offset) const { return number(offset, 8); }
  bool starts_with(std::string_view text) const { return m_bytes.starts_with(text); }

 private:
  std::uint64_t number(std::uint64_t offset, unsigned width) const {
    if (!holds(offset, width)) return 0;
    std::uint64_t value = 0;
    for (unsigned i = 0; i < width; ++i)
      value |= std::uint64_t{static_cast<unsigned char>(m_bytes[static_cast<std::size_t>(offset) + i])} << (8 * i);
    return value;
  }

  std::string_view m_bytes;
};

/// Is told of bytes that a reader has passed and will hardly look at again, so that a mapped file's pages can be left.
/// Empty = nobody wants to know.
using PassedBytes = std::function<void(std::string_view)>;

/// `value` rounded up to a multiple of `alignment` (a power of two); nothing when that does not fit.
inline std::optional<std::uint64_t> aligned(std::uint64_t value, std::uint64_t alignment) {
  const std::uint64_t mask = alignment - 1;
  if (value > UINT64_MAX - mask) return std::nullopt;
  return (value + mask) & ~mask;
}

}  // namespace sagekit
