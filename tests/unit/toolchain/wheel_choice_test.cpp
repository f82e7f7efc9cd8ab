#include "toolchain/wheel_choice.hpp"

#include "toolchain/recipe.hpp"

#include <doctest/doctest.h>

using namespace sagekit;

namespace {

IndexFile file(const std::string& name, bool yanked = false) {
  IndexFile f;
  f.name = name;
  f.yanked = yanked;
  return f;
}

std::vector<std::string> chosen(const std::vector<IndexFile>& page, const char* platform, const char* range) {
  std::vector<std::string> names;
  for (const auto& choice : wheels_for(page, platform, parse_version_range(range).value()))
    names.push_back(choice.file.name);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("the embedded recipes can be read") {
  CHECK(recipes().problems.empty());
  CHECK(recipes().nvcc.packages.size() == 8);
  CHECK(recipes().torch.libraries.size() == 6);
  CHECK(recipes().redist.manifests.contains("12.8"));
}

TEST_CASE("wheels of the platform come best first") {
  const std::vector<IndexFile> page{file("torch-2.11.0-cp310-cp310-manylinux_2_28_x86_64.whl"),
                                    file("torch-2.11.0-cp314-cp314t-manylinux_2_28_x86_64.whl"),
                                    file("torch-2.11.0-cp314-cp314-manylinux_2_28_x86_64.whl"),
                                    file("torch-2.11.0-cp314-cp314-manylinux_2_28_aarch64.whl"),
                                    file("torch-2.11.0-cp314-cp314-win_amd64.whl"),
                                    file("torch-2.11.0-cp314-cp314-musllinux_1_2_x86_64.whl"),
                                    file("torch-2.11.0.tar.gz"),
                                    file("torch-2.11.0-3-cp312-cp312-manylinux_2_28_x86_64.whl")};
  CHECK(chosen(page, "linux_x86_64", "==2.11.0") == Names{"torch-2.11.0-3-cp312-cp312-manylinux_2_28_x86_64.whl",
                                                          "torch-2.11.0-cp314-cp314-manylinux_2_28_x86_64.whl",
                                                          "torch-2.11.0-cp310-cp310-manylinux_2_28_x86_64.whl",
                                                          "torch-2.11.0-cp314-cp314t-manylinux_2_28_x86_64.whl"});
  CHECK(chosen(page, "linux_aarch64", "==2.11.0") == Names{"torch-2.11.0-cp314-cp314-manylinux_2_28_aarch64.whl"});
}

TEST_CASE("pre-releases, yanked files and other versions are left out; the newest in range is first") {
  const std::vector<IndexFile> page{file("x-13.0.48-py3-none-manylinux_2_17_x86_64.whl"),
                                    file("x-13.0.88-py3-none-manylinux1_x86_64.manylinux_2_5_x86_64.whl"),
                                    file("x-13.0.90-py3-none-any.whl", true), file("x-13.1.1-py3-none-any.whl"),
                                    file("x-13.0.95rc1-py3-none-any.whl")};
  CHECK(chosen(page, "linux_x86_64", "==13.0.*") ==
        Names{"x-13.0.88-py3-none-manylinux1_x86_64.manylinux_2_5_x86_64.whl",
              "x-13.0.48-py3-none-manylinux_2_17_x86_64.whl"});
}

TEST_CASE("a local version is told apart from the public one") {
  const auto list = wheels_for({file("torch-2.8.0+cu129-cp312-cp312-manylinux_2_28_x86_64.whl")}, "linux_x86_64",
                               parse_version_range("==2.8.0").value());
  REQUIRE(list.size() == 1);
  CHECK(list[0].local == "cu129");
}

TEST_CASE("a metapackage's pins are read whatever their marker says") {
  const std::vector<std::string> rows{"nvidia-cuda-nvcc==13.0.88.*; (sys_platform == 'linux') and extra == 'all'",
                                      "nvidia_nvvm (==13.0.88)", "nvidia-nvjitlink<14,>=13.2.86; extra == 'cusolver'"};
  CHECK(pinned_version(rows, "nvidia-cuda-nvcc")->text == "==13.0.88.*");
  CHECK(pinned_version(rows, "nvidia-nvvm")->contains(parse_version_number("13.0.88").value()));
  CHECK_FALSE(pinned_version(rows, "nvidia-nvjitlink"));
  CHECK_FALSE(pinned_version(rows, "nvidia-cuda"));
}
