// The input is one image, which plain mutation of a compressed fatbin hardly ever reaches. It is stored as it is, as
// LZ4 and as zstd: the listing must be the same.
#include "fuzz_target.hpp"
#include "gpu/gpu_code.hpp"
#include "support/fatbin_builder.hpp"

#include <cstdlib>

using namespace sagekit;

namespace {

std::string listing(const std::string& image, std::uint16_t kind, char compression) {
  test::FatbinBuilder fatbin;
  fatbin.add({.kind = kind, .sm = 90, .suffix = 'a', .image = image, .compression = compression});
  const std::string bytes = fatbin.build();
  Problems problems("fuzz");
  const auto facts = read_gpu_code({{Bytes(bytes), GpuArea::Form::fatbins, true}}, {.resources = true}, problems);
  std::string text;
  for (const auto& code : facts.code) {
    text += sm_name(code.arch) + ' ' + code.toolkit + ' ' + std::to_string(code.kernels) + '\n';
    for (const auto& name : code.names) text += name + '\n';
    for (const auto& kernel : code.resources)
      text += kernel.name + ' ' + std::to_string(kernel.registers) + ' ' + std::to_string(kernel.code_bytes) + ' ' +
              std::to_string(kernel.instructions) + ' ' + std::to_string(static_cast<int>(kernel.body)) + '\n';
  }
  for (const auto& problem : problems.list()) text += problem.code + problem.message + '\n';
  return text;
}

}  // namespace

SAGEKIT_FUZZ_TARGET(recompressed) {
  // Stored images are padded to 8; only then is their size the same in all three.
  std::string image(reinterpret_cast<const char*>(data), size);
  image.resize((size + 7) / 8 * 8, '\0');
  if (image.empty()) return 0;
  const std::uint16_t kind = image[0] == '\x7f' ? 2 : 1;
  const std::string raw = listing(image, kind, 0);
  if (listing(image, kind, 'l') != raw || listing(image, kind, 'z') != raw) std::abort();
  return 0;
}
