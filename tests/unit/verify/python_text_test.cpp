#include "verify/claims/python_text.hpp"

#include <doctest/doctest.h>

using namespace sagekit;

TEST_CASE("a function that is defined twice at the top level is found with both its lines") {
  const auto found = duplicate_defs(
      "import torch\n\n@torch.library.custom_op('x::run')\ndef run(q, k):\n    return q\n\n"
      "@torch.library.register_fake('x::run')\ndef run(q, k):\n    return q\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].name == "run");
  CHECK(found[0].first_line == 4);
  CHECK(found[0].second_line == 8);
}

TEST_CASE("text that only looks like a definition is none") {
  CHECK(duplicate_defs("def run():\n    pass\n\"\"\"\ndef run():\n\"\"\"\n").empty());
  CHECK(duplicate_defs("def run():\n    '''\ndef run():\n    '''\n").empty());
  CHECK(duplicate_defs("def run():\n    pass\n# def run():\n").empty());
  CHECK(duplicate_defs("x = (\ndef_run,\n'def run():\\n'\n)\ndef run(): pass\n").empty());
  CHECK(duplicate_defs("def run(): pass\nx = r'\\'\ndef_run = 1\n").empty());
  CHECK(duplicate_defs("class A:\n    def run(self): pass\nclass B:\n    def run(self): pass\n").empty());
  CHECK(duplicate_defs("if x:\n    def run(): pass\nelse:\n    def run(): pass\n").empty());
  CHECK(duplicate_defs("default = 1\ndefault = 2\n").empty());
  CHECK(duplicate_defs("x = 'an unended string\ndef run(): pass\n").empty());
  CHECK(duplicate_defs("").empty());
}

TEST_CASE("overloads and throw-away names are meant to be repeated") {
  CHECK(duplicate_defs("@overload\ndef f(a): ...\n@typing.overload\ndef f(b): ...\ndef f(c): pass\n").empty());
  CHECK(duplicate_defs("@g.register\ndef _(a): pass\n@g.register\ndef _(b): pass\n").empty());
}

TEST_CASE("coroutines, Windows line ends, brackets over lines and a byte order mark do not hide a definition") {
  CHECK(duplicate_defs("async def f(): pass\r\ndef f(): pass\r\n").size() == 1);
  CHECK(duplicate_defs("\xEF\xBB\xBF"
                       "def f(\n  a,\n  b):\n  pass\n@x(\n 1,\n)\n\n# why\ndef f(): pass\n")
            .size() == 1);
  CHECK(duplicate_defs("def f(): pass\nx = 1 \\\n  + 2\ndef\tf(): pass\n").size() == 1);
}
