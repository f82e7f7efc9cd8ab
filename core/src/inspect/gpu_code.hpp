#pragma once
// All GPU code of one module, image by image, summed by arch and kind.

#include "inspect/fatbin_reader.hpp"

#include <sagekit/inspect.hpp>

#include <vector>

namespace sagekit {

/// One place where images were found.
struct GpuArea {
  enum class Form { fatbins, cubin, ptx };
  Bytes bytes;
  Form form = Form::fatbins;
  bool loaded = true;
};

/// Reads every image of the areas. Headers only, plus the notes of cubins that are stored uncompressed; with `kernels`
/// each image is decompressed, checked against its header and its kernels are listed, on at most `threads` threads.
std::vector<GpuCode> read_gpu_code(const std::vector<GpuArea>& areas, bool kernels, unsigned threads,
                                   Problems& problems);

}  // namespace sagekit
