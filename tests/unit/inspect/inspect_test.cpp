#include "archive/wheel_archive.hpp"
#include "gpu/image_codec.hpp"
#include "pypa/metadata_reader.hpp"
#include "support/fatbin_builder.hpp"
#include "support/file.hpp"
#include "support/json.hpp"
#include "support/parallel.hpp"
#include "support/utf8.hpp"
#include "support/wheel_builder.hpp"

#include <sagekit/inspect.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <stdexcept>

using namespace sagekit;
namespace fs = std::filesystem;

namespace {

std::string sample_module() {
  test::FatbinBuilder fatbin;
  fatbin.cubin(90, 'a', test::CubinBuilder().build(), 'z');
  fatbin.ptx(90, 0, test::sample_ptx(), 'z');
  test::ModuleBuilder module;
  module.more.push_back({".nv_fatbin", fatbin.build()});
  return module.build();
}

test::WheelBuilder sample_wheel() {
  test::WheelBuilder wheel;
  wheel.files.push_back({"tiny_kernels/_tiny.cpython-312-x86_64-linux-gnu.so", sample_module()});
  return wheel;
}

TemporaryFolder scratch() {
  auto folder = TemporaryFolder::create(fs::temp_directory_path(), "inspect \xc3\xa9");
  REQUIRE(folder);
  return std::move(*folder);
}

fs::path written(const TemporaryFolder& folder, const std::string& name, const std::string& bytes) {
  REQUIRE(write_file_atomic(folder.path() / name, bytes));
  return folder.path() / name;
}

}  // namespace

TEST_CASE("inspect reads a wheel with everything in it") {
  const auto folder = scratch();
  const auto wheel = sample_wheel();
  const auto path = written(folder, wheel.file_name, wheel.zip().build());
  InspectOptions options;
  options.kernels = true;
  const auto facts = inspect_file(path, options);
  REQUIRE(facts);
  CHECK(facts->kind == "wheel");
  CHECK(facts->sha256 == *sha256_file(path));
  REQUIRE(facts->wheel);
  CHECK(facts->wheel->problems.empty());
  CHECK(facts->wheel->metadata_name == "tiny-kernels");
  CHECK(facts->wheel->requires_dist == std::vector<std::string>{"numpy", "torch==2.11.*"});
  CHECK(facts->wheel->dist_info == "tiny_kernels-1.2.0.dist-info");
  CHECK(facts->members.size() == 7);
  CHECK(std::is_sorted(facts->members.begin(), facts->members.end(),
                       [](const auto& a, const auto& b) { return a.path < b.path; }));

  const Json json = parse_json(inspect_json({*facts}, options));
  CHECK(json["schema"] == "sagekit.inspect/1");
  const Json& file = json["files"][0];
  CHECK(file["kind"] == "wheel");
  CHECK(file["wheel"]["version"] == "1.2.0");
  CHECK(file["wheel"]["tags"] == Json::array({"cp312-cp312-linux_x86_64"}));
  for (const Json& member : file["members"]) {
    const bool module = member["path"].get<std::string>().ends_with(".so");
    CHECK(member.contains("elf") == module);
    CHECK(member.contains("gpu") == module);
    CHECK_FALSE(member.contains("pe"));
    if (!module) continue;
    CHECK(member["elf"]["python_abi"] == "cp312");
    CHECK(member["elf"]["versions"]["GLIBC"] == "2.17");
    CHECK(member["gpu"][0]["kind"] == "ptx");
    CHECK(member["gpu"][1]["arch"] == "sm_90a");
    CHECK(member["gpu"][1]["kernels"] == 1);
    CHECK(member["gpu"][1]["names"] == Json::array({"_Z5scalePf"}));
  }
}

TEST_CASE("kernels that nobody counted are null in JSON, not 0") {
  const auto folder = scratch();
  const auto path = written(folder, "libtiny.so", sample_module());
  const auto facts = inspect_file(path);
  REQUIRE(facts);
  CHECK(facts->kind == "elf");
  const Json json = parse_json(inspect_json({*facts}));
  CHECK(json["files"][0]["members"][0]["gpu"][0]["kernels"].is_null());
  CHECK_FALSE(json["files"][0]["members"][0]["gpu"][0].contains("names"));
}

