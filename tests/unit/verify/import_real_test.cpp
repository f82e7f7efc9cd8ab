#include "support/real_python.hpp"
#include "unit/verify/child_artifact.hpp"

using namespace sagekit;
using namespace sagekit::test;

namespace {

/// A module that CPython imports, without its headers, that calls what `body` says on the way.
std::string module_source(const std::string& name, const std::string& declarations, const std::string& body) {
  return declarations +
         "\nextern void* PyModule_Create2(void*, int);\n"
         "static struct { long head[5]; const char* name; const char* text; long size; long rest[5]; } module =\n"
         "    {{1}, \"" +
         name +
         "\", 0, -1};\n"
         "void* PyInit_" +
         name + "(void) {\n" + body + "\n  return PyModule_Create2(&module, 1013);\n}\n";
}

class RealModules {
 public:
  /// Compiles C into demo/NAME.so of the wheel; false = no compiler.
  bool add(const std::string& name, const std::string& source, std::vector<std::string> more = {}) {
    REQUIRE(write_file(m_folder.path() / (name + ".c"), source));
    std::vector<std::string> words{"-shared", "-fPIC", "-o", name + ".so", name + ".c"};
    words.insert(words.end(), more.begin(), more.end());
    if (!compile(std::move(words), m_folder.path().string())) return false;
    files["demo/" + name + ".so"] = *read_file(m_folder.path() / (name + ".so"));
    return true;
  }

  /// A library to link with that the wheel does not get.
  bool add_outside(const std::string& soname, const std::string& source) {
    REQUIRE(write_file(m_folder.path() / "outside.c", source));
    return compile({"-shared", "-fPIC", "-Wl,-soname," + soname, "-o", soname, "outside.c"}, m_folder.path().string());
  }
  std::string outside(const std::string& soname) const { return (m_folder.path() / soname).string(); }

  /// What IMP says of demo/NAME.so.
  Finding judged(const RealPython& python, const std::string& name, const std::string& init = {}) {
    ChildArtifact demo{files, demo_spec(), python.version};
    demo.files["demo/__init__.py"] = init;
    demo.spec.verify.import_modules.clear();
    VerifyOptions options;
    options.interpreters = {python.path};
    options.child_environment = python.environment;
    const auto runner = make_local_runner();
    Finding skipped;
    for (const auto& one : demo.judged("IMP001", options, *runner)) {
      if (one.where == "demo/" + name + ".so") return one;
      if (one.result == FindingResult::skipped) skipped = one;
    }
    return skipped;
  }

  std::map<std::string, std::string> files;

 private:
  TemporaryFolder m_folder = scratch();
};

}  // namespace

TEST_CASE("real modules: right, unresolved, without a library, crashing, and with a driver that is stood in for") {
  using enum FindingResult;
  const auto python = find_python();
  if (!python) return;
  RealModules modules;
  if (!modules.add("right", module_source("right", "", ""))) return;
  auto found = modules.judged(*python, "right");
  CAPTURE(found.message);
  CHECK(found.result == pass);

  REQUIRE(modules.add("open", module_source("open", "extern void nobody_has_this(void);", "nobody_has_this();")));
  found = modules.judged(*python, "open");
  CHECK(found.code == "IMP003");
  CHECK(found.message.contains("nothing defines nobody_has_this"));

  REQUIRE(modules.add_outside("libdemodep.so.7", "int dep(void) { return 1; }"));
  REQUIRE(modules.add("needs", module_source("needs", "extern int dep(void);", "dep();"),
                      {modules.outside("libdemodep.so.7")}));
  found = modules.judged(*python, "needs");
  CHECK(found.code == "IMP002");
  CHECK(found.message.contains("libdemodep.so.7 is not found"));

  REQUIRE(modules.add("crash", module_source("crash", "extern void abort(void);", "abort();")));
  found = modules.judged(*python, "crash");
  CHECK(found.code == "IMP004");
  CHECK(found.message.contains("signal 6"));

  // The stand-in says 34; a real driver says something else, and either is right.
  REQUIRE(modules.add_outside("libcuda.so.1", "int cuInit(unsigned flags) { return 0; }"));
  REQUIRE(modules.add("driver", module_source("driver", "extern int cuInit(unsigned);", "cuInit(0);"),
                      {modules.outside("libcuda.so.1")}));
  found = modules.judged(*python, "driver");
  CHECK(found.result == pass);
  MESSAGE(found.message);

  found = modules.judged(*python, "right", "import no_such_package_anywhere\n");
  CHECK(found.result == pass);
  CHECK(found.message.contains("by itself: its package needs no_such_package_anywhere"));
}

TEST_CASE(
    "real modules that want torch are loaded in forks of one process that imported it, and a crash is one's own") {
  using enum FindingResult;
  const auto python = find_python();
  if (!python) return;
  RealModules modules;
  if (!modules.add_outside("libtorch_cpu.so", "int at(void) { return 1; }")) return;
  const auto torch = modules.outside("libtorch_cpu.so"), count = modules.outside("imports");
  modules.files["torch/__init__.py"] = "import ctypes\nctypes.CDLL('" + torch + "', mode=ctypes.RTLD_GLOBAL)\nopen('" +
                                       count +
                                       "', 'a').write('x')\n__version__ = '2.11.0+cu130'\n"
                                       "class version: cuda = '13.0'\n";
  for (const auto* name : {"one", "two"})
    REQUIRE(modules.add(name, module_source(name, "extern int at(void);", "at();"), {torch}));
  auto found = modules.judged(*python, "two");
  CAPTURE(found.message);
  CHECK(found.result == pass);
  CHECK(read_file(count).value_or("") == "x");

  REQUIRE(modules.add(
      "crash", module_source("crash", "extern int at(void);\nextern void abort(void);", "at();\nabort();"), {torch}));
  CHECK(modules.judged(*python, "two").result == pass);
  found = modules.judged(*python, "crash");
  CHECK(found.code == "IMP004");
  CHECK(found.message.contains("signal 6"));
  CHECK(read_file(count).value_or("") == "xxxxx");  // twice more each: of all, and of the one that crashed
}
