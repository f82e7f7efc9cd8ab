#include "elf/dll_exports.hpp"

#include "elf/pe_reader.hpp"

#include <doctest/doctest.h>

using namespace sagekit;

namespace {

std::string stub_of(std::vector<std::string> names) { return link_stub(DllExports{"torch_cpu.dll", std::move(names)}); }

/// The same with a byte of its export directory changed.
std::string with_byte(std::string library, std::uint64_t at_in_directory, char value) {
  const auto place = find_export_directory(Bytes(std::string_view(library).substr(0, k_pe_beginning)));
  REQUIRE(place);
  library[static_cast<std::size_t>(place->offset + at_in_directory)] = value;
  return library;
}

}  // namespace

TEST_CASE("a library to link against has the names, sorted, and every reader of Windows modules finds them") {
  const auto stub = stub_of({"torch_call_dispatcher", "aoti_torch_check", "aoti_torch_check"});
  const auto exports = read_dll_exports(stub);
  REQUIRE(exports);
  CHECK(exports->name == "torch_cpu.dll");
  CHECK(exports->names == std::vector<std::string>{"aoti_torch_check", "torch_call_dispatcher"});
  Problems problems("x");
  const auto file = read_pe(Bytes(stub), problems);
  REQUIRE(file);
  CHECK(problems.list().empty());
  CHECK(file->facts.exports == exports->names);
  CHECK(stub == stub_of({"aoti_torch_check", "torch_call_dispatcher"}));
}

TEST_CASE("the directory is found by the library's beginning and read by itself") {
  const auto stub = stub_of({"a", "b", "c"});
  const auto place = find_export_directory(Bytes(std::string_view(stub).substr(0, k_pe_beginning)));
  REQUIRE(place);
  const auto directory = std::string_view(stub).substr(place->offset, place->size);
  const auto exports = read_export_directory(Bytes(directory), place->address);
  REQUIRE(exports);
  CHECK(exports->names == std::vector<std::string>{"a", "b", "c"});
  CHECK(export_text(*exports) == "dll torch_cpu.dll\na\nb\nc\n");
}

TEST_CASE("what is no library, a cut one and damaged names are refused") {
  const auto stub = stub_of({"aa", "bb"});
  CHECK(read_dll_exports("").error().code == "IDX030");
  CHECK(read_dll_exports("MZ, and then nothing").error().code == "IDX030");
  CHECK_FALSE(read_dll_exports(std::string_view(stub).substr(0, 0x420)));
  CHECK_FALSE(read_dll_exports(with_byte(stub, 24, '\x7f')));  // a number of names that the directory cannot hold
  CHECK_FALSE(read_dll_exports(with_byte(stub, 35, '\x7f')));  // a list of names outside of it
  const auto place = find_export_directory(Bytes(stub));
  const auto texts = stub.find("aa", place->offset);
  const auto unsorted = read_dll_exports(with_byte(stub, texts - place->offset, 'z'));
  REQUIRE_FALSE(unsorted);
  CHECK(unsorted.error().message.find("not sorted") != std::string::npos);
}
