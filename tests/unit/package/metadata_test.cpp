#include "package/metadata_text.hpp"

#include <doctest/doctest.h>

using namespace sagekit;

TEST_CASE("METADATA has one line a header, whatever the spec's text has") {
  MetadataSpec spec;
  spec.name = "demo";
  spec.summary = "Two\nlines: x";
  spec.license = "Apache-2.0";
  spec.readme = "README.md";
  spec.requires_python = ">=3.9";
  spec.classifiers = {"Programming Language :: Python :: 3"};
  spec.urls = {"Homepage, https://example.org"};
  Cell cell;
  cell.version = "1.0+cu130";
  cell.requires_dist = {"torch==2.11.*", "triton>=3.0; sys_platform == \"linux\""};
  CHECK(metadata_headers(spec, cell, {"LICENSE"}, true) ==
        "Metadata-Version: 2.4\nName: demo\nVersion: 1.0+cu130\nSummary: Two lines: x\nLicense-Expression: Apache-2.0\n"
        "License-File: LICENSE\nClassifier: Programming Language :: Python :: 3\nProject-URL: Homepage, "
        "https://example.org\n"
        "Requires-Python: >=3.9\nRequires-Dist: torch==2.11.*\nRequires-Dist: triton>=3.0; sys_platform == \"linux\"\n"
        "Description-Content-Type: text/markdown\n");
}

TEST_CASE("WHEEL expands compressed tags and has a build only when there is one") {
  const auto name = parse_wheel_name("demo-1.0-7-cp312.cp313-abi3-linux_x86_64.whl");
  REQUIRE(name);
  const auto text = wheel_text(*name);
  CHECK(text.find("Generator: sagekit ") != std::string::npos);
  CHECK(text.find("Tag: cp312-abi3-linux_x86_64\nTag: cp313-abi3-linux_x86_64\nBuild: 7\n") != std::string::npos);
  CHECK(wheel_text(*parse_wheel_name("demo-1.0-py3-none-any.whl")).find("Build") == std::string::npos);
}

TEST_CASE("RECORD quotes what CSV needs quoted, and lists itself without a hash") {
  CHECK(record_text({{"a.py", "sha256=x", 3}, {"b,\"c\".py", "sha256=y", 4}}, "d/RECORD") ==
        "a.py,sha256=x,3\n\"b,\"\"c\"\".py\",sha256=y,4\nd/RECORD,,\n");
}
