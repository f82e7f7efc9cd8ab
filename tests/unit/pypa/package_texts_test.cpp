// Readers of the texts in dist-info: requirements, entry points, variants; and names as file systems compare them.
#include "archive/name_fold.hpp"
#include "pypa/entry_points_reader.hpp"
#include "pypa/metadata_rules.hpp"
#include "pypa/requirement_reader.hpp"
#include "pypa/variant_reader.hpp"

#include <doctest/doctest.h>

using namespace sagekit;

TEST_CASE("requirements are read as installers read them") {
  for (const char* const good :
       {"numpy", "numpy>=1.0", "numpy >= 1.0 , < 2", "numpy (>=1.0)", "numpy[a, b]~=1.2.0", "numpy[]", "numpy==1.*",
        "numpy!=1.0rc1", "numpy===anything", "numpy>=1,", "a.b-c_d", "torch==2.11.0+cu130",
        "x @ https://example.org/x.whl", "x@https://example.org/x.whl ; os_name == 'nt'",
        "x; python_version<'3' and (extra == \"a\" or sys_platform not in 'win32 darwin')",
        "x ; 'a' in platform_machine"}) {
    CAPTURE(good);
    CHECK(read_requirement(good));
  }
  for (const char* const bad : {"",
                                "-x",
                                "x-",
                                "numpy 1.0",
                                "numpy>=1.0.*",
                                "numpy~=1",
                                "numpy>=1.0+local",
                                "numpy=1.0",
                                "numpy>",
                                "numpy[a",
                                "numpy[a b]",
                                "numpy[a,]",
                                "(numpy)",
                                "numpy (>=1.0",
                                "x @ ",
                                "x; ",
                                "x; gpu == 'yes'",
                                "x; python_version",
                                "x; python_version == 3",
                                "x; python_version == '3",
                                "x; python_version == '3' and",
                                "x; not python_version == '3'",
                                "x; (python_version == '3'",
                                "x >=1 <2"}) {
    CAPTURE(bad);
    CHECK_FALSE(read_requirement(bad));
  }
  const auto parts = read_requirement("Foo[a,b] >=1,<2 ; extra == 'c' or 'd' == extra");
  REQUIRE(parts);
  CHECK(parts->name == "Foo");
  CHECK(parts->extras == std::vector<std::string>{"a", "b"});
  CHECK(parts->specifiers == ">=1,<2");
  CHECK(parts->marker_extras == std::vector<std::string>{"c", "d"});
  CHECK(read_requirement("x y").error() == "a version specifier, ; or the end is expected at column 3");
  CHECK_FALSE(read_requirement("x; " + std::string(5000, '(')));
}

TEST_CASE("a pin is one release on every machine, and no extra's") {
  const auto pin = [](const std::vector<std::string>& lines) { return pinned_release(lines, "torch"); };
  CHECK(pin({"numpy==1.26", "torch==2.7.0"}) == "2.7.0");
  CHECK(pin({"Torch (== 2.7.0+cu128)"}) == "2.7.0");
  CHECK(pin({"torch!=2.7.1,==2.7.*"}) == "2.7");
  CHECK(pin({"torch==2.9.0.dev20250801"}) == "2.9.0.dev20250801");
  CHECK(pin({"torch==2.7.0; extra == 'dev'", "torch==2.6.0 ; os_name == 'posix'"}) == "2.6.0");
  CHECK(pin({"torch==2.7.0; os_name == 'nt'", "torch==2.7.0; os_name == 'posix'"}) == "2.7.0");
  for (const auto& none :
       std::vector<std::vector<std::string>>{{},
                                             {"torch"},
                                             {"torch>=2.7,<2.8"},
                                             {"torch===2.7.0"},
                                             {"torch==2.*"},
                                             {"torch==2.7.0; extra == 'dev'"},
                                             {"torch==2.7.0; os_name == 'nt'", "torch==2.6.0; os_name == 'posix'"},
                                             {"torch==2.7.0; os_name == 'nt'", "torch>=2.6; os_name == 'posix'"}})
    CHECK(pin(none) == "");
}

TEST_CASE("version ranges are judged by PEP 440") {
  for (const char* const good : {"", ">=3.9", ">=3.9,!=3.10.*,<4", "~=3.9", "== 3.9", ">=3.9,", ">3.9.dev1"}) {
    CAPTURE(good);
    CHECK(specifier_fault(good) == "");
  }
  for (const char* const bad : {"3.9", "3.9+", ">=3.9.*", "~=3", "=>3.9", ">=three", "==1.0rc1.*", ">= 3.9 <4"}) {
    CAPTURE(bad);
    CHECK(specifier_fault(bad) != "");
  }
}

