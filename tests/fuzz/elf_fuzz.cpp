// An ELF module: dynamic segment, symbols, GPU sections, and code outside them.
#include "inspect/elf_file.hpp"
#include "inspect/module_reader.hpp"

using namespace sagekit;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes file(std::string_view(reinterpret_cast<const char*>(data), size));
  InspectOptions options;
  options.kernels = true;
  if (ElfFile::looks_like(file)) read_module("fuzz.so", file, options, 1);
  return 0;
}
