#include "pypa/platform_tag.hpp"
#include "pypa/published_hashes.hpp"
#include "pypa/wheel_paths.hpp"

#include <doctest/doctest.h>

using namespace sagekit;

TEST_CASE("sha256sum's lists are read in all of their forms") {
  const std::string hash(64, 'a'), wheel = "demo-1.0-py3-none-any.whl";
  CHECK(listed_sha256(hash + "  " + wheel + "\n", wheel) == hash);
  CHECK(listed_sha256("# x\r\n" + hash + " *dist/" + wheel + "\r\n", wheel) == hash);
  CHECK(listed_sha256("SHA256 (" + wheel + ") = " + std::string(64, 'A') + "\n", wheel) == hash);
  CHECK_FALSE(listed_sha256(hash + "  other.whl\n", wheel));
  CHECK_FALSE(listed_sha256(hash + wheel, wheel));
  CHECK_FALSE(listed_sha256("SHA256 (", wheel));
}

TEST_CASE("platform tags are taken apart, and the public index takes some of them") {
  const auto old = parse_platform_tag("manylinux2014_aarch64");
  CHECK(old.libc == "2.17");
  CHECK(old.machine == "aarch64");
  CHECK(parse_platform_tag("win_arm64").system == PlatformTag::System::windows);
  CHECK(parse_platform_tag("odd_1").system == PlatformTag::System::unknown);
  CHECK(is_index_platform_tag("manylinux_2_28_x86_64"));
  CHECK(is_index_platform_tag("macosx_11_0_arm64"));
  for (const char* refused : {"linux_x86_64", "manylinux_2_x86_64", "macosx_11_1_arm64", "musllinux_1_2_ppc64", ""})
    CHECK_FALSE(is_index_platform_tag(refused));
}

TEST_CASE("a member's place and module name are those it has once installed") {
  CHECK(installed_path("tiny-1.0.data/platlib/tiny/_k.so") == "tiny/_k.so");
  CHECK(installed_path("tiny-1.0.data/data/lib/libk.so").empty());
  CHECK(installed_path("tiny/_k.so") == "tiny/_k.so");
  CHECK(module_name("tiny-1.0.data/purelib/tiny/_k.cpython-312-x86_64-linux-gnu.so") == "tiny._k");
  CHECK(is_native("tiny.libs/libcudart.so.13"));
  CHECK_FALSE(is_native("tiny/_k.so/readme.txt"));
}
