#include "spec/data.hpp"

#include <sagekit/arch.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace sagekit;

namespace {

/// The list in normal form, or the code of the error.
std::string arches_in(std::string_view text, const std::vector<Capability>& native = {}) {
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
    CHECK_MESSAGE(arches_in(text) == "8.0", text);
  for (const char* text : {"12.1a", "121a", "sm_121a", "SM_121A", "compute_121a;sm_121a"})
    CHECK_MESSAGE(arches_in(text) == "12.1a", text);
  for (const char* text : {"12.0+PTX", "120+ptx", "sm_120+PTX", "12.0;12.0+PTX", "12.0+PTX 12.0"})
    CHECK_MESSAGE(arches_in(text) == "12.0+PTX", text);
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
  for (const Spelling& row : table) CHECK_MESSAGE(arches_in(row.text) == row.normal, row.text);
}

TEST_CASE("what is no arch is refused, never dropped") {
  for (const char* text :
       {"8",       "8.",       ".8",   "8.00",  "08.0",   "12.10",    "123.0",   "1234",        "sm_",
        "sm_8.0",  "sm_sm_80", "8.0b", "8.0aa", "8.0+",   "8.0+SASS", "+PTX",    "8.0+PTX+PTX", "8.0-",
        "8.0|9.0", "12",       "10",   "-8.0",  "8.0;;x", "nativ",    "\xc3\xa9"})
    CHECK_MESSAGE(arches_in(text) == "ARC002", text);
  for (const char* text : {"", " ", ";", " , ;\n"}) CHECK_MESSAGE(arches_in(text) == "ARC001", text);
}

TEST_CASE("the error names the item and says what is accepted") {
  const auto list = parse_arch_list("8.0 Ampere 9.0");
  REQUIRE_FALSE(list);
  CHECK(list.error().kind == ErrorKind::usage);
  CHECK(list.error().message.find("\"Ampere\"") != std::string::npos);
  CHECK(list.error().hint.find("sm_90") != std::string::npos);
}

TEST_CASE("native is this machine's GPUs, and an error where there is none") {
  CHECK(arches_in("native", {{12, 0}, {8, 9}, {12, 0}}) == "8.9 12.0");
  CHECK(arches_in("Native;9.0", {{8, 9}}) == "8.9 9.0");
  CHECK(arches_in("native+PTX", {{8, 9}}) == "8.9+PTX");
  CHECK(arches_in("native") == "ARC003");
}

TEST_CASE("an item with a suffix stays apart from the plain one") {
  CHECK(arches_in("9.0a 9.0 9.0a+PTX") == "9.0 9.0a+PTX");
}

TEST_CASE("a GPU's name stands for its capability wherever an arch is taken") {
  const Spelling table[] = {
      {"RTX 5090", "12.0"},
      {"rtx 5090", "12.0"},
      {"rtx5090", "12.0"},
      {"4090", "8.9"},
      {"4070 Ti Super;8.0", "8.0 8.9"},
      {"4070ti", "8.9"},
      {"3060Ti", "8.6"},
      {"A100-SXM4-80GB", "8.0"},
      {"A100 SXM", "8.0"},  // as those say it who rent them out
      {"H200 SXM", "9.0"},
      {"GeForce RTX 4090", "8.9"},
      {"NVIDIA GeForce RTX 4090 Laptop GPU", "8.9"},
      {"A100;H100", "8.0 9.0"},
      {"A100 H100", "8.0 9.0"},
      {"A100, RTX 3090; 12.0+PTX", "8.0 8.6 12.0+PTX"},
      {"RTX 5090+PTX", "12.0+PTX"},
      {"NVIDIA A100-SXM4-80GB", "8.0"},
      {"NVIDIA H100 80GB HBM3", "9.0"},
      {"L4 8.0", "8.0 8.9"},
      {"RTX PRO 6000", "12.0"},
      {"NVIDIA RTX 6000 Ada Generation", "8.9"},
      {"Quadro RTX 6000", "7.5"},
      {"TITAN X", "6.1"},
      {"DGX Spark", "12.1"},
      {"GB10", "12.1"},
      {"RTX 6000", "ARC006"},  // of three generations
      {"RTX 5095", "ARC002"},
      {"8.0;RTX 5095", "ARC002"},
      {"RTX", "ARC002"},
      {"Ada", "ARC002"},
      {"Blackwell", "ARC002"},
      {"GeForce", "ARC002"},
      {"A100 H1000", "ARC002"},
  };
  for (const Spelling& row : table) CHECK_MESSAGE(arches_in(row.text) == row.normal, row.text);
}

TEST_CASE("a GPU that is not known is quoted as typed, with the nearest ones") {
  const auto unknown = parse_arch_list("8.0;Rtx 5095").error();
  CHECK(unknown.message == "no GPU is called \"Rtx 5095\"");
  CHECK(unknown.hint.find("RTX 5090") != std::string::npos);
  const auto shared = parse_arch_list("RTX 6000").error();
  CHECK(shared.kind == ErrorKind::usage);
  CHECK(shared.message.find("Quadro RTX 6000 (7.5)") != std::string::npos);
  CHECK(shared.message.find("RTX 6000 Ada (8.9)") != std::string::npos);
}

TEST_CASE("every GPU of core data is found by its own name") {
  for (const auto& row : gpu_data().models)
    for (const auto& name : row.names) CHECK_MESSAGE(find_gpu(name) == row.capability, name);
}

TEST_CASE("a GPU is found by the number that people say, where only one has it") {
  CHECK(find_gpu("5090") == Capability{12, 0});
  CHECK(find_gpu("rtx5090") == Capability{12, 0});
  CHECK(find_gpu("4090") == Capability{8, 9});
  // As the driver says it, and those that are sold in some countries or clouds only.
  CHECK(find_gpu("Tesla T4") == Capability{7, 5});
  CHECK(find_gpu("NVIDIA GeForce GTX 1660 SUPER") == Capability{7, 5});
  CHECK(find_gpu("NVIDIA A100-SXM4-80GB MIG 1g.10gb") == Capability{8, 0});
  CHECK(find_gpu("NVIDIA A10G") == Capability{8, 6});
  CHECK(find_gpu("NVIDIA GeForce RTX 4090 D") == Capability{8, 9});
  CHECK(find_gpu("NVIDIA H20") == Capability{9, 0});
  CHECK(find_gpu("NVIDIA GeForce RTX 5090 D v2") == Capability{12, 0});
  CHECK(find_gpu("RTX 5090D") == Capability{12, 0});
  CHECK(find_gpu("Quadro RTX 6000") == Capability{7, 5});
  CHECK(find_gpu("NVIDIA GeForce RTX 2080 Super with Max-Q Design") == Capability{7, 5});
  CHECK(find_gpu("NVIDIA RTX 5000 Ada Generation Embedded GPU") == Capability{8, 9});
  CHECK(find_gpu("NVIDIA H20-3e") == Capability{9, 0});
  CHECK(find_gpu("NVIDIA B300 SXM6 AC") == Capability{10, 3});
  // As those say it who lend them.
  for (const auto* lent : {"RTX 4000 Ada SFF", "RTX 4000 SFF Ada", "RTX 5000Ada"})
    CHECK_MESSAGE((find_gpu(lent) == Capability{8, 9}), lent);
  for (const auto* lent : {"RTX PRO 6000", "RTX PRO 6000 WK", "RTX PRO 6000 WS", "RTX PRO 6000 S", "RTX PRO 6000 MaxQ",
                           "RTX PRO 6000 Max-Q", "RTX PRO 6000 Blackwell", "RTX PRO 6000 Server Edition"})
    CHECK_MESSAGE((find_gpu(lent) == Capability{12, 0}), lent);
  CHECK_FALSE(find_gpu("Tesla").has_value());
  for (const auto* none : {"90", "rtx", "509", "50 90", ""}) CHECK_FALSE(find_gpu(none).has_value());
  CHECK(find_gpu("6000").error().code == "ARC006");
}
