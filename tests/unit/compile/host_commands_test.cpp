// The host's half: nvcc's compile command in three, and the GPU code as a file that the assembler takes in.
#include "compile/host_commands.hpp"

#include "compile/fatbin_include.hpp"
#include "fatbin_source.hpp"
#include "support/text.hpp"

#include <doctest/doctest.h>

using namespace sagekit;
using namespace sagekit::test;

namespace {

const std::string k_code = "P\xedU\xba\x01 some machine code of forty-eight bytes ...";

CommandLine words(std::string_view line) { return split_words(line); }

std::optional<HostCommands> apart(std::string_view line) { return take_apart(words(line), "/w"); }

const std::string k_nvcc_compile =
    "/usr/bin/g++ -std=c++17 -D__CUDA_ARCH__=900 -c -x c++ -DX -fPIC -O3 -I/t -isystem /c -U Y -m64 "
    "-ffile-prefix-map=/c=cuda /w/host.cudafe1.cpp -o /o/a.o";

}  // namespace

TEST_CASE("the GPU code in nvcc's file becomes a file that is taken in, and the text has nothing of it") {
  REQUIRE(k_code.size() % 8 == 0);
  const auto source = fatbin_source(k_code);
  const auto included = with_included_fatbin(source, k_code, "gpu.fatbin");
  REQUIRE(included);
  CHECK(included->find("\"fatbinData:\\n\"\n\".incbin \\\"gpu.fatbin\\\"\\n\"\n\".text\\n\");") != std::string::npos);
  CHECK(included->find("fatbinData[];") != std::string::npos);
  CHECK(included->find(".quad") == std::string::npos);
  CHECK(included->find("__fatDeviceText = { 0x466243b1, 1, fatbinData, 0 };") != std::string::npos);
  const auto other = k_code + k_code;
  CHECK(with_included_fatbin(fatbin_source(other), other, "gpu.fatbin") == included);
  for (std::size_t quads = 1; quads < 9; ++quads)
    CHECK(with_included_fatbin(fatbin_source(other.substr(0, quads * 8)), other.substr(0, quads * 8), "gpu.fatbin"));
}

TEST_CASE("of megabytes of GPU code the length and both ends are compared") {
  std::string code;
  for (int i = 0; i < 20'000; ++i) code += "line " + std::to_string(10'000 + i % 7) + "_____";
  code.resize(code.size() / 8 * 8);
  const auto source = fatbin_source(code);
  CHECK(with_included_fatbin(source, code, "x"));
  for (const auto at : {std::size_t{0}, std::size_t{1000}, code.size() - 1000, code.size() - 1}) {
    CAPTURE(at);
    auto other = code;
    other[at] ^= 1;
    CHECK_FALSE(with_included_fatbin(source, other, "x"));
  }
  CHECK_FALSE(with_included_fatbin(source, code.substr(0, code.size() / 2), "x"));
}

TEST_CASE("a file that is not nvcc's, or has other code than the fatbin, is left as it is") {
  const auto source = fatbin_source(k_code);
  auto other = k_code;
  other[9] ^= 1;
  CHECK_FALSE(with_included_fatbin(source, other, "x"));
  CHECK_FALSE(with_included_fatbin(source, k_code + k_code, "x"));
  CHECK_FALSE(with_included_fatbin(source, k_code.substr(8), "x"));
  CHECK_FALSE(with_included_fatbin(source, "", "x"));
  CHECK_FALSE(with_included_fatbin("", k_code, "x"));
  for (const std::string part : {"fatbinData:", ".section .nv_fatbin", ".text", "fatbinData[6]", "0x", ".quad"}) {
    CAPTURE(part);
    CHECK_FALSE(with_included_fatbin(replace_all(source, part, "else"), k_code, "x"));
  }
}

TEST_CASE("nvcc's compile command is three, and the preprocessor's words stay with the first") {
  const auto three = apart(k_nvcc_compile);
  REQUIRE(three);
  CHECK(join(three->preprocess, " ") ==
        "/usr/bin/g++ -std=c++17 -D__CUDA_ARCH__=900 -E -x c++ -DX -fPIC -O3 -I/t -isystem /c -U Y -m64 "
        "-ffile-prefix-map=/c=cuda /w/host.cudafe1.cpp -o /w/host.ii");
  CHECK(join(three->compile, " ") ==
        "/usr/bin/g++ -std=c++17 -c -S -x c++ -fPIC -O3 -m64 -ffile-prefix-map=/c=cuda host.ii -o host.s");
  CHECK(join(three->assemble, " ") ==
        "/usr/bin/g++ -std=c++17 -c -x assembler -fPIC -O3 -m64 -ffile-prefix-map=/c=cuda host.s -o /o/a.o");
}

TEST_CASE("a compile command of which three would make something else stays one") {
  for (const std::string more : {"-g", "-g3", "-ggdb", "-gsplit-dwarf", "-save-temps", "-MD"}) {
    CAPTURE(more);
    CHECK_FALSE(apart(k_nvcc_compile + " " + more));
  }
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"-c ", ""}, {"-x c++", "-x c"}, {"-o /o/a.o", ""}, {"host.cudafe1.cpp", "a.cudafe1.cpp"}}) {
    CAPTURE(from);
    CHECK_FALSE(apart(replace_all(k_nvcc_compile, from, to)));
  }
}

TEST_CASE("unit and stub have the same names for any architectures") {
  NvccCommands commands;
  commands.folder = "/w";
  for (const std::string name : {"a.compute_80", "a.compute_121a", "a"}) {
    commands.split = {"cudafe++", "--gen_c_file_name", "/w/" + name + ".cudafe1.cpp", "--stub_file_name",
                      name + ".cudafe1.stub.c"};
    commands.compile = {"g++", "-c", "/w/" + name + ".cudafe1.cpp"};
    commands.stub = "/w/" + name + ".cudafe1.stub.c";
    const auto named = with_host_names(commands);
    CHECK(named.compile == CommandLine{"g++", "-c", "/w/host.cudafe1.cpp"});
    CHECK(join(named.split, " ") ==
          "cudafe++ --gen_c_file_name /w/host.cudafe1.cpp --stub_file_name host.cudafe1.stub.c");
    CHECK(named.stub == "/w/host.cudafe1.stub.c");
  }
}
