#pragma once
// Writes little-endian records for fixtures.

#include <cstdint>
#include <string>
#include <string_view>

namespace sagekit::test {

class ByteWriter {
 public:
  ByteWriter& u8(std::uint64_t value) { return number(value, 1); }
  ByteWriter& u16(std::uint64_t value) { return number(value, 2); }
  ByteWriter& u32(std::uint64_t value) { return number(value, 4); }
  ByteWriter& u64(std::uint64_t value) { return number(value, 8); }
  ByteWriter& text(std::string_view value) {
    m_bytes += value;
    return *this;
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

}  // namespace sagekit::test
