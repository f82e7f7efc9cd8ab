#include "verify/torch_abi.hpp"

#include "spec/symbol_lists.hpp"
#include "unit/verify/module_package.hpp"

using namespace sagekit;
using namespace sagekit::test;

namespace {

ModulePackage using_torch(const std::vector<std::string>& symbols, const std::vector<std::string>& requires_dist,
                          const std::string& version = "1.0") {
  auto module = right_module();
  module.needed.emplace_back("libtorch_cpu.so");
  module.undefined.insert(module.undefined.end(), symbols.begin(), symbols.end());
  auto package = package_of(module);
  package.name = "tiny-" + version + "-cp312-cp312-manylinux_2_28_x86_64.whl";
  package.requires_dist = requires_dist;
  return package;
}

constexpr const char* k_old_string = "_ZN3c105ErrorC2ENS_14SourceLocationESs";
constexpr const char* k_new_string =
    "_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE";
constexpr const char* k_until_29 = "_ZN3c104cuda29c10_cuda_check_implementationEiPKcS2_ib";    // 2.7 to 2.9
constexpr const char* k_210_to_213 = "_ZN3c104cuda29c10_cuda_check_implementationEiPKcS2_jb";  // 2.10 and 2.11

}  // namespace

TEST_CASE("torch's stable functions are known with their release") {
  CHECK(to_string(torch_shim_since("torch_call_dispatcher").value()) == "2.10");
  CHECK(to_string(torch_shim_since("torch_library_def_with_tags").value()) == "2.12");
  CHECK(torch_shim_since("aoti_torch_empty_strided"));
  CHECK_FALSE(torch_shim_since("torch_nonsense"));
  const auto releases = known_torch_exports();
  REQUIRE(releases.size() == 8);
  CHECK(torch_releases_with(k_until_29) == std::vector<bool>{true, true, true, false, false, false, false, false});
  CHECK(torch_releases_with("_ZN3c105nosuchE").empty());
}

TEST_CASE("a module of the stable ABI runs from its torch on") {
  const auto right = using_torch({"torch_call_dispatcher", "aoti_torch_get_dim"}, {"torch>=2.10"}).judge(Policy::own);
  CHECK(right.pass);
  CHECK(holds(told(right, "TAB003"), "stable ABI"));
  CHECK(holds(told(right, "TAB003"), "torch 2.10"));
  check_warns(using_torch({"torch_call_dispatcher"}, {"torch>=2.9"}), "TAB002", "torch_call_dispatcher");
  CHECK(trouble(using_torch({"torch_call_dispatcher"}, {"torch"}).judge(), "TAB002").at(0).result ==
        FindingResult::skipped);
}

TEST_CASE("one symbol of C++ makes a module unstable") {
  const auto report = using_torch({"torch_call_dispatcher", "_ZN2at4_ops10empty_like4callE"}, {"torch>=2.9"}).judge();
  CHECK(passed(report, "TAB002"));
  CHECK(holds(told(report, "TAB003"), "C++ ABI"));
}

TEST_CASE("a wheel for every later torch uses no C++ of torch, and no function that its first torch lacks") {
  const auto version = [](const std::string& least) { return "1.0+cu130.torch" + least + "andhigher"; };
  const auto right = using_torch({"aoti_torch_get_dim"}, {"torch>=2.9"}, version("2.9")).judge(Policy::own);
  CHECK(passed(right, "TAB005"));
  CHECK(passed(right, "TAB002"));
  check_fails(using_torch({k_until_29}, {"torch>=2.8"}, version("2.8")), "TAB005", "which torch 2.10 does not have");
  check_fails(using_torch({"_ZN2at4_ops10empty_like4callE"}, {}, version("2.9")), "TAB005", "changes with each minor");
  CHECK(passed(using_torch({k_until_29}, {"torch==2.8.*"}).judge(), "TAB005"));  // promises no other
  check_warns(using_torch({"torch_call_dispatcher"}, {"torch>=2.10"}, version("2.9")), "TAB002", "allows torch 2.9");
}

TEST_CASE("strings of before GCC 5 are not in torch since 2.7") {
  check_fails(using_torch({k_old_string}, {"torch==2.9.*"}), "TAB001", "c10::Error");
  check_fails(using_torch({k_old_string}, {"torch>=2.8"}), "TAB001", "torch 2.8 does not have");
  CHECK(passed(using_torch({k_old_string}, {"torch==2.6.0"}).judge(), "TAB001"));
  CHECK(passed(using_torch({k_old_string}, {"torch"}).judge(), "TAB001"));
  CHECK(passed(using_torch({k_new_string}, {"torch==2.9.*"}).judge(), "TAB001"));
  CHECK(holds(told(using_torch({k_old_string}, {"torch"}).judge(), "TAB003"), "2.6 or older"));
}

TEST_CASE("an identifier that ends like the old string is none") {
  CHECK_FALSE(wants_old_strings("_ZN3c106ClassSsE"));
  CHECK_FALSE(wants_old_strings("_ZNSsC1Ev"));
  CHECK(wants_old_strings("_ZN3c106detail14torchCheckFailEPKcS2_jRKSs"));
  CHECK(wants_new_strings(k_new_string));
}

TEST_CASE("the torch that a module was linked with is read from its symbols") {
  CHECK(holds(told(using_torch({k_until_29}, {}).judge(), "TAB003"), "torch 2.7 to 2.9"));
  CHECK(holds(told(using_torch({k_until_29, k_210_to_213}, {}).judge(), "TAB003"), "no known torch"));
  check_fails(using_torch({k_until_29}, {"torch==2.11.*"}), "TAB004", "torch 2.7 to 2.9 has it");
  check_fails(using_torch({k_until_29}, {}, "1.0+cu130.torch2.11"), "TAB004", "torch 2.11 does not have");
  CHECK(passed(using_torch({k_until_29}, {"torch==2.8.0"}).judge(), "TAB004"));
  CHECK(passed(using_torch({k_until_29}, {"torch>=2.11"}).judge(), "TAB004"));    // a range names none
  CHECK(passed(using_torch({k_until_29}, {"torch==2.12.*"}).judge(), "TAB004"));  // not known
}

TEST_CASE("what the wheel's own libraries export is not torch's") {
  auto library = right_module();
  library.soname = "libinner.so";
  library.exports = {k_until_29};
  auto module = right_module();
  module.needed.emplace_back("libinner.so");
  module.undefined.emplace_back(k_until_29);
  auto package = package_of(module);
  package.requires_dist = {"torch==2.11.*"};
  package.files.emplace_back("tiny/libinner.so", library.build());
  CHECK(holds(told(package.judge(), "TAB003"), "no module uses torch"));
}

TEST_CASE("a Windows module tells by the kind of names it imports") {
  PeBuilder pe;
  pe.exports = {"PyInit__a"};
  pe.imports = {{"python312.dll", {"PyModule_Create2"}}, {"torch_cpu.dll", {"torch_call_dispatcher"}}};
  ModulePackage package;
  package.name = "tiny-1.0-cp312-cp312-win_amd64.whl";
  package.files = {{"tiny/_a.cp312-win_amd64.pyd", pe.build()}};
  package.requires_dist = {"torch>=2.10"};
  CHECK(holds(told(package.judge(), "TAB003"), "stable ABI"));
  pe.imports[1].second.emplace_back("?what@Error@c10@@UEBAPEBDXZ");
  package.files[0].second = pe.build();
  CHECK(holds(told(package.judge(), "TAB003"), "changes with each minor release"));
}