TEST_CASE("a wheel can be judged under the name it will have") {
  const auto folder = scratch();
  const auto wheel = sample_wheel();
  const auto path = written(folder, ".temporary", wheel.zip().build());
  InspectOptions options;
  options.wheel_name = wheel.file_name;
  const auto facts = inspect_file(path, options);
  REQUIRE(facts);
  CHECK(facts->wheel->problems.empty());
}

TEST_CASE("headers only leaves the hash empty") {
  const auto folder = scratch();
  InspectOptions options;
  options.whole_file = false;
  const auto facts = inspect_file(written(folder, "libtiny.so", sample_module()), options);
  REQUIRE(facts);
  CHECK(facts->sha256.empty());
  CHECK(facts->members[0].gpu.size() == 2);
}

TEST_CASE("what cannot be inspected is refused with its kind") {
  const auto folder = scratch();
  const auto code = [](const Result<FileFacts>& facts) { return facts ? std::string("read") : facts.error().code; };
  CHECK(code(inspect_file(folder.path() / "absent.whl")) == "FIL001");
  CHECK(inspect_file(folder.path() / "absent.whl").error().kind == ErrorKind::usage);
  CHECK(code(inspect_file(written(folder, "a.txt", "hello"))) == "INS053");
  CHECK(inspect_file(folder.path() / "a.txt").error().kind == ErrorKind::failed);
  CHECK(code(inspect_file(written(folder, "empty", ""))) == "INS054");
  CHECK(code(inspect_file(written(folder, "x-1-py3-none-any.whl", "hello"))) == "INS053");
  test::ZipBuilder zip;
  zip.add("a.txt", "hello");
  CHECK(inspect_file(written(folder, "a.zip", zip.build()))->kind == "archive");
  CHECK(code(inspect_file(written(folder, "cut.so",
                                  "\x7f"
                                  "ELF"))) == "INS020");
}

TEST_CASE("one member of a wheel is read by name") {
  const auto folder = scratch();
  const auto wheel = sample_wheel();
  const auto path = written(folder, wheel.file_name, wheel.zip().build());
  CHECK(*read_wheel_member(path, "tiny_kernels/__init__.py") == "answer = 42\n");
  const auto missing = read_wheel_member(path, "tiny_kernels/__init_.py");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == "INS003");
  CHECK(missing.error().hint == "did you mean \"tiny_kernels/__init__.py\"?");
}

TEST_CASE("an archive is opened once and read many times") {
  const auto folder = scratch();
  const auto wheel = sample_wheel();
  const auto archive = WheelArchive::open(written(folder, wheel.file_name, wheel.zip().build()));
  REQUIRE(archive);
  CHECK(archive->problems().empty());
  CHECK(archive->members().size() == 7);
  CHECK(archive->find("tiny_kernels/data.txt") != nullptr);
  CHECK(archive->find("tiny_kernels/data.tx") == nullptr);
  CHECK(*archive->read("tiny_kernels/data.txt") == "some text\n");
}

TEST_CASE("bytes in memory are inspected as a file would be") {
  const std::string bytes = sample_module();
  const auto facts = inspect_bytes("pkg/_tiny.abi3.so", bytes);
  REQUIRE(facts);
  CHECK(facts->python_abi == "abi3");
  CHECK(facts->gpu.size() == 2);
  CHECK(facts->sha256 == sha256_hex(bytes));
  CHECK(inspect_bytes("a.txt", "hello").error().code == "INS001");
}

TEST_CASE("headers may be continued, and names compare without case") {
  const HeaderText text =
      read_headers("Name: x\r\nSummary: one\n  two\nrequires-dist: a\nRequires-Dist: b\n\nbody: text\n");
  CHECK(text.faults.empty());
  CHECK(text.one("name") == "x");
  CHECK(text.one("Summary") == "one\ntwo");
  CHECK(text.all("Requires-Dist") == std::vector<std::string>{"a", "b"});
  CHECK_FALSE(text.one("Requires-Dist"));
  CHECK(text.body == "body: text\n");
}

TEST_CASE("RECORD is CSV with quotes") {
  const RecordText text = read_record("a,sha256=x,1\r\n\"b,\"\"c\",,\n\nd,e\n");
  REQUIRE(text.rows.size() == 2);
  CHECK(text.rows[0].size == "1");
  CHECK(text.rows[1].path == "b,\"c");
  CHECK(text.faults.size() == 1);
}

