#include "index/remote_exports.hpp"

#include "small_wheels.hpp"
#include "support/file.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace sagekit;
namespace fs = std::filesystem;

namespace {

const std::string k_member = "tiny/lib/libmoved.so";

const ExportedSymbol* find(const ExportList& exports, std::string_view name) {
  for (const ExportedSymbol& symbol : exports.symbols)
    if (symbol.name == name) return &symbol;
  return nullptr;
}

std::vector<std::string> names(const ExportList& exports) {
  std::vector<std::string> all;
  for (const ExportedSymbol& symbol : exports.symbols) all.push_back(symbol.name);
  return all;
}

struct Reading {
  Result<ExportList> exports;
  std::uint64_t bytes = 0, size = 0;
};

/// Reads a library out of a wheel; `bytes` is what that took beyond opening it.
Reading read_from(const std::string& wheel_bytes, const std::string& member = k_member) {
  auto wheel = RemoteWheel::open(std::make_unique<test::StringFile>(wheel_bytes));
  REQUIRE(wheel);
  const std::uint64_t before = wheel->bytes_read();
  auto exports = read_exports(*wheel, *wheel->find(member));
  return {std::move(exports), wheel->bytes_read() - before, wheel->find(member)->compressed_size};
}

}  // namespace

TEST_CASE("exports of a library: defined, global, visible, with type, binding and size") {
  test::MovedLibrary builder{.middle = "code", .symbols = test::many_symbols()};
  builder.symbols.push_back({"hidden_one", 2, 1, 2});
  builder.symbols.push_back({"local_one", 2, 0, 0});
  const auto exports = read_exports(builder.build());
  REQUIRE(exports);
  CHECK(exports->soname == "libmoved.so");
  CHECK(exports->machine == 62);
  CHECK(exports->symbols.size() == 306);
  CHECK(std::is_sorted(exports->symbols.begin(), exports->symbols.end()));
  CHECK(find(*exports, "wanted_elsewhere") == nullptr);
  CHECK(find(*exports, "hidden_one") == nullptr);
  CHECK(find(*exports, "local_one") == nullptr);
  CHECK(*find(*exports, "an_object") == ExportedSymbol{"an_object", "", 1, 1, 0, false, 40});
  CHECK(*find(*exports, "a_unique_one") == ExportedSymbol{"a_unique_one", "", 1, 10, 0, false, 1});
  CHECK(*find(*exports, "per_thread") == ExportedSymbol{"per_thread", "", 6, 1, 0, false, 4});
  CHECK(*find(*exports, "guarded") == ExportedSymbol{"guarded", "", 2, 1, 3, false, 0});
}

TEST_CASE("the text of an export list has a line a symbol and cannot be forged by a name") {
  const ExportList exports{
      "libx.so",
      183,
      {{"f", "", 2, 1, 0, false, 0}, {"g", "V_1", 1, 2, 0, true, 8}, {"h @V\nsoname y", "V_2", 2, 1, 0, false, 0}}};
  CHECK(export_text(exports) ==
        "soname libx.so\nmachine 183\nf 2 1 0 0\ng@V_1 1 2 0 8\nh\\x20\\x40V\\x0asoname\\x20y@@V_2 2 1 0 0\n");
}

TEST_CASE("a library whose names were moved to its end is read from both ends") {
  for (const bool front : {false, true}) {
    test::MovedLibrary builder{.symbols = test::many_symbols(), .hash_in_front = front};
    const std::string library = builder.build();
    const auto whole = read_exports(library);
    REQUIRE(whole);
    const auto reading = read_from(test::wheel_with(library));
    REQUIRE(reading.exports);
    CHECK(*reading.exports == *whole);
    CHECK(reading.size > 2'000'000);
    CHECK(reading.bytes < 1'800'000);
  }
}

