#include "support/toml.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace sagekit;

namespace {

TomlDocument document_of(std::string_view text) { return TomlDocument::parse(text, "a file.toml", "CFG"); }

/// Only one diagnostic, at this place.
void check_one(const TomlDocument& document, std::string_view code, int line, int column) {
  const Diagnostics found = document.diagnostics();
  REQUIRE(found.size() == 1);
  CHECK(found[0].code == code);
  CHECK(found[0].where.line == line);
  CHECK(found[0].where.column == column);
  CHECK(found[0].where.file == "a file.toml");
}

}  // namespace

TEST_CASE("values are read by name and type") {
  const TomlDocument document = document_of(
      "s = \"x\"\ni = 7\nn = 1.5\nb = true\nl = [\"a\",\n  \"b\"]\np = [1, 2.5]\n[t]\nk = '''\nfirst\n'''\n[[r]]\nx = "
      "1\n[[r]]\n");
  REQUIRE(document.parsed());
  TomlTable root = document.root();
  CHECK(root.string("s") == "x");
  CHECK(root.integer("i") == 7);
  CHECK(root.number("n") == 1.5);
  CHECK(root.boolean("b") == true);
  CHECK(root.strings("l") == std::vector<std::string>{"a", "b"});
  CHECK(root.numbers("p") == std::vector<double>{1, 2.5});
  auto table = root.table("t");
  REQUIRE(table);
  CHECK(table->path("k") == "t.k");
  CHECK(table->required_string("k") == "first\n");
  auto rows = root.tables("r");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].integer("x") == 1);
  CHECK(rows[1].path() == "r[1]");
  CHECK_FALSE(root.string("absent"));
  root.finish();
  CHECK(document.diagnostics().empty());
}

TEST_CASE("an unknown key is reported at the key with the nearest one that was asked for") {
  const TomlDocument document = document_of("kernel = 1\n[[build.kernals]]\n");
  TomlTable root = document.root();
  root.integer("kernel");
  auto build = root.table("build");
  REQUIRE(build);
  build->tables("kernel");
  build->finish();
  root.finish();
  check_one(document, "CFG004", 2, 1);
  CHECK(document.diagnostics()[0].message == "unknown key \"kernals\" in [build]");
  CHECK(document.diagnostics()[0].hint == "did you mean \"kernel\"?");
  CHECK(document.diagnostics()[0].where.text == "[[build.kernals]]");
}

TEST_CASE("an unknown key in an inline table is pointed at") {
  const TomlDocument document = document_of("when = { torhc = \">=2\" }\n");
  TomlTable when = *document.root().table("when");
  when.string("torch");
  when.finish();
  check_one(document, "CFG004", 1, 10);
}

TEST_CASE("a wrong type is reported at the value") {
  SUBCASE("string") {
    const auto document = document_of("a = 1\nkey = 9.0\n");
    CHECK_FALSE(document.root().string("key"));
    check_one(document, "CFG005", 2, 7);
    CHECK(document.diagnostics()[0].message == "\"key\" must be a string, not a number");
  }
  SUBCASE("item of a list") {
    const auto document = document_of("key = [\"a\",\n 9.0]\n");
    CHECK(document.root().strings("key").empty());
    check_one(document, "CFG005", 2, 2);
  }
  SUBCASE("a table where rows are wanted") {
    const auto document = document_of("[key]\n");
    CHECK(document.root().tables("key").empty());
    check_one(document, "CFG005", 1, 1);
    CHECK(document.diagnostics()[0].hint == "write each as [[key]]");
  }
  SUBCASE("an integer is a number, a number is no integer") {
    const auto document = document_of("i = 1\nn = 1.0\n");
    CHECK(document.root().number("i") == 1.0);
    CHECK_FALSE(document.root().integer("n"));
    check_one(document, "CFG005", 2, 5);
  }
  SUBCASE("boolean, date") {
    const auto document = document_of("d = 2026-01-17T17:43:28Z\n");
    CHECK_FALSE(document.root().boolean("d"));
    check_one(document, "CFG005", 1, 5);
    CHECK(document.diagnostics()[0].message == "\"d\" must be true or false, not a date or time");
  }
}

