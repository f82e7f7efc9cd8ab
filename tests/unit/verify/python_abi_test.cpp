#include "spec/symbol_lists.hpp"
#include "unit/verify/module_package.hpp"

using namespace sagekit;
using namespace sagekit::test;

namespace {

ModulePackage with_symbols(const std::vector<std::string>& symbols, const std::string& name,
                           const std::string& path = "tiny/_a.abi3.so") {
  auto module = right_module();
  module.undefined = symbols;
  auto package = package_of(module, path);
  package.name = name;
  return package;
}

ModulePackage windows(const PeImports& imports, const std::string& tags, const std::string& path) {
  PeBuilder pe;
  pe.imports = imports;
  pe.exports = {"PyInit__a"};
  ModulePackage package;
  package.name = "tiny-1.0-" + tags + "-win_amd64.whl";
  package.files = {{path, pe.build()}};
  return package;
}

const std::string k_abi3 = "tiny-1.0-cp39-abi3-manylinux_2_28_x86_64.whl";

std::string since(const char* symbol) {
  const auto version = stable_abi_since(symbol);
  return version ? to_string(*version) : "";
}

}  // namespace

TEST_CASE("the stable ABI's list has each symbol with its Python") {
  CHECK(since("PyModule_Create2") == "3.2");
  CHECK(since("PyBuffer_Release") == "3.11");
  CHECK(since("_Py_NoneStruct") == "3.2");
  CHECK(since("PyAIter_Check") == "3.10");
  CHECK(since("_Py_TrueStruct") == "3.2");
  CHECK(since("PyUnicode_AsUTF8").empty());
  CHECK(since("").empty());
  CHECK(since("#").empty());
  CHECK(since("zzz").empty());
}

TEST_CASE("a suffix must be that of the tag: version, build and machine") {
  const auto suffix = [](const std::string& path, const std::string& tags) {
    auto package = package_of(right_module(), path);
    package.name = "tiny-1.0-" + tags + "-manylinux_2_28_x86_64.whl";
    return package;
  };
  check_fails(suffix("tiny/_a.cpython-311-x86_64-linux-gnu.so", "cp312-cp312"), "PYA001", "cp311");
  check_fails(suffix("tiny/_a.cpython-313-x86_64-linux-gnu.so", "cp313-cp313t"), "PYA001", "cp313");
  CHECK(passed(suffix("tiny/_a.cpython-313t-x86_64-linux-gnu.so", "cp313-cp313t").judge(), "PYA001"));
  check_fails(suffix("tiny/_a.cpython-312d-x86_64-linux-gnu.so", "cp312-cp312"), "PYA001", "cp312d");
  check_fails(suffix("tiny/_a.cpython-312-aarch64-linux-gnu.so", "cp312-cp312"), "PYA001", "another machine");
  check_fails(suffix("tiny/_a.cpython-312-x86_64-linux-gnu.so", "py3-none"), "PYA001", "cp312");
  check_fails(suffix("tiny/_a.abi3t.so", "cp314-cp314"), "PYA001", "3.15");
  CHECK(passed(suffix("tiny/_a.abi3t.so", "cp315-abi3.abi3t").judge(), "PYA001"));
  CHECK(passed(suffix("tiny/_a.abi3.so", "cp312-cp312").judge(), "PYA001"));
}

TEST_CASE("one module for several Pythons may lie in a wheel for every Python") {
  auto package = package_of(right_module(), "tiny/_a.cpython-311-x86_64-linux-gnu.so");
  package.name = "tiny-1.0-py3-none-manylinux_2_28_x86_64.whl";
  package.files.emplace_back("tiny/_a.cpython-312-x86_64-linux-gnu.so", right_module().build());
  CHECK(passed(package.judge(), "PYA001"));
}