TEST_CASE("UTF-8 is judged strictly") {
  CHECK(is_utf8("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"));
  CHECK_FALSE(is_utf8("\xc0\x80"));
  CHECK_FALSE(is_utf8("\xed\xa0\x80"));
  CHECK_FALSE(is_utf8("\xf4\x90\x80\x80"));
  CHECK_FALSE(is_utf8("\xe2\x82"));
}

TEST_CASE("images that claim to grow without measure are refused before memory is taken") {
  CHECK(image_size_is_sane(1000, 1000000));
  CHECK_FALSE(image_size_is_sane(1000, 1000000000));
  CHECK_FALSE(image_size_is_sane(~std::uint64_t{0}, 1));
  ImageDecoder decoder;
  CHECK_FALSE(decoder.whole("xx", ImageCompression::zstd, 10));
  CHECK_FALSE(decoder.whole(test::zstd_raw_frame("hello") + "x", ImageCompression::zstd, 5));
  CHECK(decoder.whole(test::zstd_raw_frame("hello"), ImageCompression::zstd, 5) == "hello");
  CHECK(decoder.whole(test::lz4_literal_block("hello"), ImageCompression::lz4, 5) == "hello");
  CHECK(decoder.whole("hello", ImageCompression::none, 5) == "hello");
  CHECK_FALSE(decoder.whole("hello", ImageCompression::none, 4));
}

TEST_CASE("an LZ4 match of distance 0 is refused in a beginning: it would be whatever memory held before") {
  ImageDecoder decoder;
  // One literal and a match of four at a distance, then the literals that end a block.
  const auto block = [](char distance) {
    return std::string(
               "\x10"
               "a") +
           distance + std::string(1, '\0') + "\xf0\x05" + std::string(20, 'x');
  };
  CHECK(decoder.whole(block(1), ImageCompression::lz4, 25) == "aaaaa" + std::string(20, 'x'));
  CHECK(decoder.beginning(block(1), ImageCompression::lz4, 25, 5) == "aaaaa");
  CHECK_FALSE(decoder.beginning(block(0), ImageCompression::lz4, 25, 5));
  CHECK(decoder.beginning(block(0), ImageCompression::lz4, 25, 1) == "a");
}

TEST_CASE("the beginning of an image is read without the rest") {
  ImageDecoder decoder;
  const std::string text(300000, 'x');
  const std::string zstd = test::zstd_raw_frame("begin" + text), lz4 = test::lz4_literal_block("begin" + text);
  CHECK(decoder.beginning(zstd, ImageCompression::zstd, 300005, 5) == "begin");
  CHECK(decoder.beginning(lz4, ImageCompression::lz4, 300005, 5) == "begin");
  CHECK(decoder.beginning("begin", ImageCompression::none, 5, 1000) == "begin");
  CHECK(decoder.beginning(zstd.substr(0, 200000), ImageCompression::zstd, 300005, 5) == "begin");
  CHECK_FALSE(decoder.beginning("nonsense", ImageCompression::zstd, 100, 5));
  CHECK(decoder.whole(zstd, ImageCompression::zstd, 300005)->size() == 300005);
}

TEST_CASE("work is done once each, within its budget, and its exceptions come back") {
  const std::vector<std::uint64_t> costs = {5, 1, 9, 3, 7, 100};
  std::atomic<std::uint64_t> in_use = 0;
  std::atomic<bool> too_much = false;
  std::vector<std::atomic<int>> done(costs.size());
  run_within_budget(costs, 10, 4, [&](std::size_t i) {
    const std::uint64_t now = in_use += costs[i];
    if (now > 10 && now != costs[i]) too_much = true;
    ++done[i];
    in_use -= costs[i];
  });
  CHECK_FALSE(too_much);
  for (const auto& count : done) CHECK(count == 1);
  CHECK_THROWS_AS(run_within_budget({1, 1, 1}, 10, 2,
                                    [](std::size_t i) {
                                      if (i == 1) throw std::runtime_error("x");
                                    }),
                  std::runtime_error);
  run_within_budget({}, 10, 2, [](std::size_t) { FAIL("nothing to do"); });
}
