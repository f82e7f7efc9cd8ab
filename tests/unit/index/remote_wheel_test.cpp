#include "index/remote_wheel.hpp"

#include "small_wheels.hpp"
#include "support/sha256.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>

using namespace sagekit;

namespace {

Result<RemoteWheel> open(std::string bytes) {
  return RemoteWheel::open(std::make_unique<test::StringFile>(std::move(bytes)));
}

/// A wheel of many files, some far apart.
test::WheelBuilder large() {
  test::WheelBuilder wheel;
  for (int i = 0; i < 300; ++i)
    wheel.files.emplace_back("tiny/include/h" + std::to_string(i) + ".h",
                             test::like_code(2'000, static_cast<unsigned>(i)));
  wheel.files.emplace_back("tiny/lib/big.bin", test::like_code(300'000));
  for (int i = 0; i < 50; ++i) wheel.files.emplace_back("tiny/share/s" + std::to_string(i), std::to_string(i));
  return wheel;
}

std::string code_of(const Result<RemoteWheel>& wheel) { return wheel ? "opened" : wheel.error().code; }

std::vector<const ZipMember*> chosen(const RemoteWheel& wheel, std::string_view prefix) {
  std::vector<const ZipMember*> members;
  for (const ZipMember& member : wheel.members())
    if (member.name.starts_with(prefix)) members.push_back(&member);
  return members;
}

}  // namespace

TEST_CASE("a wheel opens with its directory and RECORD, without its content") {
  const auto wheel = open(test::build_zip(large().zip()));
  REQUIRE(wheel);
  CHECK(wheel->members().size() == 357);
  CHECK(wheel->dist_info() == "tiny_kernels-1.2.0.dist-info");
  CHECK(wheel->record_sha256() == sha256_hex(large().right_record()));
  CHECK(wheel->directory_sha256().size() == 64);
  CHECK(wheel->recorded_sha256("tiny/share/s7") == sha256_hex("7"));
  CHECK_FALSE(wheel->recorded_sha256("tiny_kernels-1.2.0.dist-info/RECORD"));
  CHECK_FALSE(wheel->recorded_sha256("none"));
  CHECK(wheel->find("tiny/lib/big.bin") != nullptr);
  CHECK(wheel->find("tiny/lib/big") == nullptr);
  CHECK(wheel->bytes_read() < 150'000);
}

TEST_CASE("a single member, RECORD itself, and one that is not there") {
  auto wheel = open(test::build_zip(large().zip()));
  REQUIRE(wheel);
  CHECK(wheel->read("tiny/share/s49") == "49");
  CHECK(wheel->read("tiny/lib/big.bin") == test::like_code(300'000));
  CHECK(wheel->read("tiny_kernels-1.2.0.dist-info/RECORD") == large().right_record());
  const auto none = wheel->read("tiny/share/s50");
  REQUIRE_FALSE(none);
  CHECK(none.error().code == "IDX022");
  CHECK(none.error().kind == ErrorKind::no_match);
}

TEST_CASE("many members come in few requests, each once, whatever the number of readers") {
  const auto builder = large();
  for (const std::size_t parallel : {0u, 1u, 4u}) {
    auto wheel = open(test::build_zip(builder.zip()));
    REQUIRE(wheel);
    auto wanted = chosen(*wheel, "tiny/include/");
    for (const ZipMember* const member : chosen(*wheel, "tiny/share/")) wanted.push_back(member);
    wanted.push_back(wanted.front());
    const std::uint64_t before = wheel->requests();
    std::map<std::string, std::string> got;
    REQUIRE(wheel->extract(wanted, parallel, [&](const ZipMember& member, std::string content) -> Status {
      CHECK(got.emplace(member.name, std::move(content)).second);
      return {};
    }));
    CHECK(got.size() == 350);
    CHECK(wheel->requests() == before + 2);  // before and behind the large member that nobody wants
    for (const auto& [name, content] : builder.files)
      if (got.contains(name)) CHECK(got[name] == content);
  }
}

TEST_CASE("requests stay below eight megabytes") {
  test::WheelBuilder builder;
  for (const char c : std::string("abcdefghij"))
    builder.files.emplace_back(std::string("d/") + c, std::string(1'500'000, c));
  builder.files.emplace_back("d/huge", std::string(9'000'000, 'x'));
  auto file = std::make_unique<test::StringFile>(test::build_zip(builder.zip()));
  file->before_read = [](std::uint64_t, std::uint64_t length, std::string&) -> Status {
    CHECK(length <= 8 << 20);
    return {};
  };
  auto wheel = RemoteWheel::open(std::move(file));
  REQUIRE(wheel);
  std::size_t count = 0;
  CHECK(wheel->extract(chosen(*wheel, "d/"), 3, [&](const ZipMember&, std::string) -> Status {
    ++count;
    return {};
  }));
  CHECK(count == 11);
}

TEST_CASE("a member that is too large to be read with others is refused before anything is read") {
  for (const std::uint32_t mebibytes : {65u, 257u}) {
    auto zip = test::WheelBuilder().zip();
    auto& entry = zip.add("d/huge", "");
    entry.size = mebibytes << 20;  // as claimed; so much can come out of these bytes, but does not
    entry.data = std::string(6'000'000, '\x01');
    auto wheel = open(test::build_zip(zip));
    REQUIRE(wheel);
    const std::uint64_t before = wheel->requests();
    const auto status =
        wheel->extract(chosen(*wheel, ""), 2, [](const ZipMember&, std::string) -> Status { return {}; });
    REQUIRE_FALSE(status);
    CHECK(status.error().code == (mebibytes > 256 ? "IDX024" : "IDX023"));
    CHECK((wheel->requests() == before) == (mebibytes > 256));
  }
}

TEST_CASE("the sink's error and a failing read end it; stopping is interrupted") {
  auto file = std::make_unique<test::StringFile>(test::build_zip(large().zip()));
  auto* const raw = file.get();
  auto wheel = RemoteWheel::open(std::move(file));
  REQUIRE(wheel);
  const auto all = chosen(*wheel, "tiny/");
  int calls = 0;
  const auto refused = wheel->extract(all, 4, [&](const ZipMember&, std::string) -> Status {
    ++calls;
    return fail(ErrorKind::failed, "TST009", "disk full");
  });
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == "TST009");
  CHECK(calls == 1);

  const auto keep = [](const ZipMember&, std::string) -> Status { return {}; };
  raw->before_read = [](std::uint64_t, std::uint64_t, std::string&) -> Status {
    return fail(ErrorKind::failed, "TST010", "connection lost");
  };
  const auto lost = wheel->extract(all, 4, keep);
  REQUIRE_FALSE(lost);
  CHECK(lost.error().code == "TST010");

  std::stop_source stop;
  stop.request_stop();
  const auto stopped = wheel->extract(all, 4, keep, stop.get_token());
  REQUIRE_FALSE(stopped);
  CHECK(stopped.error().kind == ErrorKind::interrupted);
}

TEST_CASE("content that RECORD does not vouch for is an error, whatever the archive's CRC says") {
  test::WheelBuilder builder;
  auto zip = builder.zip();
  zip.at("data.txt").content = "other text";
  CHECK(open(zip.build())->read("tiny_kernels/data.txt").error().code == "IDX021");
  zip = builder.zip();
  zip.at("data.txt").content = "Some text\n";  // the same length
  auto wheel = open(zip.build());
  const auto altered = wheel->extract({wheel->find("tiny_kernels/data.txt")}, 1,
                                      [](const ZipMember&, std::string) -> Status { return {}; });
  REQUIRE_FALSE(altered);
  CHECK(altered.error().code == "IDX021");
  CHECK(wheel->read("tiny_kernels/__init__.py") == "answer = 42\n");

  zip = builder.zip();
  zip.add("unlisted.txt", "x");
  CHECK(open(zip.build())->read("unlisted.txt").error().code == "IDX021");
  builder.extra_record = "nohash.txt,,\n";
  zip = builder.zip();
  zip.add("nohash.txt", "x");
  CHECK(open(zip.build())->read("nohash.txt").error().code == "IDX021");
}

TEST_CASE("two members swapped in the archive are noticed") {
  auto zip = test::WheelBuilder().zip();
  zip.at("data.txt").local_name = "tiny_kernels/copy.txt";
  CHECK(open(zip.build())->read("tiny_kernels/data.txt").error().code == "IDX023");
  zip = test::WheelBuilder().zip();
  zip.at("data.txt").local_size = 3;
  CHECK(open(zip.build())->read("tiny_kernels/data.txt").error().code == "IDX023");
  zip = test::WheelBuilder().zip();
  zip.at("data.txt").crc = 7;
  CHECK(open(zip.build())->read("tiny_kernels/data.txt").error().code == "IDX023");
  zip = test::WheelBuilder().zip();
  zip.at("WHEEL").gap_before = "hidden";
  auto wheel = open(zip.build());
  REQUIRE(wheel);
  CHECK(wheel->read("tiny_kernels-1.2.0.dist-info/METADATA").error().code == "IDX023");
}

TEST_CASE("what is no wheel, cut off or framed in two ways is refused when it is opened") {
  const test::WheelBuilder builder;
  const std::string good = builder.zip().build();
  CHECK(code_of(open("")) == "IDX020");
  CHECK(code_of(open("<html>sign in</html>")) == "IDX020");
  for (std::size_t length = 0; length < good.size(); length += 13)
    CHECK(code_of(open(good.substr(0, length))) == "IDX020");
  CHECK(code_of(open(good + "x")) == "IDX020");
  CHECK(code_of(open("x" + good)) == "IDX020");

  auto zip = builder.zip();
  zip.entries.push_back(zip.entries.front());
  CHECK(code_of(open(zip.build())) == "IDX020");
  zip = builder.zip();
  zip.entries[1].local_offset = 0;  // shares the first member's bytes
  CHECK(code_of(open(zip.build())) == "IDX020");
  zip = builder.zip();
  zip.add("../outside", "x");
  CHECK(code_of(open(zip.build())) == "IDX020");
  zip = builder.zip();
  zip.zip64 = true;
  CHECK(code_of(open(zip.build())) == "opened");
  zip.zip64_entries = 3;
  CHECK(code_of(open(zip.build())) == "IDX020");

  auto without = builder;
  without.with_record = false;
  CHECK(code_of(open(without.zip().build())) == "IDX020");
  auto twice = builder;
  twice.extra_record = "tiny_kernels/data.txt,,\n";
  CHECK(code_of(open(twice.zip().build())) == "IDX020");
  zip = builder.zip();
  zip.add("other-1.0.dist-info/RECORD", "");
  CHECK(code_of(open(zip.build())) == "IDX020");
}

TEST_CASE("an altered byte anywhere never gives wrong content") {
  const test::WheelBuilder builder;
  const std::string good = builder.zip().build();
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x41);
    auto wheel = open(bad);
    if (!wheel) continue;
    for (const auto& [name, content] : builder.files) {
      const auto got = wheel->read(name);
      if (got) REQUIRE(*got == content);
    }
  }
}

TEST_CASE("compressed bytes of a member by offset, its header asked for once") {
  auto wheel = open(test::wheel_with("some library"));
  REQUIRE(wheel);
  const ZipMember& member = *wheel->find("tiny/lib/libmoved.so");
  const std::string data = test::deflate("some library");
  CHECK(wheel->read_compressed(member, 0, data.size()) == data);
  const std::uint64_t before = wheel->requests();
  CHECK(wheel->read_compressed(member, 3, 4) == data.substr(3, 4));
  CHECK(wheel->requests() == before + 1);
  CHECK_FALSE(wheel->read_compressed(member, 3, data.size()));
  CHECK_FALSE(wheel->read_compressed(member, ~std::uint64_t{0}, 2));

  auto zip = test::WheelBuilder().zip();
  zip.at("data.txt").local_extra = std::string("\x99\x99\x00\x04", 4) + std::string(1024, 'e');
  wheel = open(zip.build());
  REQUIRE(wheel);
  CHECK(wheel->read_compressed(*wheel->find("tiny_kernels/data.txt"), 0, 1) == std::string("\x01"));
}
