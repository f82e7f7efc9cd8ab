#include "support/sha256.hpp"

#include "support/file.hpp"
#include "support/try.hpp"

#include <nettle/sha1.h>
#include <nettle/sha2.h>

namespace sagekit {

namespace {

template <std::size_t N>
std::string to_hex(const std::array<std::uint8_t, N>& bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * N);
  for (const auto byte : bytes) text += {digits[byte >> 4], digits[byte & 15]};
  return text;
}

}  // namespace

struct Sha256::State {
  sha256_ctx context;
};

Sha256::Sha256() : m_state(std::make_unique<State>()) { ::sha256_init(&m_state->context); }
Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) {
  ::sha256_update(&m_state->context, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
}

void Sha256::field(std::string_view bytes) {
  update(std::to_string(bytes.size()));
  update(":");
  update(bytes);
}

std::array<std::uint8_t, 32> Sha256::digest() {
  std::array<std::uint8_t, 32> result{};
  ::sha256_digest(&m_state->context, result.size(), result.data());
  return result;
}

std::string Sha256::hex() { return to_hex(digest()); }

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.hex();
}

std::string record_hash(const std::array<std::uint8_t, 32>& digest) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text = "sha256=";
  for (std::size_t i = 0; i < digest.size(); i += 3) {
    const std::size_t left = std::min<std::size_t>(3, digest.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) group = group << 8 | (k < left ? digest[i + k] : 0u);
    for (std::size_t k = 0; k <= left; ++k) text += digits[group >> (18 - 6 * k) & 63];
  }
  return text;
}

std::string sha256_record(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return record_hash(hash.digest());
}

Result<std::string> sha256_file(const std::filesystem::path& path) {
  TRY_ASSIGN(const MappedFile file, MappedFile::open(path));
  return sha256_hex(file.bytes());
}

std::string sha1_hex(std::string_view bytes) {
  sha1_ctx context;
  ::sha1_init(&context);
  ::sha1_update(&context, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
  std::array<std::uint8_t, SHA1_DIGEST_SIZE> result{};
  ::sha1_digest(&context, result.size(), result.data());
  return to_hex(result);
}

}  // namespace sagekit
