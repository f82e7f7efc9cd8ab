#include "inspect/file_hash.hpp"

#include "support/sha256.hpp"

namespace sagekit {

std::string sha256_of(const MappedFile& file) {
  constexpr std::size_t k_piece = std::size_t{4} << 20;
  Sha256 hash;
  for (std::string_view rest = file.bytes(); !rest.empty();) {
    const auto piece = rest.substr(0, k_piece);
    hash.update(piece);
    file.forget(piece);
    rest.remove_prefix(piece.size());
  }
  return hash.hex();
}

}  // namespace sagekit
