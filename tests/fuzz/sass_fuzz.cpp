// Machine code: counting it and following its branches, in both encodings of distances.
#include "gpu/sass.hpp"

using namespace sagekit;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes code(std::string_view(reinterpret_cast<const char*>(data), size));
  for (const Capability capability : {Capability{8, 0}, Capability{12, 0}}) read_sass(code, capability);
  return 0;
}
