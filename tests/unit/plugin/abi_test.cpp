// ABI 1 as it was released. A failing line here means that plugins in the field would read the wrong bytes: append a
// field instead, or raise SAGEKIT_PLUGIN_ABI.
#include <sagekit/plugin/abi.h>

#include <doctest/doctest.h>

#include <type_traits>

static_assert(sizeof(void*) == 8, "ABI 1 is pinned for 64-bit platforms");

TEST_CASE("the layout of ABI 1 never changes") {
  CHECK(SAGEKIT_PLUGIN_ABI == 1);
  CHECK(std::is_standard_layout_v<sagekit_descriptor>);

  CHECK(offsetof(sagekit_str, data) == 0);
  CHECK(offsetof(sagekit_str, size) == 8);
  CHECK(sizeof(sagekit_str) == 16);  // passed by value: may not grow

  CHECK(offsetof(sagekit_gpu_code, capability) == 0);
  CHECK(offsetof(sagekit_gpu_code, suffix) == 4);
  CHECK(offsetof(sagekit_gpu_code, is_ptx) == 5);
  CHECK(offsetof(sagekit_gpu_code, reserved) == 6);
  CHECK(offsetof(sagekit_gpu_code, count) == 8);
  CHECK(offsetof(sagekit_gpu_code, bytes) == 16);
  CHECK(sizeof(sagekit_gpu_code) == 24);  // an element of an array without a stride: may not grow

  CHECK(offsetof(sagekit_module, struct_size) == 0);
  CHECK(offsetof(sagekit_module, reserved) == 4);
  CHECK(offsetof(sagekit_module, name) == 8);
  CHECK(offsetof(sagekit_module, path) == 24);
  CHECK(offsetof(sagekit_module, needed) == 40);
  CHECK(offsetof(sagekit_module, needed_count) == 48);
  CHECK(offsetof(sagekit_module, exports) == 56);
  CHECK(offsetof(sagekit_module, exports_count) == 64);
  CHECK(offsetof(sagekit_module, undefined) == 72);
  CHECK(offsetof(sagekit_module, undefined_count) == 80);
  CHECK(offsetof(sagekit_module, gpu) == 88);
  CHECK(offsetof(sagekit_module, gpu_count) == 96);
  CHECK(sizeof(sagekit_module) == 104);  // an element of an array without a stride: may not grow

  CHECK(offsetof(sagekit_artifact, struct_size) == 0);
  CHECK(offsetof(sagekit_artifact, reserved) == 4);
  CHECK(offsetof(sagekit_artifact, distribution) == 8);
  CHECK(offsetof(sagekit_artifact, version) == 24);
  CHECK(offsetof(sagekit_artifact, python) == 40);
  CHECK(offsetof(sagekit_artifact, torch) == 56);
  CHECK(offsetof(sagekit_artifact, cuda) == 72);
  CHECK(offsetof(sagekit_artifact, platform) == 88);
  CHECK(offsetof(sagekit_artifact, modules) == 104);
  CHECK(offsetof(sagekit_artifact, modules_count) == 112);
  CHECK(offsetof(sagekit_artifact, files) == 120);
  CHECK(offsetof(sagekit_artifact, files_count) == 128);
  CHECK(offsetof(sagekit_artifact, read_file) == 136);
  CHECK(offsetof(sagekit_artifact, context) == 144);
  CHECK(sizeof(sagekit_artifact) >= 152);

  CHECK(offsetof(sagekit_report, struct_size) == 0);
  CHECK(offsetof(sagekit_report, reserved) == 4);
  CHECK(offsetof(sagekit_report, context) == 8);
  CHECK(offsetof(sagekit_report, add) == 16);
  CHECK(sizeof(sagekit_report) >= 24);

  CHECK(offsetof(sagekit_descriptor, abi) == 0);
  CHECK(offsetof(sagekit_descriptor, struct_size) == 4);
  CHECK(offsetof(sagekit_descriptor, spec) == 8);
  CHECK(offsetof(sagekit_descriptor, spec_size) == 16);
  CHECK(offsetof(sagekit_descriptor, spec_path) == 24);
  CHECK(offsetof(sagekit_descriptor, verify) == 32);
  CHECK(sizeof(sagekit_descriptor) >= 40);

  CHECK(SAGEKIT_ERROR == 0);
  CHECK(SAGEKIT_WARNING == 1);
  CHECK(SAGEKIT_NOTE == 2);
}
