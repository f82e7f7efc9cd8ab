#pragma once
// Hashes and base64; the one place that includes nettle.
// Why not OpenSSL: docs/decisions/0012.

#include <sagekit/error.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
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
/// The same of a hash that is known in hex already; "" when it is not 64 hex digits.
std::string sha256_record_of_hex(std::string_view hex);
/// The hash in hex of RECORD's "sha256=..."; nothing when it is not that.
std::optional<std::string> sha256_of_record(std::string_view hash);
/// 64 hexadecimal digits, letters small.
bool is_sha256(std::string_view text);
/// "sha512=..." of content, by Python's name of the algorithm: sha256, sha384, sha512 and sha3_224 to sha3_512; nothing
/// for others.
std::optional<std::string> record_hash(std::string_view algorithm, std::string_view bytes);
/// The same in hex, alone.
std::optional<std::string> hash_hex(std::string_view algorithm, std::string_view bytes);
/// Standard and urlsafe alphabet, with or without padding; nothing for what is neither.
std::optional<std::string> decode_base64(std::string_view text);
Result<std::string> sha256_file(const std::filesystem::path& path);
/// SHA-1 in hex: git's object ids, nothing else.
std::string sha1_hex(std::string_view bytes);

}  // namespace sagekit