TEST_CASE("the end grows where the first piece of it does not reach") {
  test::MovedLibrary builder;
  builder.middle = test::like_code(4'500'000);
  std::mt19937 random(3);
  for (int i = 0; i < 60'000; ++i) {
    std::string name = "f" + std::to_string(i);
    for (int k = 0; k < 40; ++k) name += static_cast<char>('a' + random() % 26);
    builder.symbols.push_back({name});
  }
  const std::string library = builder.build();
  const auto reading = read_from(test::wheel_with(library));
  REQUIRE(reading.exports);
  CHECK(reading.exports->symbols.size() == 60'000);
  CHECK(*reading.exports == *read_exports(library));
  CHECK(reading.bytes > 1'800'000);
  CHECK(reading.bytes < reading.size / 4 * 3);
}

TEST_CASE("stored libraries are read where their tables are") {
  const std::string library = test::MovedLibrary{.symbols = test::many_symbols()}.build();
  const auto reading = read_from(test::wheel_with(library, k_member, true));
  REQUIRE(reading.exports);
  CHECK(*reading.exports == *read_exports(library));
  CHECK(reading.bytes < 100'000);
}

TEST_CASE("what the two ends cannot tell for sure is read whole, and then checked against RECORD") {
  const std::string small = test::MovedLibrary{.middle = "code", .symbols = test::many_symbols()}.build();
  CHECK(read_from(test::wheel_with(small)).bytes >= test::deflate(small).size());

  // A name that does not hash to what .gnu.hash says: the tables are not trusted, and the whole library says the same.
  test::MovedLibrary builder{.symbols = test::many_symbols(), .wrong_name = true};
  auto reading = read_from(test::wheel_with(builder.build()));
  CHECK(reading.bytes > reading.size);
  CHECK(*reading.exports == *read_exports(builder.build()));

  // The file's name is not the soname, and the dynamic segment is out of reach.
  builder.wrong_name = false;
  builder.soname = "libother.so.3";
  reading = read_from(test::wheel_with(builder.build()));
  CHECK(reading.bytes > reading.size);
  REQUIRE(reading.exports);
  CHECK(reading.exports->soname == "libother.so.3");

  // No block begins in the end: all of it is one repeated byte behind stored blocks.
  builder.soname = "libmoved.so";
  auto zip = test::WheelBuilder();
  zip.files.emplace_back(k_member, builder.build());
  reading = read_from(test::build_zip(zip.zip()));  // DEFLATE's stored blocks only
  CHECK(reading.bytes > reading.size);
  CHECK(*reading.exports == *read_exports(builder.build()));
}

TEST_CASE("altered bytes of a library never give wrong names") {
  const std::string library = test::MovedLibrary{.symbols = test::many_symbols()}.build();
  const auto right = read_exports(library);
  const std::string good = test::wheel_with(library);
  std::mt19937 random(5);
  int errors = 0;
  for (int i = 0; i < 12; ++i) {
    std::string bad = good;
    // In the first kilobytes of the member, or in the last hundred kilobytes before the files behind it.
    const std::size_t end = bad.rfind("PK\x01\x02");
    const std::size_t start = bad.find("libmoved.so") + 11;
    const std::size_t at = i % 2 == 0 ? start + random() % 4'000 : end - 2'000 - random() % 20'000;
    bad[at] = static_cast<char>(bad[at] ^ (1 << random() % 8));
    auto wheel = RemoteWheel::open(std::make_unique<test::StringFile>(bad));
    if (!wheel) continue;
    const auto exports = read_exports(*wheel, *wheel->find(k_member));
    if (exports)
      CHECK(names(*exports) == names(*right));
    else
      ++errors;
  }
  CHECK(errors > 0);
}

TEST_CASE("a failing read is that error, not a reason to read everything") {
  auto file =
      std::make_unique<test::StringFile>(test::wheel_with(test::MovedLibrary{.symbols = test::many_symbols()}.build()));
  auto* const raw = file.get();
  auto wheel = RemoteWheel::open(std::move(file));
  REQUIRE(wheel);
  raw->before_read = [](std::uint64_t, std::uint64_t length, std::string&) -> Status {
    if (length > 1'000'000) return fail(ErrorKind::failed, "TST010", "connection lost");
    return {};
  };
  const auto exports = read_exports(*wheel, *wheel->find(k_member));
  REQUIRE_FALSE(exports);
  CHECK(exports.error().code == "TST010");
}

TEST_CASE("damaged libraries are errors, at every byte") {
  const std::string good = test::MovedLibrary{.middle = "code", .symbols = {{"one"}, {"two", 1, 1, 0, 8}}}.build();
  REQUIRE(read_exports(good));
  CHECK(read_exports("").error().code == "IDX030");
  CHECK(read_exports("no ELF").error().code == "IDX030");
  for (std::size_t length = 0; length < 600 && length < good.size(); length += 7)
    CHECK_FALSE(read_exports(good.substr(0, length)));
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0xff);
    (void)read_exports(bad);  // under the sanitizers: any answer, no wild read
  }
  test::ModuleBuilder other;
  other.machine = 190;
  CHECK(read_exports(other.build()).error().code == "IDX030");
}

TEST_CASE("a library that a linker just wrote, with versions, is read the same whole and from both ends") {
  if (std::system("g++ --version > /dev/null 2>&1") != 0) {
    MESSAGE("skipped: no g++ here");
    return;
  }
  const auto folder = TemporaryFolder::create(fs::temp_directory_path(), "exports test ü");
  REQUIRE(folder);
  const fs::path at = folder->path();
  std::ofstream(at / "blob") << test::some_megabytes();
  std::ofstream(at / "map") << "V_1 { global: one; old; }; V_2 { global: two; table; } V_1;\n";
  std::ofstream(at / "a.cpp") << "extern \"C\" { int one() { return 1; } int two() { return 2; } int table[5] = {1};\n"
                                 "int old_impl() { return 3; } }\n"
                                 "__asm__(\".symver old_impl,old@V_1\");\n"
                                 "__asm__(\".section .rodata\\n.incbin \\\"blob\\\"\\n.text\");\n";
  const std::string build = "cd '" + at.string() +
                            "' && g++ -shared -fPIC a.cpp -o libmoved.so -Wl,-soname,libmoved.so "
                            "-Wl,--version-script=map -Wl,--hash-style=gnu";
  REQUIRE(std::system(build.c_str()) == 0);
  const auto library = read_file(at / "libmoved.so");
  REQUIRE(library);
  const auto whole = read_exports(*library);
  REQUIRE(whole);
  CHECK(find(*whole, "one")->version == "V_1");
  CHECK(find(*whole, "table")->size == 20);
  CHECK(find(*whole, "old")->hidden);
  const auto reading = read_from(test::wheel_with(*library));
  REQUIRE(reading.exports);
  CHECK(*reading.exports == *whole);
  CHECK(reading.bytes < 1'800'000);
}
