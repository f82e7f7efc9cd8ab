#include "build/windows_host.hpp"

#include "build/device_action.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace sagekit;

namespace {

const CommandLine k_clang{"/usr/bin/clang++-19",
                          "--target=x86_64-w64-windows-gnu",
                          "-isystem",
                          "/m/include",
                          "-include",
                          "/s/cuda_host.h",
                          "-DA=1",
                          "-O3",
                          "-x",
                          "cuda",
                          "--cuda-host-only",
                          "-c",
                          "/src/a.cu",
                          "-o",
                          "/w/a.o",
                          "-MD",
                          "-MF",
                          "/w/a.d"};

bool is_said(const CommandLine& argv, std::string_view word) { return std::ranges::find(argv, word) != argv.end(); }

/// A fatbin of two entries with these hosts.
std::string fatbin_of(std::vector<unsigned char> hosts) {
  std::string entries;
  for (const auto host : hosts) {
    std::string entry(72, '\0');  // header and 8 bytes of code
    entry[4] = 64;
    entry[8] = 8;
    entry[0x28] = static_cast<char>(host | 1);
    entry.replace(64, 8, "cubinary");
    entries += entry;
  }
  std::string file{"\x50\xed\x55\xba\x01\x00\x10\x00", 8};
  file += static_cast<char>(entries.size());
  file.resize(16, '\0');
  return file + entries;
}

Step compile_step(const char* platform, const char* arch) {
  Step step;
  step.kind = StepKind::compile;
  step.id = std::string("compile-") + platform + arch;
  step.module = "m._fused";
  step.inputs = {"{source}/a.cu"};
  step.cells = {platform};
  step.device_argv = {"{nvcc-exe-13.0}", "-ccbin", "{cxx-linux_x86_64}", "-gencode", arch, "-c", "{source}/a.cu"};
  step.argv =
      std::string_view(platform).starts_with("win")
          ? CommandLine{"{cxx-win_amd64}", "-x", "cuda", "-c", "{source}/a.cu", "-o", "{work}/w.o"}
          : CommandLine{
                "{nvcc-exe-13.0}", "-ccbin", "{cxx-linux_x86_64}", "-isystem", "{torch}", "-gencode", arch, "-c",
                "{source}/a.cu",   "-o",     "{work}/l.o"};
  return step;
}

}  // namespace

TEST_CASE("clang's command in three: the text needs no header again, the assembler no GPU code but by name") {
  const auto made = take_apart_clang(k_clang, "/f");
  REQUIRE(made);
  CHECK(word_after(made->preprocess, "-E") == "/src/a.cu");
  CHECK(word_after(made->preprocess, "-o") == "/f/host.ii");
  CHECK(word_after(made->preprocess, "-MT") == "/w/a.o");
  CHECK(is_said(made->preprocess, "/s/cuda_host.h"));
  for (const auto* gone : {"-isystem", "-include", "-DA=1", "-MD", "/w/a.d", "/src/a.cu"})
    CHECK_FALSE(is_said(made->compile, gone));
  CHECK(word_after(made->compile, "-x") == "cuda-cpp-output");
  CHECK(word_after(made->compile, "-o") == "host.s");
  CHECK(is_said(made->compile, "-O3"));
  CHECK(is_said(made->compile, "-S"));
  CHECK(made->compile.back() == k_fatbin_place_file);
  CHECK_FALSE(is_said(made->compile, "-aux-triple"));
  auto microsoft = k_clang;  // whose own names kernels would be registered by
  std::ranges::replace(microsoft, "--target=x86_64-w64-windows-gnu", "--target=x86_64-pc-windows-msvc");
  CHECK(is_said(take_apart_clang(microsoft, "/f")->compile, "-aux-triple"));
  CHECK(made->assemble == CommandLine{"/usr/bin/clang++-19", "--target=x86_64-w64-windows-gnu", "-x", "assembler", "-c",
                                      "host.s", "-o", "/w/a.o"});
  CHECK_FALSE(take_apart_clang({"g++", "-c", "a.cpp", "-o", "a.o"}, "/f"));
}

TEST_CASE("the GPU code stands where clang had its place, and nowhere else") {
  CHECK(with_fatbin_file("a:\n\t.ascii\t\"sagekit-place-of-gpu-code\"\n", "host.fatbin") ==
        "a:\n\t.incbin\t\"host.fatbin\"\n");
  CHECK_FALSE(with_fatbin_file("a:\n", "host.fatbin"));
  CHECK_FALSE(
      with_fatbin_file("\t.ascii\t\"sagekit-place-of-gpu-code\"\n\t.ascii\t\"sagekit-place-of-gpu-code\"\n", "f"));
}

TEST_CASE("a fatbin for Windows differs from Linux's in the host's flag alone") {
  const auto linux = fatbin_of({0x10, 0x10});
  CHECK(with_windows_host(linux) == fatbin_of({0x40, 0x40}));
  CHECK_FALSE(with_windows_host(fatbin_of({0x10, 0x40})));  // one that already says another host
  CHECK_FALSE(with_windows_host(linux.substr(0, linux.size() - 1)));
  CHECK_FALSE(with_windows_host("no fatbin"));
  CHECK_FALSE(with_windows_host(""));
}

TEST_CASE("Linux and Windows share the GPU code of a source and architecture") {
  const auto linux = compile_step("linux_x86_64", "arch=compute_80,code=sm_80"),
             windows = compile_step("win_amd64", "arch=compute_80,code=sm_80"),
             other = compile_step("win_amd64", "arch=compute_89,code=sm_89");
  CHECK(is_windows_host(windows));
  CHECK_FALSE(is_windows_host(linux));
  const auto both = device_actions({&linux, &windows}, "linux_x86_64");
  REQUIRE(both.size() == 1);
  CHECK(both[0].users == std::vector<std::size_t>{0, 1});
  CHECK(both[0].step.cells == std::vector<std::string>{"linux_x86_64", "win_amd64"});
  // A proof compares with nvcc's plain way, which is Linux's alone, whoever comes first.
  const auto reversed = device_actions({&windows, &linux}, "linux_x86_64");
  CHECK(reversed[0].step.id == both[0].step.id);
  CHECK(reversed[0].plain == linux.argv);
  CHECK(device_actions({&windows}, "linux_x86_64")[0].plain.empty());
  CHECK(device_actions({&linux, &other}, "linux_x86_64").size() == 2);
}

TEST_CASE("core's headers for Windows are there") {
  const auto shims = windows_shims();
  REQUIRE(shims.size() == 2);
  for (const auto& shim : shims) CHECK(shim.text.find("#pragma once") != std::string::npos);
}
