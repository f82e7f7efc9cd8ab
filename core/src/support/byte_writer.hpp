#pragma once
// Writes little-endian records, field after field.

#include <cstdint>
#include <string>
#include <string_view>

namespace sagekit {

class ByteWriter {
 public:
  ByteWriter& u8(std::uint64_t value) { return number(value, 1); }
  ByteWriter& u16(std::uint64_t value) { return number(value, 2); }
  ByteWriter& u32(std::uint64_t value) { return number(value, 4); }
  ByteWriter& u64(std::uint64_t value) { return number(value, 8); }
  /// `value`, and zeros up to `width`.
  ByteWriter& text(std::string_view value, std::size_t width = 0) {
    m_bytes += value;
    return width > value.size() ? zeros(width - value.size()) : *this;
  }
  ByteWriter& zeros(std::size_t count) {
    m_bytes.append(count, '\0');
    return *this;
  }
  ByteWriter& align(std::size_t to) { return zeros((to - m_bytes.size() % to) % to); }
  /// Overwrites what is there.
  ByteWriter& patch(std::size_t at, std::uint64_t value, unsigned width) {
    for (unsigned i = 0; i < width; ++i) m_bytes.at(at + i) = static_cast<char>(value >> (8 * i));
    return *this;
  }
  std::size_t size() const { return m_bytes.size(); }
  const std::string& bytes() const { return m_bytes; }

 private:
  ByteWriter& number(std::uint64_t value, unsigned width) {
    for (unsigned i = 0; i < width; ++i) m_bytes += static_cast<char>(value >> (8 * i));
    return *this;
  }
  std::string m_bytes;
};

}  // namespace sagekit
