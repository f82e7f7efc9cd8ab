#pragma once
// All GPU code of one module, image by image, summed by arch and kind.

#include "gpu/fatbin_reader.hpp"

#include <sagekit/inspect.hpp>

#include <cstdint>
#include <vector>

namespace sagekit {

/// One place where images were found.
struct GpuArea {
  enum class Form { fatbins, cubin, ptx };
  Bytes bytes;
  Form form = Form::fatbins;
  bool loaded = true;
};

/// How much of each image is read. Always its header; the notes of one uncompressed cubin for each arch tell the
/// toolkit.
struct GpuReading {
  bool beginnings = true;  ///< also what all images say of themselves in their first bytes and notes
  bool kernels = false;    ///< everything: each image is decompressed, checked, and its kernels are listed
  bool resources = false;  ///< and what its kernels need; implies `kernels`
  unsigned threads = 1;
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;  ///< for images decompressed at the same time
  PassedBytes passed = {};
};

GpuReading gpu_reading(const InspectOptions& options, unsigned threads, const PassedBytes& passed);

struct GpuCodeFacts {
  std::vector<GpuCode> code;
  /// Where the containers of loaded areas start: views whose first byte is theirs.
  std::vector<Bytes> containers;
  std::uint64_t repeated = 0;  ///< as FatbinWiring::repeated
};

GpuCodeFacts read_gpu_code(const std::vector<GpuArea>& areas, const GpuReading& reading, Problems& problems);

}  // namespace sagekit
