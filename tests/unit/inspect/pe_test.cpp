#include "inspect/module_reader.hpp"
#include "support/fatbin_builder.hpp"
#include "support/pe_builder.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace sagekit;
using test::sample_pe;

namespace {

std::string sample_gpu() {
  test::FatbinBuilder fatbin;
  fatbin.cubin(90, 'a', test::CubinBuilder().build());
  return fatbin.build();
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a Windows module tells its imports, exports and GPU code") {
  const std::string bytes = sample_pe(sample_gpu());
  const auto reading = read_module("_tiny.cp312-win_amd64.pyd", Bytes(bytes), {}, 1);
  CHECK(reading.kind == "pe");
  CHECK(reading.facts.problems.empty());
  REQUIRE(reading.facts.pe);
  CHECK(reading.facts.pe->machine == "x86_64");
  CHECK(reading.facts.pe->imports == Names{"python312.dll"});
  CHECK(reading.facts.pe->exports == Names{"PyInit__tiny"});
  CHECK(reading.facts.python_abi == "cp312");
  REQUIRE(reading.facts.gpu.size() == 1);
  CHECK(sm_name(reading.facts.gpu[0].arch) == "sm_90a");
  CHECK(reading.facts.gpu[0].loaded);
}

TEST_CASE("a Windows module for Arm is told by its machine") {
  const std::string bytes = sample_pe(sample_gpu(), 0xaa64);
  CHECK(read_module("x.pyd", Bytes(bytes), {}, 1).facts.pe->machine == "aarch64");
}

TEST_CASE("a 32-bit launcher is read like a 64-bit one: setuptools and distlib bring both") {
  test::PeBuilder pe;
  pe.machine = 0x14c;
  pe.imports = {{"KERNEL32.dll", {"CreateProcessW", "#12"}}, {"ole32.dll", {"CoCreateGuid"}}};
  pe.delayed = {{"SHELL32.dll", {"ShellExecuteW"}}};
  const std::string bytes = pe.build();
  const auto facts = read_module("cli-32.exe", Bytes(bytes), {}, 1).facts;
  CHECK(facts.problems.empty());
  REQUIRE(facts.pe);
  CHECK(facts.pe->machine == "x86");
  CHECK(facts.pe->dynamic_base);
  CHECK(facts.pe->imported == std::map<std::string, Names>{{"KERNEL32.dll", {"#12", "CreateProcessW"}},
                                                           {"SHELL32.dll", {"ShellExecuteW"}},
                                                           {"ole32.dll", {"CoCreateGuid"}}});
}

TEST_CASE("a Windows module cut off anywhere is an error") {
  for (const std::uint16_t machine : {std::uint16_t{0x8664}, std::uint16_t{0x14c}}) {
    const std::string whole = sample_pe(sample_gpu(), machine);
    const std::size_t used = whole.size() - 512;  // the last sector may be padding
    for (std::size_t size = 68; size < used; size += 5) {
      const std::string part = whole.substr(0, size);
      const auto reading = read_module("x.pyd", Bytes(part), {}, 1);
      CAPTURE(size);
      CHECK(reading.kind == "pe");
      CHECK_FALSE(reading.facts.problems.empty());
    }
  }
}

TEST_CASE("GPU code that is left of a cut Windows module is not called unused, and what is lost not absent") {
  test::FatbinBuilder other;
  other.cubin(80, 0, test::CubinBuilder().build());
  const std::string first = sample_gpu(), whole = sample_pe(first + other.build());
  const auto at = whole.find(first.substr(0, 16));
  const auto read = [&](std::size_t size) {
    const std::string part = whole.substr(0, size);
    return read_module("_tiny.pyd", Bytes(part), {}, 1).facts;
  };
  const auto half = read(at + first.size() + 40);
  REQUIRE(half.gpu.size() == 1);
  CHECK(half.gpu[0].loaded);
  CHECK_FALSE(hides_gpu_code(half));
  CHECK(std::ranges::count(half.problems, "INS031", &Diagnostic::code) == 1);
  const auto none = read(at);
  CHECK(none.gpu.empty());
  CHECK(hides_gpu_code(none));
  CHECK_FALSE(hides_gpu_code(read(whole.size())));
}

TEST_CASE("what a Windows module imports is read by name and by number, also what is loaded late") {
  test::PeBuilder pe;
  pe.imports = {{"python312.dll", {"PyModule_Create2", "PyErr_SetString", "PyErr_SetString"}}, {"WS2_32.dll", {"#12"}}};
  pe.delayed = {{"nvcuda.dll", {"cuInit"}}};
  const std::string bytes = pe.build();
  const auto facts = read_module("_tiny.pyd", Bytes(bytes), {}, 1).facts;
  CHECK(facts.problems.empty());
  CHECK(facts.pe->imports == Names{"WS2_32.dll", "nvcuda.dll", "python312.dll"});
  CHECK(facts.pe->imported == std::map<std::string, Names>{{"WS2_32.dll", {"#12"}},
                                                           {"nvcuda.dll", {"cuInit"}},
                                                           {"python312.dll", {"PyErr_SetString", "PyModule_Create2"}}});
}

TEST_CASE("a list of imports without an end is a problem") {
  test::PeBuilder pe;
  pe.imports = {{"a.dll", {"one"}}};
  std::string bytes = pe.build();
  bytes.replace(0x400, 4, std::string("\xff\xff\xff\x7f", 4));  // the address of the list
  const auto facts = read_module("_tiny.pyd", Bytes(bytes), {}, 1).facts;
  REQUIRE(facts.problems.size() == 1);
  CHECK(facts.problems[0].code == "INS034");
  CHECK(facts.pe->imported.at("a.dll").empty());
}

TEST_CASE("a plain .pyd is for the Python whose library it imports") {
  const auto abi = [](const std::string& name, const std::vector<std::string>& dlls) {
    test::PeBuilder pe;
    pe.imports.clear();
    for (const auto& dll : dlls) pe.imports.push_back({dll, {"PyModule_Create2"}});
    const std::string bytes = pe.build();
    return read_module(name, Bytes(bytes), {}, 1).facts.python_abi;
  };
  CHECK(abi("_tiny.pyd", {"python3.dll"}) == "abi3");
  CHECK(abi("_tiny.pyd", {"Python312.DLL"}) == "cp312");
  CHECK(abi("_tiny.pyd", {"python3.dll", "python312.dll"}) == "cp312");
  CHECK(abi("_tiny.pyd", {"python313t.dll"}) == "cp313t");
  CHECK(abi("_tiny.pyd", {"python3t.dll"}) == "abi3t");
  CHECK(abi("_tiny.pyd", {"python312_d.dll"}) == "cp312d");
  CHECK(abi("_tiny.pyd", {"KERNEL32.dll"}) == "none");
  CHECK(abi("_tiny.pyd", {"python3x.dll"}) == "none");
  CHECK(abi("_tiny.cp311-win_amd64.pyd", {"python312.dll"}) == "cp311");  // the name says it; PYA005 compares
  CHECK(abi("tiny.dll", {"python312.dll"}).empty());
}
