#include "support/kept_toml.hpp"

#include "support/file.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

using namespace sagekit;
namespace fs = std::filesystem;

namespace {

constexpr std::string_view k_text =
    "b = [1, 2.5, \"x\"]\n[t]\nyes = true\nday = 2026-01-17\n[[row]]\na = 1\n[[row]]\na = \"two\"\n";

class Keeping {
 public:
  TomlDocument read(std::string_view text) const { return parse_toml(text, "a file.toml", "CFG", folder()); }
  fs::path folder() const { return m_folder.path() / "specs"; }
  fs::path file(std::string_view text) const { return kept_toml_path(folder(), text); }

 private:
  TemporaryFolder m_folder = TemporaryFolder::create(fs::temp_directory_path(), "kept").value();
};

std::string first_row(const TomlDocument& document) {
  auto rows = document.root().tables("row");
  return rows.empty() ? "" : std::to_string(rows[0].integer("a").value_or(-1));
}

}  // namespace

TEST_CASE("what is kept of a TOML text has its values, and asks the text for places") {
  const Keeping keeping;
  keeping.read(k_text);
  REQUIRE(fs::exists(keeping.file(k_text)));
  const auto fresh = TomlDocument::parse(k_text, "a file.toml", "CFG"), kept = keeping.read(k_text);
  for (const auto* document : {&fresh, &kept}) {
    REQUIRE(document->parsed());
    TomlTable root = document->root();
    CHECK(root.keys() == std::vector<std::string>{"b", "row", "t"});
    CHECK_FALSE(root.numbers("b"));
    auto table = root.table("t");
    REQUIRE(table);
    CHECK(table->boolean("yes") == true);
    CHECK_FALSE(table->string("day"));
    CHECK(root.tables("row").at(1).string("a") == "two");
    CHECK_FALSE(root.tables("row").at(1).integer("a"));
    root.finish();
  }
  REQUIRE(fresh.diagnostics().size() == kept.diagnostics().size());
  for (std::size_t i = 0; i < fresh.diagnostics().size(); ++i) {
    const auto one = fresh.diagnostics()[i], other = kept.diagnostics()[i];
    CHECK(one.message == other.message);
    CHECK(one.where == other.where);
    CHECK(other.where.line > 0);
  }
  for (const char* path : {"b[2]", "t.yes", "row[1].a", "nowhere"}) CHECK(fresh.where(path) == kept.where(path));
}

TEST_CASE("values that are kept are used for their text alone") {
  const Keeping keeping;
  keep_toml(keeping.file("[[row]]\na = 1\n"), *read_kept_toml([&] {
              keeping.read("[[row]]\na = 7\n");
              return keeping.file("[[row]]\na = 7\n");
            }()));
  CHECK(first_row(keeping.read("[[row]]\na = 1\n")) == "7");   // the kept file was read, not the text
  CHECK(first_row(keeping.read("[[row]]\na = 1 \n")) == "1");  // another text
}

TEST_CASE("a kept file that is not as it was written is ignored and made again") {
  const Keeping keeping;
  keeping.read(k_text);
  const auto file = keeping.file(k_text);
  const auto whole = read_file(file).value();
  auto flipped = whole;
  flipped[flipped.size() / 2] ^= 1;
  for (const auto& damaged :
       {std::string(), whole.substr(0, 64), whole.substr(0, whole.size() - 1), flipped, whole + "x"}) {
    REQUIRE(write_file_atomic(file, damaged));
    CHECK_FALSE(read_kept_toml(file));
    CHECK(first_row(keeping.read(k_text)) == "1");
    CHECK(read_file(file).value() == whole);
  }
}

TEST_CASE("where nothing can be kept the text is read") {
  const Keeping keeping;
  CHECK(first_row(parse_toml(k_text, "a file.toml", "CFG", {})) == "1");
  REQUIRE(write_file_atomic(keeping.folder(), "no folder"));
  CHECK(first_row(keeping.read(k_text)) == "1");
}

TEST_CASE("what is no TOML and what JSON cannot say are not kept") {
  const Keeping keeping;
  CHECK_FALSE(keeping.read("a = ").parsed());
  CHECK_FALSE(fs::exists(keeping.folder()));
  CHECK(keeping.read("a = inf\n").root().number("a") > 1e300);
  CHECK_FALSE(fs::exists(keeping.file("a = inf\n")));
}

TEST_CASE("no folder is begun to keep what was read") {
  const Keeping keeping;
  const auto folder = keeping.folder() / "no" / "store";
  CHECK(parse_toml(k_text, "a file.toml", "CFG", folder).parsed());
  CHECK_FALSE(fs::exists(keeping.folder()));
}
