#include <sagekit/arch.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace sagekit;

namespace {

/// The list in normal form, or the code of the error.
std::string read(std::string_view text, const std::vector<Capability>& native = {}) {
  const auto list = parse_arch_list(text, native);
  if (!list) return list.error().code;
  std::string out;
  for (const ArchRequest& request : *list) out += (out.empty() ? "" : " ") + to_string(request);
  return out;
}

struct Spelling {
  const char* text;
  const char* normal;
};

}  // namespace

TEST_CASE("every spelling of one arch reads the same") {
  for (const char* text : {"8.0", "80", "sm_80", "SM_80", "sm80", "compute_80", "Compute_80", "compute_80;sm_80",
                           " 8.0 ;", "8.0,80", "8.0\t80\n"})
    CHECK_MESSAGE(read(text) == "8.0", text);
  for (const char* text : {"12.1a", "121a", "sm_121a", "SM_121A", "compute_121a;sm_121a"})
    CHECK_MESSAGE(read(text) == "12.1a", text);
  for (const char* text : {"12.0+PTX", "120+ptx", "sm_120+PTX", "12.0;12.0+PTX", "12.0+PTX 12.0"})
    CHECK_MESSAGE(read(text) == "12.0+PTX", text);
}

TEST_CASE("what upstream's parser drops silently is honoured here, or refused") {
  const Spelling table[] = {
      {"8.0;8.6;8.9;9.0;12.0", "8.0 8.6 8.9 9.0 12.0"},
      {"8.0,8.6,8.9,9.0,12.0", "8.0 8.6 8.9 9.0 12.0"},
      {"8.0 8.6 8.9 9.0 12.0", "8.0 8.6 8.9 9.0 12.0"},
      {"8.0 8.6 8.9 9.0 12.0+PTX", "8.0 8.6 8.9 9.0 12.0+PTX"},
      {"8.0; 8.9 ;", "8.0 8.9"},
      {"compute_80;sm_80", "8.0"},
      {"compute_120;sm_120", "12.0"},
      {"compute_80;sm_80;compute_86;sm_86;compute_90;sm_90;compute_120;sm_120", "8.0 8.6 9.0 12.0"},
      {"sm_120", "12.0"},
      {"120", "12.0"},
      {"121", "12.1"},
      {"sm_121a", "12.1a"},
      {"100", "10.0"},
      {"80", "8.0"},
      {"80+PTX", "8.0+PTX"},
      {"12.0a", "12.0a"},
      {"12.0f", "12.0f"},
      {"12.0+PTX", "12.0+PTX"},
      {"9.0a+PTX", "9.0a+PTX"},
      {"12.1", "12.1"},
      {"12.1+PTX", "12.1+PTX"},
      {"10.0a;12.0a", "10.0a 12.0a"},
      {"7.5;8.0", "7.5 8.0"},
      {"8.7", "8.7"},
      {"10.3", "10.3"},
      {"11.0", "11.0"},
      {"all", "ARC002"},
      {"Ampere", "ARC002"},
      {"8.0;Hopper", "ARC002"},
  };
  for (const Spelling& row : table) CHECK_MESSAGE(read(row.text) == row.normal, row.text);
}

TEST_CASE("what is no arch is refused, never dropped") {
  for (const char* text :
       {"8",       "8.",       ".8",   "8.00",  "08.0",   "12.10",    "123.0",   "1234",        "sm_",
        "sm_8.0",  "sm_sm_80", "8.0b", "8.0aa", "8.0+",   "8.0+SASS", "+PTX",    "8.0+PTX+PTX", "8.0-",
        "8.0|9.0", "12",       "10",   "-8.0",  "8.0;;x", "nativ",    "\xc3\xa9"})
    CHECK_MESSAGE(read(text) == "ARC002", text);
  for (const char* text : {"", " ", ";", " , ;\n"}) CHECK_MESSAGE(read(text) == "ARC001", text);
}

TEST_CASE("the error names the item and says what is accepted") {
  const auto list = parse_arch_list("8.0 Ampere 9.0");
  REQUIRE_FALSE(list);
  CHECK(list.error().kind == ErrorKind::usage);
  CHECK(list.error().message.find("\"Ampere\"") != std::string::npos);
  CHECK(list.error().hint.find("sm_90") != std::string::npos);
}

TEST_CASE("native is this machine's GPUs, and an error where there is none") {
  CHECK(read("native", {{12, 0}, {8, 9}, {12, 0}}) == "8.9 12.0");
  CHECK(read("Native;9.0", {{8, 9}}) == "8.9 9.0");
  CHECK(read("native+PTX", {{8, 9}}) == "8.9+PTX");
  CHECK(read("native") == "ARC003");
}

TEST_CASE("an item with a suffix stays apart from the plain one") {
  CHECK(read("9.0a 9.0 9.0a+PTX") == "9.0 9.0a+PTX");
}

TEST_CASE("names of arches and gencodes") {
  const Arch arch{{12, 1}, ArchSuffix::a};
  CHECK(to_string(arch) == "12.1a");
  CHECK(sm_name(arch) == "sm_121a");
  CHECK(compute_name(arch) == "compute_121a");
  CHECK(to_string(Gencode{arch, arch, false}) == "arch=compute_121a,code=sm_121a");
  const Arch plain{{8, 0}, ArchSuffix::none};
  CHECK(to_string(Gencode{plain, plain, true}) == "arch=compute_80,code=compute_80");
}

TEST_CASE("capabilities and arches of a spec have one spelling") {
  CHECK(parse_capability("12.1") == Capability{12, 1});
  for (const char* text : {"121", "9.0a", "9", "", "9.0 ", "sm_90"}) CHECK_MESSAGE(!parse_capability(text), text);
  CHECK(parse_arch("12.0f") == Arch{{12, 0}, ArchSuffix::f});
  CHECK(parse_arch("9.0") == Arch{{9, 0}, ArchSuffix::none});
  for (const char* text : {"90a", "9.0A", "9.0b", "a", ""}) CHECK_MESSAGE(!parse_arch(text), text);
}

TEST_CASE("machine code reaches as far as its suffix says") {
  const auto arch = [](const char* text) { return parse_arch(text).value(); };
  CHECK(code_runs_on(arch("12.0"), {12, 1}));
  CHECK_FALSE(code_runs_on(arch("12.1"), {12, 0}));
  CHECK_FALSE(code_runs_on(arch("12.0a"), {12, 1}));
  CHECK(code_runs_on(arch("12.0f"), {12, 1}));
  CHECK(code_runs_on(arch("8.0"), {8, 9}));
  CHECK_FALSE(code_runs_on(arch("8.0"), {9, 0}));
  CHECK(ptx_reaches(arch("8.0"), {12, 1}));
  CHECK_FALSE(ptx_reaches(arch("9.0a"), {10, 0}));
  CHECK(ptx_reaches(arch("12.0f"), {12, 1}));
  CHECK_FALSE(ptx_reaches(arch("9.0"), {8, 9}));
}
