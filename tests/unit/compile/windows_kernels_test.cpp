#include "compile/windows_kernels.hpp"

#include <doctest/doctest.h>

using namespace sagekit;

namespace {

/// Why kernels of these names and parameter sizes are refused; "" = they are not.
std::string refusal_of(const std::string& name, std::vector<std::uint64_t> bytes, std::string_view module_id = "") {
  const auto checked = check_kernels_for_windows({{{name, std::move(bytes)}}, {}}, module_id);
  if (checked) return {};
  CHECK(checked.error().code == "BLD013");
  return checked.error().message;
}

bool says(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("kernels of pointers, int, float and known types serve Windows") {
  CHECK(refusal_of("_Z1fPfjf", {8, 4, 4}).empty());                        // f(float*, unsigned, float)
  CHECK(refusal_of("_Z1fxy", {8, 8}).empty());                             // long long is the same
  CHECK(refusal_of("_Z4copyILj64E6__halfEvPT0_S2_j", {8, 8, 4}).empty());  // copy<64u, __half>(...)
  CHECK(refusal_of("_Z1fv", {}).empty());
  CHECK(refusal_of("_Z1f14CUtensorMap_stPKf", {128, 8}).empty());
  CHECK(refusal_of("_Z1fIL4Mode1EEvPvb", {8, 1}).empty());  // f<(Mode)1>(void*, bool)
}

TEST_CASE("long is refused wherever it stands, with the kernel's name: it has 4 bytes on Windows") {
  const auto by_value = refusal_of("_Z5scalePfl", {8, 8});
  CHECK(says(by_value, "scale(float*, long)"));
  CHECK(says(by_value, "long is another type"));
  CHECK(says(refusal_of("_Z1fPl", {8}), "long is another type"));          // int64_t* on Linux
  CHECK(says(refusal_of("_Z1fm", {8}), "long is another type"));           // size_t
  CHECK(says(refusal_of("_Z1fILm64EEvPf", {8}), "long is another type"));  // f<64ul>
  CHECK(says(refusal_of("_Z1fIlEvPf", {8}), "long is another type"));      // f<long>
  CHECK(says(refusal_of("_Z1fe", {16}), "long double is another type"));
  CHECK(says(refusal_of("_Z1fPw", {8}), "wchar_t is another type"));
}

TEST_CASE("a type whose layout nobody knows is refused, and a known one of another size") {
  CHECK(says(refusal_of("_Z1f6Params", {24}), "it takes Params by value"));
  CHECK(says(refusal_of("_Z1fSt5arrayIiLj4EE", {16}), "by value"));
  CHECK(says(refusal_of("_Z1f14CUtensorMap_st", {64}), "has 128 bytes, in the GPU code 64"));
  CHECK(says(refusal_of("_Z1fij", {4}), "it takes 2 values, the GPU code 1"));
}

TEST_CASE("kernels in unnamed namespaces, static ones and names without types are refused") {
  CHECK(says(refusal_of("_ZN12_GLOBAL__N_11fEPf", {8}), "unnamed namespace"));
  CHECK(says(refusal_of("_Z1fPf", {8}, "_0c1d_9_unit_cu_1"), "internal"));
  CHECK(says(refusal_of("plain_c", {8}), "does not say what it takes"));
}

TEST_CASE("types taken by value are asserted in the host's code") {
  const KernelInterface kernels{{{"_Z1f14CUtensorMap_stPKf", {128, 8}}, {"_Z1g6__halfj", {2, 4}}}, {}};
  const auto text = size_assertions(kernels);
  CHECK(says(text, "static_assert(sizeof(CUtensorMap_st) == 128,"));
  CHECK(says(text, "static_assert(sizeof(__half) == 2,"));
  CHECK_FALSE(says(text, "*"));
}

namespace {

/// As clang 19 writes them, shortened.
std::string registrations(const std::vector<std::string>& names) {
  std::string text = "__cuda_module_ctor:\n\tcallq\t__cudaRegisterFatBinary\n";
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto label = ".L__unnamed_" + std::to_string(i + 1);
    text += "\tmovl\t$-1, 32(%rsp)\n\tleaq\t_Z30__device_stub__k(%rip), %rdx\n\tleaq\t" + label +
            "(%rip), %r8\n\tmovq\t%rax, %rcx\n\tmovq\t%r8, %r9\n\tcallq\t__cudaRegisterFunction\n";
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    text += ".L__unnamed_" + std::to_string(i + 1) + ":                         # @" + std::to_string(i) +
            "\n\t.asciz\t\"" + names[i] + "\"\n\n";
  return text;
}

}  // namespace

TEST_CASE("what clang registers must be what the GPU code has") {
  const KernelInterface kernels{{{"_Z1fPf", {8}}, {"_Z1gx", {8}}}, {}};
  CHECK(check_registrations(registrations({"_Z1fPf", "_Z1gx"}), kernels));
  const auto other = check_registrations(registrations({"_Z1fPf", "_Z1gl"}), kernels);
  REQUIRE_FALSE(other);
  CHECK(other.error().code == "BLD014");
  CHECK(says(other.error().message, "_Z1gl"));
  CHECK_FALSE(check_registrations(registrations({"_Z1fPf"}), kernels));
  CHECK_FALSE(check_registrations("\tcallq\t__cudaRegisterFunction\n", kernels));
  CHECK_FALSE(check_registrations("", kernels));
}
