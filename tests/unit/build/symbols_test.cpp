#include "build/symbols.hpp"

#include "build/cuda_stub.hpp"
#include "build/depfile.hpp"
#include "build/step_environment.hpp"
#include "fake_build.hpp"

using namespace sagekit;
using namespace sagekit::test;

TEST_CASE("symbols are replaced alone and inside items; other braces stay, unknown symbols are a bug") {
  SymbolTable table;
  table.set("source", ".");
  table.set("torch-2.11.0-cu130-linux_x86_64", "/t", "identity");
  table.set_words("python-includes-3.12-linux_x86_64", {"-isystem", "/p", "-isystem", "/q"}, "python");
  const auto words = table.expand({"-I{source}/csrc", "-isystem", "{torch-2.11.0-cu130-linux_x86_64}/include",
                                   "{python-includes-3.12-linux_x86_64}", "-Dx={a,b}", "{work"});
  REQUIRE(words);
  CHECK(*words == std::vector<std::string>{"-I./csrc", "-isystem", "/t/include", "-isystem", "/p", "-isystem", "/q",
                                           "-Dx={a,b}", "{work"});
  CHECK(table.expand({"{shim-x}"}).error().code == "BLD002");
  CHECK(table.expand({"-I{python-includes-3.12-linux_x86_64}"}).error().code == "BLD002");
  const auto identities = table.identities({"{source}{torch-2.11.0-cu130-linux_x86_64}", "{source}", "{other}"});
  REQUIRE(identities.size() == 2);
  CHECK(identities[1].second == "identity");
}

TEST_CASE("a covered folder covers what is below it and nothing beside it; shared system folders are never covered") {
  SymbolTable table;
  table.cover("/opt/cuda");
  table.cover("/usr/include");
  CHECK(table.covers("/opt/cuda/include/a.h"));
  CHECK_FALSE(table.covers("/opt/cuda2/a.h"));
  CHECK_FALSE(table.covers("/usr/include/stdio.h"));
}

TEST_CASE("dependency files: continued lines, blanks in names, several rules") {
  CHECK(parse_depfile("x.o : a.cu \\\n    /usr/in\\ clude/b.h \\\r\n c.h\nc.h:\n") ==
        std::vector<std::string>{"a.cu", "/usr/in clude/b.h", "c.h"});
  CHECK(parse_depfile("/w/x.o: a$$b.h C:\\y a$$b.h\n") == std::vector<std::string>{"a$b.h", "C:\\y"});
  CHECK(parse_depfile("x.o \\\n y.o: a.h\n") == std::vector<std::string>{"a.h"});
  CHECK(parse_depfile("").empty());
  CHECK(parse_depfile("no rule").empty());
}

TEST_CASE("the driver stub names every function of cuda.h once, sorted") {
  const auto text = cuda_stub_text(
      "#define cuMemAlloc cuMemAlloc_v2\nCUresult CUDAAPI cuMemAlloc(CUdeviceptr *d);\nCUresult cuInit(int);\n"
      "typedef struct cudaArray cuda; int customer; // mycuInit");
  CHECK(text ==
        "extern \"C\" void cuInit() {}\nextern \"C\" void cuMemAlloc() {}\nextern \"C\" void cuMemAlloc_v2() {}\n");
}

TEST_CASE("a revision's date becomes seconds since 1970, or is refused") {
  CHECK(*source_date_epoch("1970-01-01T00:00:00Z") == "0");
  CHECK(*source_date_epoch("2026-01-17T17:43:28Z") == "1768671808");
  for (const auto* bad : {"", "2026-01-17", "2026-13-17T17:43:28Z", "2026-01-17T17:43:28+", "2026-01-17 17:43:28Z"})
    CHECK(source_date_epoch(bad).error().code == "BLD007");
}
