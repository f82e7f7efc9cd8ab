// What nvcc and cicc write and the engine reads: dry runs, PTX, stubs, and the store's own lists of kernels.
#include "build/kernel_interface.hpp"
#include "build/nvcc_commands.hpp"

#include <cstdint>
#include <cstdlib>

using namespace sagekit;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto commands = read_dryrun(text)) {
    for (const auto& device : commands->devices)
      if (device.images.empty() || device.compile.empty() || device.preprocess.empty()) std::abort();
    if (in_folder(*commands, commands->folder).compile != commands->compile) std::abort();
  }
  const KernelInterface sample{{{"_Z1kIfEvPT_3Bigsi", {8, 160, 2, 4}}, {"plain", {}}}, {"table"}};
  if (const auto asserted = with_size_assertions(text, sample))
    if (asserted->size() <= text.size()) std::abort();
  if (const auto registered = read_registered(text)) stub_differs(*registered, sample);
  read_interface(text);
  if (const auto kernels = parse_interface(text))
    if (parse_interface(interface_text(*kernels)) != kernels) std::abort();
  return 0;
}
