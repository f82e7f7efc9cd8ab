// A run of fatbin containers: entries, both compressions, and the images in them.
#include "fuzz_target.hpp"
#include "gpu/gpu_code.hpp"

using namespace sagekit;

SAGEKIT_FUZZ_TARGET(fatbin) {
  const Bytes file(std::string_view(reinterpret_cast<const char*>(data), size));
  for (const GpuReading& reading :
       {GpuReading{.beginnings = false}, GpuReading{}, GpuReading{.kernels = true}, GpuReading{.resources = true}}) {
    Problems problems("fuzz");
    read_gpu_code({{file, GpuArea::Form::fatbins, true}}, reading, problems);
  }
  return 0;
}