TEST_CASE("an extension module exports PyInit or PyModExport") {
  auto module = right_module("_other");
  check_fails(package_of(module), "PYA002", "PyInit__a");
  module.exports = {"PyModExport__a"};
  CHECK(passed(package_of(module).judge(), "PYA002"));
}

TEST_CASE("a library of operators that uses nothing of Python is no broken module") {
  auto module = right_module("_other");
  module.undefined = {"malloc"};
  const auto report = package_of(module).judge();
  CHECK(report.pass);
  CHECK(holds(told(report, "PYA002"), "torch.ops"));
  // Python does not look for it, so that its name binds it to no Python (torchao's _C_mxfp8.cpython-310, in an abi3
  // wheel).
  auto stable = package_of(module, "tiny/_a.cpython-310-x86_64-linux-gnu.so");
  stable.name = "tiny-1.0-cp310-abi3-manylinux_2_28_x86_64.whl";
  CHECK(passed(stable.judge(), "PYA001"));
}

TEST_CASE("abi3 is proven symbol by symbol") {
  CHECK(
      passed(with_symbols({"PyModule_Create2", "PyObject_CallNoArgs"}, "tiny-1.0-cp310-abi3-manylinux_2_28_x86_64.whl")
                 .judge(Policy::own),
             "PYA003"));
  check_warns(with_symbols({"PyModule_Create2", "_PyDict_Pop"}, k_abi3), "PYA003", "_PyDict_Pop");
  check_warns(with_symbols({"PyBuffer_Release"}, k_abi3), "PYA004", "PyBuffer_Release (3.11)");
  CHECK(passed(with_symbols({"PyBuffer_Release"}, "tiny-1.0-cp311-abi3-manylinux_2_28_x86_64.whl").judge(), "PYA004"));
}

TEST_CASE("of several abi3 tags the newest Python counts") {
  CHECK(passed(with_symbols({"PyBuffer_Release"}, "tiny-1.0-cp39.cp311-abi3-manylinux_2_28_x86_64.whl").judge(),
               "PYA004"));
}

TEST_CASE("a stable-ABI module that shows nothing of Python is not proven") {
  const auto found = trouble(with_symbols({"malloc"}, k_abi3).judge(), "PYA003");
  REQUIRE(found.size() == 1);
  CHECK(found[0].result == FindingResult::skipped);
}

TEST_CASE("stable-ABI modules in a wheel for every Python are held to Requires-Python") {
  auto package = with_symbols({"PyBuffer_Release"}, "tiny-1.0-py3-none-manylinux_2_28_x86_64.whl");
  CHECK(trouble(package.judge(), "PYA004").at(0).result == FindingResult::skipped);
  package.requires_python = ">=3.9,<4";
  check_warns(package, "PYA004", "promises Python 3.9");
  package.requires_python = ">=3.11";
  CHECK(passed(package.judge(), "PYA004"));
}

TEST_CASE("a wheel for one Python may use all of it") {
  CHECK(passed(with_symbols({"_PyDict_Pop"}, "tiny-1.0-cp312-cp312-manylinux_2_28_x86_64.whl").judge(Policy::own),
               "PYA003"));
}

TEST_CASE("weak symbols and those of the wheel's own libraries are nobody's fault") {
  auto library = right_module();
  library.soname = "libglue.so";
  library.exports = {"PyGlue_Help"};
  auto module = right_module();
  module.needed.emplace_back("libglue.so");
  module.undefined = {"PyModule_Create2", "PyGlue_Help"};
  module.undefined_weak = {"PyUnstable_Module_SetGIL"};
  auto package = package_of(module, "tiny/_a.abi3.so");
  package.name = k_abi3;
  package.files.emplace_back("tiny/libglue.so", library.build());
  CHECK(passed(package.judge(), "PYA003"));
}

