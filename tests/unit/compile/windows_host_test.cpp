#include "compile/windows_host.hpp"

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

TEST_CASE("core's headers for Windows are there") {
  const auto shims = windows_shims();
  REQUIRE(shims.size() == 2);
  for (const auto& shim : shims) CHECK(shim.text.find("#pragma once") != std::string::npos);
}
