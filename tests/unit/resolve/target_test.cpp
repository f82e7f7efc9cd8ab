#include "resolve/listing.hpp"
#include "resolve/marker.hpp"

#include <sagekit/resolve.hpp>

#include <doctest/doctest.h>

using namespace sagekit;

namespace {

Target target_of(std::string_view text, const Target& here = {}) {
  const auto target = parse_target(text, here);
  REQUIRE_MESSAGE(target, target.error().message);
  return *target;
}

Target this_one() {
  Target here;
  here.platform = "linux_x86_64";
  here.libc = "glibc2.36";
  here.python = "3.12";
  here.has_torch = true;
  here.torch = "2.11.0";
  here.torch_cuda = "13.0";
  here.cxx11_abi = true;
  here.gpus = std::vector<Gpu>{{"NVIDIA H100", {9, 0}, "580.95.05"}};
  return here;
}

}  // namespace

TEST_CASE("what --for does not say is this machine's") {
  const auto target = target_of("gpu=\"RTX 5090\",torch=2.9.1+cu128", this_one());
  CHECK(target.gpus->front().capability == Capability{12, 0});
  CHECK(target.gpus->front().driver == "580.95.05");
  CHECK(target.torch == "2.9.1");
  CHECK(target.torch_cuda == "12.8");
  CHECK(target.python == "3.12");
  CHECK(target.libc == "glibc2.36");
}

TEST_CASE("another platform leaves unknown what is not said") {
  const auto target = target_of("platform=win_amd64,python=3.13t", this_one());
  CHECK(target.platform == "win_amd64");
  CHECK(target.python == "3.13t");
  CHECK(target.torch.empty());
  CHECK_FALSE(target.has_torch);
  CHECK_FALSE(target.gpus);
  CHECK(target.libc.empty());
  REQUIRE(target.notes.size() == 1);
  CHECK(target.notes[0].find("gpu, torch, driver") != std::string::npos);
  CHECK(target_of("platform=manylinux_2_28_x86_64", this_one()).libc == "glibc2.28");
  CHECK(target_of("platform=manylinux_2_28_x86_64", this_one()).torch == "2.11.0");
}

TEST_CASE("several GPUs, none, and the driver of all of them") {
  const auto target = target_of("gpu=RTX 4090/12.0,driver=570", this_one());
  REQUIRE(target.gpus->size() == 2);
  CHECK(target.gpus->at(0).capability == Capability{8, 9});
  CHECK(target.gpus->at(1).capability == Capability{12, 0});
  CHECK(target.gpus->at(1).driver == "570");
  CHECK(target_of("gpu=none").gpus->empty());
}

TEST_CASE("torch's string ABI follows from its release") {
  CHECK(target_of("platform=linux_x86_64,torch=2.6.0+cu126").cxx11_abi == true);
  CHECK(target_of("platform=linux_x86_64,torch=2.6.0+cu124").cxx11_abi == false);
  CHECK_FALSE(target_of("platform=linux_x86_64,torch=2.6.0").cxx11_abi);
  CHECK(target_of("platform=linux_x86_64,torch=2.5.1+cu124").cxx11_abi == false);
  CHECK(target_of("platform=linux_x86_64,torch=2.7.0").cxx11_abi == true);
  CHECK(target_of("torch=none").has_torch == false);
}

TEST_CASE("markers are worked out as far as the machine is known") {
  const auto linux_machine = target_of("platform=linux_x86_64,python=3.12"),
             windows = target_of("platform=win_amd64,python=3.9");
  CHECK(marker_holds("torch==2.9.*", linux_machine) == true);
  CHECK(marker_holds("triton; sys_platform == 'linux'", linux_machine) == true);
  CHECK(marker_holds("triton; sys_platform == 'linux'", windows) == false);
  CHECK(marker_holds("triton-windows; platform_system == \"Windows\" and python_version >= '3.10'", windows) == false);
  CHECK(marker_holds("x; python_version >= '3.10'", linux_machine) == true);
  CHECK(marker_holds("x; extra == 'test'", linux_machine) == false);
  CHECK(marker_holds("x; (sys_platform == 'win32' or platform_machine == 'x86_64') and os_name != 'nt'",
                     linux_machine) == true);
  CHECK(marker_holds("x; platform_release >= '5'", linux_machine) == std::nullopt);
  CHECK(marker_holds("x; platform_release >= '5' or sys_platform == 'linux'", linux_machine) == true);
  CHECK(marker_holds("x; python_version >= '3.10'", Target{}) == std::nullopt);
  Target asked = linux_machine;
  asked.python_release = asked.python + ".4";
  CHECK(marker_holds("x; python_full_version < '3.9'", linux_machine) == std::nullopt);
  CHECK(marker_holds("x; python_full_version < '3.9'", asked) == false);
  CHECK(marker_holds("x; implementation_version >= '3.10'", asked) == true);
  CHECK(marker_holds("x; python_implementation == 'CPython'", asked) == true);
  CHECK(marker_holds("x; python_implementation == 'PyPy'", asked) == false);
  CHECK(marker_holds("not ~ a requirement", linux_machine) == std::nullopt);
}

TEST_CASE("a release's page is read where programs read it") {
  const std::string api = "https://api.github.com/repos/someone/wheels/releases";
  CHECK(listing_address("https://github.com/someone/wheels/releases") == api);
  CHECK(listing_address("https://github.com/someone/wheels/releases/?page=2") == api);
  CHECK(listing_address("https://github.com/someone/wheels/releases/latest") == api + "/latest");
  CHECK(listing_address("https://github.com/someone/wheels/releases/tag/v1.0-sage3#notes") == api + "/tags/v1.0-sage3");
  for (const std::string other :
       {"https://github.com/someone/wheels", "https://github.com/", "https://example.org/a/b/releases",
        "https://github.com/someone/wheels/releases/download/v1/sagekit.release.json",
        "https://github.com.example.org/someone/wheels/releases"})
    CHECK(listing_address(other) == other);
}

TEST_CASE("a listing is of a known form or none") {
  const auto code = [](std::string_view text, const std::string& base = "https://example.org/r.json") {
    const auto wheels = read_listing(text, "", base);
    return wheels ? std::to_string(wheels->size()) : wheels.error().code;
  };
  CHECK(code(R"({"schema":"sagekit.release/1","wheels":[]})") == "0");
  CHECK(code(R"({"schema":"sagekit.release/1","wheels":7})") == "RES004");
  CHECK(code(R"({"schema":"sagekit.release/2","wheels":[]})") == "RES004");
  CHECK(
      code(
          R"({"assets":[{"name":"a-1-py3-none-any.whl","browser_download_url":"https://example.org/a.whl"},{"name":"SHA256SUMS"}]})") ==
      "1");
  CHECK(code(R"([{"assets":[]},{"assets":[]}])") == "0");
  CHECK(code(R"([1,2])") == "RES004");
  CHECK(code("{") == "RES004");
  CHECK(code("<html>Sign in</html>") == "IDX011");
  CHECK(code("hello", "/tmp") == "RES004");
  // A list that came over https sends nobody to http.
  CHECK(code(R"({"assets":[{"name":"a-1-py3-none-any.whl","browser_download_url":"http://example.org/a.whl"}]})") ==
        "RES004");
}
