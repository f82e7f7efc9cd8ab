#pragma once
// SAGEKIT_FUZZ_TARGET(zip) { ... data, size ... return 0; }: what libFuzzer calls in a program of the target's own, or
// a row of what fuzz_replay can run.

#include <cstddef>
#include <cstdint>
#include <string_view>

#ifdef SAGEKIT_LIBFUZZER
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
#define SAGEKIT_FUZZ_TARGET(name) extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
#else
namespace sagekit::test {
using FuzzOne = int (*)(const std::uint8_t* data, std::size_t size);
bool register_fuzz_target(std::string_view name, FuzzOne one);
}  // namespace sagekit::test

#define SAGEKIT_FUZZ_TARGET(name)                                                                             \
  static int fuzz_##name(const std::uint8_t* data, std::size_t size);                                         \
  [[maybe_unused]] static const bool k_fuzz_##name = sagekit::test::register_fuzz_target(#name, fuzz_##name); \
  static int fuzz_##name(const std::uint8_t* data, std::size_t size)
#endif
