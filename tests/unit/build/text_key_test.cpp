#include "build/text_key.hpp"

#include "support/text.hpp"

#include <doctest/doctest.h>

using namespace sagekit;

TEST_CASE("a host text's key has text, words and compiler, and no folder") {
  SymbolTable symbols;
  symbols.set("cxx-a", "/usr/bin/g++", "gcc 12");
  symbols.set("cxx-b", "/usr/bin/clang++", "clang 14");
  const auto key = [&](const std::string& cxx, const std::string& line, const std::string& text,
                       const std::string& folder = "/w/run1") {
    return host_text_key(symbols, cxx, split_words(line), text, {{folder, "{work}"}});
  };
  const auto plain = key("{cxx-a}", "/usr/bin/g++ -O3", "int a;");
  CHECK(key("{cxx-a}", "/opt/g++ -O3", "int a;") == plain);
  CHECK(key("{cxx-b}", "/usr/bin/g++ -O3", "int a;") != plain);
  CHECK(key("{cxx-a}", "/usr/bin/g++ -O2", "int a;") != plain);
  CHECK(key("{cxx-a}", "/usr/bin/g++ -O3", "int b;") != plain);
  const auto placed = key("{cxx-a}", "g++ -ffile-prefix-map=/w/run1/s=s", "# 1 \"/w/run1/a\"\n");
  CHECK(key("{cxx-a}", "g++ -ffile-prefix-map=/w/run2/s=s", "# 1 \"/w/run2/a\"\n", "/w/run2") == placed);
  CHECK(key("{cxx-a}", "g++ -ffile-prefix-map=/w/run2/s=s", "# 1 \"/w/run2/b\"\n", "/w/run2") != placed);
  Places places;
  add_mapped_places(split_words("g++ -ffile-prefix-map=/run1/x=cuda -O3 -ffile-prefix-map=/y="), places);
  CHECK(places == Places{{"/run1/x", "{cuda}"}, {"/y", "{}"}});
}
