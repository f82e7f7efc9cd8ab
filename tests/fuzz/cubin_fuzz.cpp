// One image: a cubin with its notes and symbols, else PTX text.
#include "fuzz_target.hpp"
#include "gpu/cubin_reader.hpp"
#include "gpu/ptx_reader.hpp"

using namespace sagekit;

SAGEKIT_FUZZ_TARGET(cubin) {
  const Bytes image(std::string_view(reinterpret_cast<const char*>(data), size));
  Problems problems("fuzz");
  if (looks_like_cubin(image))
    read_cubin(image, CubinDetail::resources, problems);
  else if (looks_like_ptx(image.view()))
    read_ptx(image.view(), true);
  return 0;
}