TEST_CASE("entry points are read as configparser reads them") {
  const auto right = read_entry_points(
      "# comment\n[console_scripts]\nrun = pkg.cli:main\n; comment\nlong =\n  pkg.cli:other\n\n[plugins]\na.b = pkg\n");
  CHECK(right.faults.empty());
  REQUIRE(right.entries.size() == 3);
  CHECK(right.entries[1].value == "\npkg.cli:other");
  CHECK(right.entries[2].group == "plugins");
  for (const char* const bad :
       {"x = y\n", "[a]\nx y\n", "[a]\n= y\n", "[a]\nx=1\nx=2\n", "[a]\n[a]\n", "[a]\nx=\xff\n"}) {
    CAPTURE(bad);
    CHECK_FALSE(read_entry_points(bad).faults.empty());
  }
  for (const char* const good : {"pkg", "pkg.mod:main", "pkg.mod : obj.attr", "pkg:main [extra]"})
    CHECK(is_object_reference(good));
  for (const char* const bad : {"", "pkg:", "pkg main", "1pkg:x", "pkg-x:main", "pkg:main]"})
    CHECK_FALSE(is_object_reference(bad));
  CHECK(is_entry_point_name("a.b-c_1"));
  CHECK_FALSE(is_entry_point_name("../x"));
}

TEST_CASE("variant.json is read in both formats") {
  const auto now = read_variant(
      R"({"$schema": "https://x/v0.1.1.json", "default-priorities": {"namespace": ["nvidia"]},
          "variants": {"cu130": {"nvidia": {"sm_arch": ["90_real"]}}}})");
  CHECK(now.faults.empty());
  CHECK(now.format == "0.1.1");
  CHECK(now.variants.at("cu130").at("nvidia").at("sm_arch") == std::vector<std::string>{"90_real"});
  const auto before = read_variant(
      R"({"$schema": "https://x/v0.0.3.json", "default-priorities": {"namespace": ["a"], "feature": {}},
          "providers": {}, "variants": {"00000000": {}}})");
  CHECK(before.faults.empty());
  for (
      const char* const bad :
      {"", "[", "[]", "{}", R"({"$schema": "x/v0.1.1.json", "variants": {}})",
       R"({"$schema": "x/v0.1.1.json", "default-priorities": {"namespace": []}, "variants": {}})",
       R"({"$schema": "x/v0.1.1.json", "default-priorities": {"namespace": ["a"]}, "variants": {"x": 1}})",
       R"({"$schema": "x/v0.1.1.json", "default-priorities": {"namespace": ["a"]}, "variants": {"x": {"a": {"b": "c"}}}})",
       R"({"$schema": "x/v0.1.1.json", "default-priorities": {"namespace": ["a"]}, "variants": {}, "more": 1})"}) {
    CAPTURE(bad);
    CHECK_FALSE(read_variant(bad).faults.empty());
  }
  CHECK(is_variant_label("cu130_sm121"));
  CHECK_FALSE(is_variant_label("CU130"));
  CHECK_FALSE(is_variant_label("a_label_of_seventeen"));
}

TEST_CASE("names that file systems take for one fold to one text") {
  CHECK(folded_name("A/B.py") == folded_name("a/b.PY"));
  CHECK(folded_name("\xc3\x89") == folded_name("e\xcc\x81"));    // E acute, composed and not
  CHECK(folded_name("\xc5\xa0x") == folded_name("s\xcc\x8cX"));  // S caron
  CHECK(folded_name("\xc3\xa9") != folded_name("e"));
  CHECK(folded_name("\xe4\xb8\xad\xf0\x9f\x98\x80") == "\xe4\xb8\xad\xf0\x9f\x98\x80");
  CHECK(folded_name("\xff") == "\xff");
}

TEST_CASE("licences are those that SPDX lists, in any case, with exceptions behind WITH") {
  for (const char* right : {"Apache-2.0", "apache-2.0", "MIT OR (BSD-3-Clause AND 0BSD)",
                            "GPL-2.0-only WITH Classpath-exception-2.0", "LGPL-2.1+", "LicenseRef-My-Own", "GPL-3.0"}) {
    CAPTURE(right);
    CHECK(licence_fault(right).empty());
  }
  CHECK(licence_fault("Apache-2").find("did you mean \"Apache-2.0\"") != std::string::npos);
  CHECK(licence_fault("Classpath-exception-2.0").find("no licence that SPDX lists") != std::string::npos);
  CHECK(licence_fault("GPL-2.0-only WITH MIT").find("no exception that SPDX lists") != std::string::npos);
  CHECK(licence_fault("BSD").find("no licence") != std::string::npos);
  CHECK(licence_fault("MIT OR").find("ends where a licence is expected") != std::string::npos);
}
