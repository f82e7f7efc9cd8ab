#include "elf/loader_message.hpp"

#include <doctest/doctest.h>

using namespace sagekit;

TEST_CASE("the loader's messages are taken apart, glibc's and musl's") {
  using Kind = LoaderMessage::Kind;
  const auto read = [](const char* text) { return read_loader_message(text); };
  CHECK(read("libcuda.so.1: cannot open shared object file: No such file or directory").name == "libcuda.so.1");
  const auto symbol = read("/t/a b/_a.so: undefined symbol: cuInit, version X_1");
  CHECK(symbol.kind == Kind::symbol);
  CHECK(symbol.name == "cuInit");
  CHECK(symbol.object == "/t/a b/_a.so");
  const auto version = read("/lib/libc.so.6: version `GLIBC_2.38' not found (required by /t/_a.so)");
  CHECK(version.kind == Kind::version);
  CHECK(version.name == "GLIBC_2.38");
  CHECK(version.object == "/lib/libc.so.6");
  CHECK(read("Error loading shared library libx.so: No such file or directory (needed by /t/a.so)").name == "libx.so");
  CHECK(read("Error relocating /t/a.so: f: symbol not found").name == "f");
  CHECK(read("cannot import name 'x'").kind == Kind::other);
  CHECK(read("").kind == Kind::other);
}
