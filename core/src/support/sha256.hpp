#pragma once
// SHA-256; the one place that includes nettle.
// Why not OpenSSL: docs/decisions/0012.

#include <sagekit/error.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace sagekit {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void update(std::string_view bytes);
  /// Adds a length-prefixed field, so that ("ab","c") and ("a","bc") differ.
  void field(std::string_view bytes);
  std::array<std::uint8_t, 32> digest();  ///< once
  std::string hex();                      ///< once

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

std::string sha256_hex(std::string_view bytes);
/// RECORD's form: urlsafe base64 without padding (PEP 376, PEP 427).
std::string sha256_record(std::string_view bytes);
std::string record_hash(const std::array<std::uint8_t, 32>& digest);
Result<std::string> sha256_file(const std::filesystem::path& path);
/// SHA-1 in hex: git's object ids, nothing else.
std::string sha1_hex(std::string_view bytes);

}  // namespace sagekit
