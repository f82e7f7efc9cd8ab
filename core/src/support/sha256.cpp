#include "support/sha256.hpp"

#include "support/file.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <nettle/base16.h>
#include <nettle/base64.h>
#include <nettle/nettle-meta.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

namespace sagekit {

namespace {

std::string to_hex(std::span<const std::uint8_t> bytes) {
  std::string text(BASE16_ENCODE_LENGTH(bytes.size()), '\0');
  ::base16_encode_update(text.data(), bytes.size(), bytes.data());
  return text;
}

std::string record_form(std::string_view algorithm, std::span<const std::uint8_t> digest) {
  std::string text(BASE64_ENCODE_RAW_LENGTH(digest.size()), '\0');
  ::base64_encode_raw(text.data(), digest.size(), digest.data());
  while (text.ends_with('=')) text.pop_back();
  return std::string(algorithm) + "=" + replace_all(replace_all(std::move(text), "+", "-"), "/", "_");
}

constexpr std::array<std::pair<std::string_view, const nettle_hash*>, 7> k_hashes{{{"sha256", &nettle_sha256},
                                                                                   {"sha384", &nettle_sha384},
                                                                                   {"sha512", &nettle_sha512},
                                                                                   {"sha3_224", &nettle_sha3_224},
                                                                                   {"sha3_256", &nettle_sha3_256},
                                                                                   {"sha3_384", &nettle_sha3_384},
                                                                                   {"sha3_512", &nettle_sha3_512}}};

std::optional<std::vector<std::uint8_t>> digest_by(std::string_view algorithm, std::string_view bytes) {
  const auto known = std::ranges::find(k_hashes, algorithm, &std::pair<std::string_view, const nettle_hash*>::first);
  if (known == k_hashes.end()) return std::nullopt;
  const nettle_hash* hash = known->second;
  std::vector<std::uint8_t> context(hash->context_size), digest(hash->digest_size);
  hash->init(context.data());
  hash->update(context.data(), bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
  hash->digest(context.data(), digest.size(), digest.data());
  return digest;
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

std::string sha256_record(std::string_view bytes) { return *record_hash("sha256", bytes); }

std::string sha256_record_of_hex(std::string_view hex) {
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
  std::size_t size = digest.size();
  base16_decode_ctx context;
  ::base16_decode_init(&context);
  if (hex.size() != 2 * digest.size() ||
      ::base16_decode_update(&context, &size, digest.data(), hex.size(), hex.data()) == 0 || size != digest.size())
    return {};
  return record_form("sha256", digest);
}

std::optional<std::string> record_hash(std::string_view algorithm, std::string_view bytes) {
  const auto digest = digest_by(algorithm, bytes);
  return digest ? std::optional(record_form(algorithm, *digest)) : std::nullopt;
}

std::optional<std::string> hash_hex(std::string_view algorithm, std::string_view bytes) {
  const auto digest = digest_by(algorithm, bytes);
  return digest ? std::optional(to_hex(*digest)) : std::nullopt;
}

std::optional<std::string> decode_base64(std::string_view text) {
  std::string padded = replace_all(replace_all(std::string(text), "-", "+"), "_", "/");
  while (padded.ends_with('=')) padded.pop_back();
  while (padded.size() % 4 != 0) padded += '=';
  std::string bytes(BASE64_DECODE_LENGTH(padded.size()), '\0');
  std::size_t size = bytes.size();
  base64_decode_ctx context;
  ::base64_decode_init(&context);
  if (::base64_decode_update(&context, &size, reinterpret_cast<std::uint8_t*>(bytes.data()), padded.size(),
                             padded.data()) == 0 ||
      ::base64_decode_final(&context) == 0)
    return std::nullopt;
  bytes.resize(size);
  return bytes;
}

std::optional<std::string> sha256_of_record(std::string_view hash) {
  constexpr std::string_view k_prefix = "sha256=";
  // RECORD's alphabet is the urlsafe one, without padding.
  if (!hash.starts_with(k_prefix) || hash.find_first_of("+/=", k_prefix.size()) != hash.npos) return std::nullopt;
  const auto digest = decode_base64(hash.substr(k_prefix.size()));
  if (!digest || digest->size() != SHA256_DIGEST_SIZE) return std::nullopt;
  return to_hex({reinterpret_cast<const std::uint8_t*>(digest->data()), digest->size()});
}

bool is_sha256(std::string_view text) {
  return text.size() == std::size_t{2} * SHA256_DIGEST_SIZE && text.find_first_not_of("0123456789abcdef") == text.npos;
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
