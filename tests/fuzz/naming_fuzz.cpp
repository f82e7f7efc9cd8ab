// Any bytes as a wheel's file name, an arch list or a naming template: a value that joins again, or an error with a
// code. clang++-19 -fsanitize=fuzzer,address,undefined; seeds: the names in tests/unit/spec/naming_test.cpp.

#include <sagekit/arch.hpp>
#include <sagekit/naming.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto wheel = sagekit::parse_wheel_name(text)) {
    if (wheel->file_name() != text || wheel->tags().empty()) std::abort();
  } else if (!wheel.error().code.starts_with("NAM")) {
    std::abort();
  }
  if (const auto list = sagekit::parse_arch_list(text)) {
    std::string normal;
    for (const auto& request : *list) normal += to_string(request) + ";";
    if (sagekit::parse_arch_list(normal) != *list) std::abort();
  } else if (!list.error().code.starts_with("ARC")) {
    std::abort();
  }
  const auto expanded = sagekit::expand_template(
      text, {.version = "1.0", .torch = "", .cuda = "13.0", .date = "", .commit = "d1a57a5", .arches = {}});
  if (!expanded && expanded.error().code != "NAM010") std::abort();
  if (sagekit::is_normal_version(text) && text.empty()) std::abort();
  return 0;
}
