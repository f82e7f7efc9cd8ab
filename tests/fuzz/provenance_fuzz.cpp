// The texts that travel with a wheel: the record inside, checksums and attestations beside it.
#include "fuzz_target.hpp"
#include "inspect/provenance.hpp"
#include "pypa/published_hashes.hpp"

#include <cstdint>

using namespace sagekit;

SAGEKIT_FUZZ_TARGET(provenance) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(read_provenance(text));
  static_cast<void>(listed_sha256(text, "demo-1.0-py3-none-any.whl"));
  static_cast<void>(attested_subjects(text));
  return 0;
}
