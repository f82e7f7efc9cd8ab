#include "build/cross_python.hpp"

#include "fake_build.hpp"

using namespace sagekit;
using namespace sagekit::test;

namespace {

const std::string k_pyconfig =
    "/* pyconfig.h */\n#define HAVE_ALARM 1\n#define HAVE_GCC_ASM_FOR_X64 1\n#define HAVE_GCC_ASM_FOR_X87 1\n"
    "/* #undef HAVE_USABLE_WCHAR_T */\n#define PY_SUPPORT_TIER 1\n#define SIZEOF_VOID_P 8\n";
const std::string k_for_arm =
    "/* pyconfig.h */\n#define HAVE_ALARM 1\n/* #undef HAVE_GCC_ASM_FOR_X64 */\n/* #undef HAVE_GCC_ASM_FOR_X87 */\n"
    "#define HAVE_USABLE_WCHAR_T 1\n#define PY_SUPPORT_TIER 2\n#define SIZEOF_VOID_P 8\n";

}  // namespace

TEST_CASE("pyconfig.h for Arm differs in four macros and in nothing else") {
  CHECK(aarch64_pyconfig(k_pyconfig) == k_for_arm);
  // Python 3.10 knows no support tiers; none is added.
  const auto older = aarch64_pyconfig(replace_all(k_pyconfig, "#define PY_SUPPORT_TIER 1\n", ""));
  CHECK(older == replace_all(k_for_arm, "#define PY_SUPPORT_TIER 2\n", ""));
}

TEST_CASE("a pyconfig.h that is not for 64-bit x86 is refused") {
  for (const auto& text : {std::string(), k_for_arm, replace_all(k_pyconfig, "SIZEOF_VOID_P 8", "SIZEOF_VOID_P 4")})
    CHECK(aarch64_pyconfig(text).error().code == "BLD008");
}

TEST_CASE("headers for another CPU are one folder in the store, pyconfig.h beside Python.h") {
  const auto folder = temporary();
  const auto store = Store::open(folder.path() / "store");
  REQUIRE(store);
  const auto include = folder.path() / "include";
  Python python;
  python.minor = "3.12";
  python.identity = std::string(64, 'a');
  python.include_dirs = {include / "python3.12", include};
  CHECK(make_cross_headers(python, "linux_aarch64", *store).error().code == "BLD008");
  write(include / "python3.12/Python.h", "#include \"pyconfig.h\"\n");
  write(include / "python3.12/cpython/object.h", "object\n");
  CHECK(make_cross_headers(python, "linux_aarch64", *store).error().code == "BLD008");
  // Debian's: the first pyconfig.h only forwards.
  write(include / "python3.12/pyconfig.h", "# include <x86_64-linux-gnu/python3.12/pyconfig.h>\n");
  write(include / "x86_64-linux-gnu/python3.12/pyconfig.h", k_pyconfig);
  const auto made = make_cross_headers(python, "linux_aarch64", *store);
  REQUIRE(made);
  CHECK(text_of(*made / "pyconfig.h") == k_for_arm);
  CHECK(text_of(*made / "Python.h") == "#include \"pyconfig.h\"\n");
  CHECK(text_of(*made / "cpython/object.h") == "object\n");
  CHECK(make_cross_headers(python, "linux_aarch64", *store) == *made);
}

TEST_CASE("headers of an unpacked package are one folder without what lies beside them") {
  const auto folder = temporary();
  const auto store = Store::open(folder.path() / "store");
  REQUIRE(store);
  const auto include = folder.path() / "usr/include";
  write(include / "stdint.h", "a C library that was unpacked into the same folder\n");
  write(include / "python3.13/Python.h", "#include \"pyconfig.h\"\n");
  write(include / "python3.13/pyconfig.h", "# include <aarch64-linux-gnu/python3.13/pyconfig.h>\n");
  write(include / "aarch64-linux-gnu/python3.13/pyconfig.h", k_for_arm);
  Python python;
  python.minor = "3.13";
  python.soabi = "cpython-313-aarch64-linux-gnu";
  python.identity = std::string(64, 'b');
  python.include_dirs = {include / "python3.13", include};
  const auto made = make_own_headers(python, *store);
  REQUIRE(made);
  CHECK(text_of(*made / "pyconfig.h") == k_for_arm);
  CHECK_FALSE(fs::exists(*made / "stdint.h"));
}