TEST_CASE("a missing key is reported at its table") {
  const auto document = document_of("x = 1\n[plugin]\n");
  CHECK(document.root().table("plugin")->required_string("name").empty());
  check_one(document, "CFG003", 2, 1);
}

TEST_CASE("what is not TOML is reported with line and column") {
  const auto at = [](std::string_view text, int line) {
    const auto document = document_of(text);
    CHECK_FALSE(document.parsed());
    REQUIRE(document.diagnostics().size() == 1);
    CHECK(document.diagnostics()[0].code == "CFG001");
    CHECK(document.diagnostics()[0].where.line == line);
    CHECK(document.diagnostics()[0].where.column >= 1);
    CHECK(document.root().strings("anything").empty());
  };
  at("a = \n", 1);
  at("a = 1\nb = [1,\n2, ==]\n", 3);
  at("a = 1\na = 2\n", 2);
  at("[x]\nk = \"abc\nz = 1\n", 2);
  at("[x]\nfoo bar\n", 2);
}

TEST_CASE("nesting that would exhaust the stack is refused, strings that look like it are not") {
  CHECK_FALSE(document_of("a = " + std::string(100000, '[')).parsed());
  std::string dotted = "a";
  for (int i = 0; i < 10000; ++i) dotted += ".a";
  CHECK_FALSE(document_of(dotted + " = 1\n").parsed());
  CHECK(document_of("a = \"" + std::string(1000, '[') + "\"\n").parsed());
  CHECK(document_of("a = '''\n'" + std::string(1000, '{') + "''''\n").parsed());
  CHECK(document_of("# " + std::string(1000, '[') + "\n").parsed());
  CHECK_FALSE(document_of("a = [\"]\", [\"\\\"]\", " + std::string(40, '[')).parsed());
}

TEST_CASE("text that is not UTF-8 is refused where the first bad byte is") {
  for (const char* bad : {"\xff", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80"}) {
    CAPTURE(bad);
    const auto document = document_of(std::string("x = 1\ny = \'\'\'\na") + bad + "\n\'\'\'\n");
    CHECK_FALSE(document.parsed());
    check_one(document, "CFG001", 3, 2);
  }
  CHECK(document_of("x = \"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"\n").parsed());
}

TEST_CASE("empty text, a byte order mark and Windows line ends are TOML") {
  CHECK(document_of("").parsed());
  CHECK(document_of("\xEF\xBB\xBF"
                    "a = 1\n")
            .parsed());
  const auto document = document_of("a = 1\r\nb = 2\r\n");
  REQUIRE(document.parsed());
  document.root().string("b");
  check_one(document, "CFG005", 2, 5);
  CHECK(document.diagnostics()[0].where.text == "b = 2");
}

TEST_CASE("a path that is not there stands at the nearest value around it") {
  const auto document = document_of("[a]\nb = [\"x\",\n\"y\"]\n");
  CHECK(document.where("a.b[1]").line == 3);
  CHECK(document.where("a.b[7]").line == 2);
  CHECK(document.where("a.c").line == 1);
  CHECK(document.filled("a.b"));
  CHECK_FALSE(document.filled("a.c"));
}

TEST_CASE("diagnostics come in the order of the text") {
  const auto document = document_of("a = 1\nb = 2\nc = 3\n");
  TomlTable root = document.root();
  root.error("c", "CFG009", "third");
  root.error("a", "CFG009", "first");
  root.error("b", "CFG009", "second");
  const auto found = document.diagnostics();
  REQUIRE(found.size() == 3);
  CHECK(found[0].message == "first");
  CHECK(found[2].message == "third");
}

TEST_CASE("a text with endless faults asks for little memory") {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "k" + std::to_string(i) + " = 1\n";
  const auto document = document_of(text);
  document.root().finish();
  CHECK(document.diagnostics().size() == 200);
  const auto wide = document_of("x = \"" + std::string(5000, 'a') + "\"\n");
  wide.root().finish();
  check_one(wide, "CFG004", 1, 5);
  CHECK(wide.diagnostics()[0].where.text.empty());
  CHECK_FALSE(document_of(std::string((1u << 20) + 1, '\n')).parsed());
}
