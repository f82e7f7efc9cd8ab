// By which hashes RECORD may speak of files, and which of them are compared.
#include "support/scratch_files.hpp"
#include "support/sha256.hpp"
#include "support/wheel_builder.hpp"

#include <sagekit/inspect.hpp>

#include <doctest/doctest.h>

using namespace sagekit;

namespace {

/// Facts of a wheel whose RECORD says `written` of its first file, and of its second by the same algorithm.
FileFacts recorded(const std::string& first, const std::string& second, const InspectOptions& options = {},
                   const std::string& size_prefix = "") {
  test::WheelBuilder wheel;
  wheel.record = wheel.right_record();
  for (const auto& [content, written] : {std::pair(wheel.files[0].second, first), {wheel.files[1].second, second}})
    wheel.record.replace(wheel.record.find(sha256_record(content)), sha256_record(content).size(), written);
  wheel.record.insert(wheel.record.find(',', wheel.record.find(',') + 1) + 1, size_prefix);
  const auto folder = test::temporary();
  const auto path = folder.path() / wheel.file_name;
  test::write(path, wheel.zip().build());
  auto facts = inspect_file(path, options);
  REQUIRE(facts);
  return std::move(*facts);
}

std::string codes_of(const Diagnostics& problems) {
  std::string text;
  for (const auto& one : problems) text += one.code + " ";
  return text;
}

const test::WheelBuilder k_right;

}  // namespace

TEST_CASE("SHA-2 and SHA-3 hashes in RECORD are compared") {
  const auto &first = k_right.files[0].second, &second = k_right.files[1].second;
  for (const std::string algorithm : {"sha256", "sha384", "sha512", "sha3_224", "sha3_256", "sha3_384", "sha3_512"}) {
    CAPTURE(algorithm);
    const auto right = recorded(*record_hash(algorithm, first), *record_hash(algorithm, second));
    CHECK(codes_of(right.wheel->problems) == "");
    CHECK(right.wheel->unchecked.empty());
    const auto wrong = recorded(*record_hash(algorithm, second), *record_hash(algorithm, second));
    CHECK(codes_of(wrong.wheel->problems) == "INF016 ");
  }
}

TEST_CASE("a hash that RECORD may have and nobody here computes is no fault, and is said") {
  for (const std::string algorithm : {"blake2b", "blake2s", "shake_128", "shake_256"}) {
    CAPTURE(algorithm);
    const auto facts = recorded(algorithm + "=x", algorithm + "=y");
    CHECK(codes_of(facts.wheel->problems) == "");
    REQUIRE(facts.wheel->unchecked.size() == 1);
    const auto& note = facts.wheel->unchecked.front();
    CHECK(note.code == "INF016");
    CHECK(note.severity == Severity::note);
    CHECK(note.message ==
          "RECORD hashes tiny_kernels/__init__.py and 1 more by " + algorithm + ", which sagekit does not compute");
    CHECK(inspect_json({facts}).find(note.message) != std::string::npos);
    // What else RECORD says of the file is compared all the same.
    CHECK(codes_of(recorded(algorithm + "=x", algorithm + "=y", {}, "1").wheel->problems) == "INF017 ");
    InspectOptions unread;
    unread.member_hashes = false;
    CHECK(recorded(algorithm + "=x", algorithm + "=y", unread).wheel->unchecked.empty());
  }
}

TEST_CASE("a hash that RECORD may not have is a fault") {
  for (const std::string algorithm : {"md5", "sha1", "sha224", "crc32", "SHA256", "sha512_256"}) {
    CAPTURE(algorithm);
    const auto facts = recorded(algorithm + "=x", sha256_record(k_right.files[1].second));
    CHECK(codes_of(facts.wheel->problems) == "INF018 ");
    CHECK(facts.wheel->unchecked.empty());
  }
}
