#include "support/sha256.hpp"

#include "support/file.hpp"
#include "support/try.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/sha.h>

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

namespace {

// Fetched once, and without openssl.cnf: reading it costs a millisecond of every start, and no setting of the machine
// may change what a hash is.
const EVP_MD* sha256_method() {
  static const EVP_MD* const k_method = [] {
    OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
    return EVP_MD_fetch(nullptr, "SHA2-256", nullptr);
  }();
  return k_method;
}

}  // namespace

struct Sha256::State {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
};

Sha256::Sha256() : m_state(std::make_unique<State>()) {
  EVP_DigestInit_ex(m_state->context.get(), sha256_method(), nullptr);
}
Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) { EVP_DigestUpdate(m_state->context.get(), bytes.data(), bytes.size()); }

void Sha256::field(std::string_view bytes) {
  update(std::to_string(bytes.size()));
  update(":");
  update(bytes);
}

std::array<std::uint8_t, 32> Sha256::digest() {
  std::array<std::uint8_t, 32> result{};
  EVP_DigestFinal_ex(m_state->context.get(), result.data(), nullptr);
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
  std::array<std::uint8_t, SHA_DIGEST_LENGTH> result{};
  unsigned int size = 0;
  EVP_Digest(bytes.data(), bytes.size(), result.data(), &size, EVP_sha1(), nullptr);
  return to_hex(result);
}

}  // namespace sagekit
