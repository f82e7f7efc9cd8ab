#include "compile/depfile.hpp"

#include <doctest/doctest.h>

using namespace sagekit;

TEST_CASE("dependency files: continued lines, blanks in names, several rules") {
  CHECK(parse_depfile("x.o : a.cu \\\n    /usr/in\\ clude/b.h \\\r\n c.h\nc.h:\n") ==
        std::vector<std::string>{"a.cu", "/usr/in clude/b.h", "c.h"});
  CHECK(parse_depfile("/w/x.o: a$$b.h C:\\y a$$b.h\n") == std::vector<std::string>{"a$b.h", "C:\\y"});
  CHECK(parse_depfile("x.o \\\n y.o: a.h\n") == std::vector<std::string>{"a.h"});
  CHECK(parse_depfile("").empty());
  CHECK(parse_depfile("no rule").empty());
}
