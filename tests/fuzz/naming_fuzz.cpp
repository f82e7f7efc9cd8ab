// Any bytes as a wheel's file name, an arch list or a naming template: a value that joins again, or an error with a
// code. clang++-19 -fsanitize=fuzzer,address,undefined; seeds: names as they were published.

#include "fuzz_target.hpp"

#include <sagekit/arch.hpp>
#include <sagekit/naming.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

SAGEKIT_FUZZ_TARGET(naming) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto wheel = sagekit::parse_wheel_name(text)) {
    if (wheel->file_name() != text || wheel->tags().empty()) std::abort();
  } else if (!wheel.error().code.starts_with("NAM")) {
    std::abort();
  }
  // A name is read as a wheel's name or not at all, and never as what it does not hold.
  static const auto reader = sagekit::WheelNameReader::make(sagekit::naming_schemes()).value();
  if (const auto readings = reader.read(text)) {
    if (readings->empty()) std::abort();
    for (const auto& reading : *readings) {
      if (reading.package.empty() || reading.version.empty() || reading.platform.empty()) std::abort();
      if (reading.scheme.empty() && (!reading.torch.empty() || !reading.cuda.empty())) std::abort();
    }
  } else if (!readings.error().code.starts_with("NAM")) {
    std::abort();
  }
  if (const auto scheme =
          sagekit::WheelNameReader::make(std::vector<sagekit::NamingScheme>{{"own", std::string(text)}}))
    (void)scheme->read("sageattention-2.2.0+cu128torch2.7.1.post3-cp312-cp312-win_amd64.whl");
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
