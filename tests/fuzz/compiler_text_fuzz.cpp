// What nvcc and its programs write and the engine reads: dry runs, PTX, stubs, fatbins as source, and the store's own
// lists of kernels.
#include "compile/depfile.hpp"
#include "compile/fatbin_include.hpp"
#include "compile/kernel_interface.hpp"
#include "compile/nvcc_commands.hpp"
#include "fuzz_target.hpp"

#include <cstdint>
#include <cstdlib>

using namespace sagekit;

SAGEKIT_FUZZ_TARGET(compiler_text) {
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
  for (const auto& file : parse_depfile(text))
    if (file.empty()) std::abort();
  if (with_included_fatbin(text, std::string_view("P\xedU\xba\1\0\x10\0", 8), "x.fatbin"))
    if (text.find("fatbinData[1]") == text.npos) std::abort();
  if (const auto kernels = parse_interface(text))
    if (parse_interface(interface_text(*kernels)) != kernels) std::abort();
  return 0;
}
