// A policy file: whatever the text is, a policy or reasons with places.
#include <sagekit/verify.hpp>

#include <cstdint>
#include <cstdlib>

using namespace sagekit;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = parse_policy_file({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
  if (!read && read.error().empty()) std::abort();
  return 0;
}
