#pragma once
// One image of GPU code: what its content says, held against what its header says.

#include "gpu/gpu_code.hpp"

#include <sagekit/inspect.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sagekit {

struct GpuImage {
  FatbinImage header = {};
  bool loaded = true;
  bool bare = false;  ///< not in a fatbin: only its content says what it is
  // What its content says:
  std::string toolkit = {};
  std::optional<Capability> compiled_from = {};
  std::vector<std::string> kernels = {};
  std::vector<KernelResources> resources = {};  ///< instead of `kernels`
  std::vector<std::size_t> global_names = {};   ///< as CubinFacts::global_names
  Diagnostics problems = {};
  bool mislabelled = false, unreadable = false;  ///< as GpuCode counts them
  bool dropped = false;                          ///< unreadable and without a header that would say what it is
};

/// Fills the second half of `image`, as far as `reading` goes. `where` is for messages.
void read_gpu_image(GpuImage& image, const GpuReading& reading, ImageDecoder& decoder, const std::string& where);

}  // namespace sagekit
