// WIN: what only modules for Windows can get wrong.
#include "unit/verify/module_package.hpp"

using namespace sagekit;
using namespace sagekit::test;

namespace {

/// What a module on torch's stable interface, built with MSVC, imports.
PeBuilder right_pyd() {
  PeBuilder pe;
  pe.imports = {{"python3.dll", {"PyModule_Create2"}},
                {"torch_cpu.dll", {"aoti_torch_get_dim"}},
                {"cudart64_13.dll", {"cudaLaunchKernel"}},
                {"VCRUNTIME140.dll", {"_CxxThrowException"}},
                {"api-ms-win-crt-runtime-l1-1-0.dll", {"_initterm"}},
                {"KERNEL32.dll", {"RaiseException"}}};
  pe.exports = {"PyInit__a"};
  return pe;
}

/// The same built with mingw: its own unwinder, whose exceptions torch's frames do not know.
PeBuilder mingw_pyd() {
  auto pe = right_pyd();
  std::erase_if(pe.imports, [](const auto& one) { return one.first == "VCRUNTIME140.dll"; });
  return pe;
}

void import_name(PeBuilder& pe, const std::string& library, const std::string& name) {
  const auto found = std::ranges::find(pe.imports, library, &PeImports::value_type::first);
  if (found == pe.imports.end())
    pe.imports.push_back({library, {name}});
  else
    found->second.push_back(name);
}

ModulePackage wheel_of(const PeBuilder& pe) {
  ModulePackage package;
  package.name = "tiny-1.0+cu130.torch2.9andhigher-cp310-abi3-win_amd64.whl";
  package.requires_dist = {"torch>=2.9"};
  package.files = {{"tiny/_a.pyd", pe.build()}};
  return package;
}

}  // namespace

TEST_CASE("a right module for Windows breaks no rule") {
  const auto report = wheel_of(right_pyd()).judge(Policy::own);
  for (const auto* code : {"WIN001", "WIN002", "WIN003", "WIN004", "WIN005", "WIN006", "PYA001", "TAB002", "TAB005"}) {
    CAPTURE(code);
    CHECK(passed(report, code));
  }
}

TEST_CASE("a wheel for Linux is not asked about Windows") {
  const auto report = package_of(right_module()).judge();
  CHECK(std::ranges::none_of(report.findings, [](const Finding& one) { return one.code.starts_with("WIN"); }));
}

TEST_CASE("what mends a DLL that nobody brings depends on whose it is") {
  const auto hint_of = [](const std::string& dll) {
    auto pe = right_pyd();
    import_name(pe, dll, "f");
    const auto report = wheel_of(pe).judge();
    const auto found = std::ranges::find_if(report.findings, [](const Finding& one) { return one.code == "WIN001"; });
    return found == report.findings.end() ? std::string() : found->hint;
  };
  CHECK(hint_of("libstdc++-6.dll").find("mingw") != std::string::npos);
  CHECK(hint_of("cublas64_11.dll").find("mingw") == std::string::npos);
  CHECK(hint_of("cublas64_11.dll").find("require the package") != std::string::npos);
}

TEST_CASE("a DLL that nobody brings is named, one that lies in the wheel is not") {
  auto pe = right_pyd();
  import_name(pe, "libstdc++-6.dll", "__cxa_throw");
  auto package = wheel_of(pe);
  check_warns(package, "WIN001", "libstdc++-6.dll");
  package.files.emplace_back("tiny/LIBSTDC++-6.DLL", PeBuilder().build());
  CHECK(passed(package.judge(), "WIN001"));
}

TEST_CASE("two C runtimes are one too many, an old one alone is said") {
  auto pe = right_pyd();
  import_name(pe, "msvcrt.dll", "malloc");
  CHECK(holds(said_of(wheel_of(pe).judge(), "WIN002"), "two C runtimes"));
  std::erase_if(pe.imports,
                [](const auto& one) { return one.first.starts_with("api-") || one.first.starts_with("VCRUNTIME"); });
  CHECK(told(wheel_of(pe).judge(), "WIN002").find("its C runtime is msvcrt.dll") != std::string::npos);
}

TEST_CASE("what link.exe sets by itself is missed by name") {
  auto pe = right_pyd();
  pe.characteristics = 0x40;
  check_warns(wheel_of(pe), "WIN003", "/HIGHENTROPYVA, /NXCOMPAT");
}

TEST_CASE("a path of the build machine is quoted, a file's name is none") {
  auto pe = right_pyd();
  pe.debug_path = "C:\\Users\\me\\_a.pdb";
  CHECK(told(wheel_of(pe).judge(), "WIN004").find("C:\\Users\\me") != std::string::npos);
  pe.debug_path = "_a.pdb";
  CHECK(passed(wheel_of(pe).judge(), "WIN004"));
}

TEST_CASE("exceptions that torch's frames do not know need somebody who hands them over") {
  check_fails(wheel_of(mingw_pyd()), "WIN005", "ends the process");
  auto walled = mingw_pyd();
  import_name(walled, "torch_cpu.dll", "aoti_torch_check");
  CHECK(passed(wheel_of(walled).judge(), "WIN005"));
  auto quiet = mingw_pyd();  // nothing in it throws
  std::erase_if(quiet.imports, [](const auto& one) { return one.first == "KERNEL32.dll"; });
  CHECK(passed(wheel_of(quiet).judge(), "WIN005"));
}

TEST_CASE("what the first torch of a range lacks is named with the torch that has it") {
  auto pe = right_pyd();
  import_name(pe, "torch_cpu.dll", "torch_call_dispatcher");
  check_fails(wheel_of(pe), "WIN006", "torch_call_dispatcher (from torch 2.10 on)");
  auto nobodys = right_pyd();
  import_name(nobodys, "torch_cuda.dll", "aoti_torch_nobody_has_this");
  check_fails(wheel_of(nobodys), "WIN006", "aoti_torch_nobody_has_this");
  auto cpp = right_pyd();
  import_name(cpp, "c10.dll", "?what@Error@c10@@UEBAPEBDXZ");
  check_fails(wheel_of(cpp), "TAB005", "c10");
}
