#include "unit/verify/module_package.hpp"

using namespace sagekit;
using namespace sagekit::test;

namespace {
using Versions = std::vector<std::pair<std::string, std::vector<std::string>>>;
}  // namespace

TEST_CASE("a tag is false by any family of versions, and every tag of a set must be true") {
  const auto with = [](const Versions& versions, const std::string& platform) {
    auto module = right_module();
    module.versions = versions;
    auto package = package_of(module);
    package.name = "tiny-1.0-cp312-cp312-" + platform + ".whl";
    return package;
  };
  const Versions cxx{{"libstdc++.so.6", {"GLIBCXX_3.4.29"}}, {"libc.so.6", {"GLIBC_2.17"}}};
  check_warns(with(cxx, "manylinux_2_28_x86_64"), "LBC003", "GLIBCXX_3.4.29");
  CHECK(passed(with(cxx, "manylinux_2_34_x86_64").judge(), "LBC003"));
  check_warns(with(cxx, "manylinux_2_28_x86_64.manylinux_2_34_x86_64"), "LBC003", "manylinux_2_28");
  CHECK(passed(with(cxx, "linux_x86_64").judge(), "LBC003"));
  check_warns(with({{"libc.so.6", {"GLIBC_ABI_DT_RELR"}}}, "manylinux_2_35_x86_64"), "LBC003", "ABI_DT_RELR");
  CHECK(passed(with({{"libc.so.6", {"GLIBC_ABI_DT_RELR"}}}, "manylinux_2_36_x86_64").judge(), "LBC003"));
  check_warns(with({{"libstdc++.so.6", {"CXXABI_FLOAT128"}}}, "manylinux2014_x86_64"), "LBC003", "FLOAT128");
  check_warns(with({{"libz.so.1", {"ZLIB_1.2.9"}}}, "manylinux_2_26_x86_64"), "LBC003", "ZLIB_1.2.9");
  check_warns(with({{"libc.so.6", {"GLIBC_PRIVATE"}}}, "manylinux_2_41_x86_64"), "LBC003", "GLIBC_PRIVATE");
  CHECK(passed(with({{"libc.so.6", {"GLIBC_2.50"}}}, "manylinux_2_50_x86_64").judge(), "LBC003"));
  CHECK(passed(with({{"libcrypto.so.3", {"OPENSSL_3.0.0"}}}, "manylinux_2_17_x86_64").judge(), "LBC003"));
}

TEST_CASE("a library that lies in the wheel satisfies its versions itself") {
  auto module = right_module();
  module.versions = {{"libstdc++.so.6", {"GLIBCXX_3.4.33"}}};
  module.needed = {"libstdc++.so.6"};
  auto package = package_of(module);
  CHECK_FALSE(passed(package.judge(), "LBC003"));
  auto library = right_module();
  library.soname = "libstdc++.so.6";
  library.exports = {"x"};
  package.files.emplace_back("tiny/libstdc++.so.6", library.build());
  CHECK(passed(package.judge(), "LBC003"));
}

TEST_CASE("modules for glibc and musl are told apart") {
  auto package = package_of(right_module());
  CHECK(passed(package.judge(), "LBC006"));
  package.name = "tiny-1.0-cp312-cp312-musllinux_1_2_x86_64.whl";
  check_fails(package, "LBC006", "glibc");
  auto musl = right_module();
  musl.needed = {"libc.musl-x86_64.so.1"};
  musl.versions.clear();
  package.files[0].second = musl.build();
  const auto right = package.judge();
  CHECK(passed(right, "LBC006"));
  CHECK(holds(told(right, "LBC005"), "musl"));
  package.name = "tiny-1.0-cp312-cp312-manylinux_2_28_x86_64.whl";
  check_fails(package, "LBC006", "musl");
}

TEST_CASE("a symbol that not every system of the tag has is named") {
  auto module = right_module();
  module.needed.emplace_back("libz.so.1");
  module.undefined.emplace_back("inflate_fast");
  check_warns(package_of(module), "LBC007", "inflate_fast in libz.so.1");
  module.undefined.back() = "uncompress2";
  auto package = package_of(module);
  CHECK_FALSE(passed(package.judge(), "LBC007"));
  package.name = "tiny-1.0-cp312-cp312-manylinux_2_34_x86_64.whl";
  CHECK(passed(package.judge(), "LBC007"));
}
