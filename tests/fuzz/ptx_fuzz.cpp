// PTX text: its header, its kernels.
#include "fuzz_target.hpp"
#include "gpu/ptx_reader.hpp"

#include <cstdint>
#include <cstdlib>

using namespace sagekit;

SAGEKIT_FUZZ_TARGET(ptx) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  looks_like_ptx(text);
  const auto header = read_ptx(text, false);
  const auto whole = read_ptx(text, true);
  if (header.has_value() != whole.has_value() || (header && header->arch != whole->arch)) std::abort();
  return 0;
}
