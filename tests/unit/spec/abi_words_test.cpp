#include "spec/abi_words.hpp"

#include <doctest/doctest.h>

using namespace sagekit;

TEST_CASE("a torch of the matrix is one release, or the stable interface from one minor release on") {
  CHECK(parse_torch_word("2.11.0") == TorchWord{"2.11.0", false});
  CHECK(parse_torch_word(">=2.9,stable") == TorchWord{"2.9", true});
  for (const auto* text : {"", ">=2.9", ">=2.9.1,stable", ">=2,stable", ">=,stable", ">2.9,stable", "stable",
                           ">=2.9, stable", ">=2.9,stable,stable", "2.9,stable"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_torch_word(text));
  }
}

TEST_CASE("a Python of the matrix is one release, or the limited API from one on") {
  CHECK(parse_python_word("3.12") == PythonWord{"3.12", false});
  CHECK(parse_python_word("abi3>=3.10") == PythonWord{"3.10", true});
  for (const auto* text :
       {"", "abi3", "abi3>=", "abi3>=3.10.2", "abi3>=3.13t", "abi3>3.10", "3.010", "2.7", "abi3>=abi3>=3.10"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_python_word(text));
  }
}

TEST_CASE("the numbers that headers ask for") {
  CHECK(limited_api_number("3.10") == "0x030A0000");
  CHECK(limited_api_number("3.9") == "0x03090000");
  CHECK(torch_target_number("2.9") == "0x0209000000000000");
  CHECK(torch_target_number("2.10") == "0x020a000000000000");
}
