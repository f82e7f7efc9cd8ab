// A Windows module: headers, imports, exports, GPU sections.
#include "inspect/module_reader.hpp"
#include "inspect/pe_reader.hpp"

using namespace sagekit;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes file(std::string_view(reinterpret_cast<const char*>(data), size));
  InspectOptions options;
  options.kernels = true;
  if (looks_like_pe(file)) read_module("fuzz.pyd", file, options, 1);
  return 0;
}