TEST_CASE("Windows modules need the DLL of their Python") {
  CHECK(passed(windows({{"python3.dll", {"PyModule_Create2"}}}, "cp39-abi3", "tiny/_a.pyd").judge(), "PYA005"));
  check_fails(windows({{"python312.dll", {"PyModule_Create2"}}}, "cp39-abi3", "tiny/_a.pyd"), "PYA005",
              "python312.dll");
  check_fails(windows({{"python311.dll", {"PyModule_Create2"}}}, "cp312-cp312", "tiny/_a.cp312-win_amd64.pyd"),
              "PYA005", "python311.dll");
  check_fails(windows({{"python312_d.dll", {"PyModule_Create2"}}}, "cp312-cp312", "tiny/_a.cp312-win_amd64.pyd"),
              "PYA005", "debug build");
  CHECK(passed(
      windows({{"python313t.dll", {"PyModule_Create2"}}}, "cp313-cp313t", "tiny/_a.cp313t-win_amd64.pyd").judge(),
      "PYA005"));
  check_fails(windows({{"python312.dll", {"PyModule_Create2"}}}, "cp312-cp312", "tiny/_a.cp312-win_arm64.pyd"),
              "PYA001", "another machine");
}

TEST_CASE("a plain .pyd is the right name of a stable-ABI module on Windows, also where a spec knows the module") {
  DemoBuild demo;
  demo.build.cell.platform = "win_amd64";
  demo.build.cell.tags = {"cp39-abi3-win_amd64"};
  demo.build.cell.wheel = "demo-1.2.0-cp39-abi3-win_amd64.whl";
  PeBuilder pe;
  pe.imports = {{"python3.dll", {"PyModule_Create2"}}};
  pe.exports = {"PyInit__a"};
  demo.files.erase("demo/_a" + k_suffix);
  demo.files["demo/_a.pyd"] = pe.build();
  const auto about = [&] {
    std::vector<std::string> messages;
    for (const auto& one : trouble(judge_build(demo, demo_spec()), "PYA001"))
      if (one.where == "demo/_a.pyd") messages.push_back(one.message);
    return messages;
  };
  CHECK(about().empty());
  pe.imports = {{"KERNEL32.dll", {"Sleep"}}};  // bound to no Python
  demo.files["demo/_a.pyd"] = pe.build();
  CHECK(about().empty());
  pe.imports = {{"python311.dll", {"PyModule_Create2"}}};
  demo.files["demo/_a.pyd"] = pe.build();
  CHECK(about() == std::vector<std::string>{"it is for cp311, the wheel is tagged abi3"});
}

TEST_CASE("a stranger's plain .pyd is judged as the extension module that it is") {
  CHECK(passed(windows({{"python3.dll", {"PyModule_Create2"}}}, "cp39-abi3", "tiny/_a.pyd").judge(), "PYA001"));
  CHECK(passed(windows({{"python312.dll", {"PyModule_Create2"}}}, "cp312-cp312", "tiny/_a.pyd").judge(), "PYA001"));
  check_fails(windows({{"python311.dll", {"PyModule_Create2"}}}, "cp312-cp312", "tiny/_a.pyd"), "PYA001", "cp311");
  check_fails(windows({{"python3.dll", {"PyModule_Create2"}}}, "cp39-abi3", "tiny/_b.pyd"), "PYA002", "PyInit__b");
  check_fails(windows({{"python3t.dll", {"PyModule_Create2"}}}, "cp39-abi3", "tiny/_a.pyd"), "PYA001", "python3t.dll");
}

TEST_CASE("abi3 of Windows modules is proven by their imports") {
  check_warns(windows({{"python3.dll", {"PyModule_Create2", "PyBuffer_Release"}}}, "cp39-abi3", "tiny/_a.pyd"),
              "PYA004", "PyBuffer_Release");
}

TEST_CASE("symbols of Pythons long gone are named") {
  auto module = right_module();
  module.undefined = {"PyFPE_jbuf", "PyUnicodeUCS4_FromString"};
  check_warns(package_of(module), "PYA006", "PyFPE_jbuf");
}
