// Machine code: counting it and following its branches, in both encodings of distances.
#include "fuzz_target.hpp"
#include "gpu/sass.hpp"

using namespace sagekit;

SAGEKIT_FUZZ_TARGET(sass) {
  const Bytes code(std::string_view(reinterpret_cast<const char*>(data), size));
  for (const Capability capability : {Capability{8, 0}, Capability{12, 0}}) read_sass(code, capability);
  return 0;
}
