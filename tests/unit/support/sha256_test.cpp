#include "support/sha256.hpp"

#include <doctest/doctest.h>

using namespace sagekit;

TEST_CASE("known digests") {
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_record("") == "sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU");
  CHECK(sha1_hex("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d");
}

TEST_CASE("RECORD's forms of a hash are those of Python's hashlib and base64") {
  CHECK(record_hash("sha256", "abc") == "sha256=ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0");
  CHECK(record_hash("sha384", "abc") == "sha384=ywB1P0WjXou1oD1pmsZQBycsMqsO3tFjGotgWkP_W-2AhgcroefMI1i67KE0yCWn");
  CHECK(record_hash("sha512", "abc") ==
        "sha512=3a81oZNherrMQXNJriBBMRLm-k6JqX6iCp7u5ktV05ohkpkqJ0_BqDa6PCOj_uu9RU1EI2Q86A4qmslPpUyknw");
  CHECK(record_hash("sha3_224", "abc") == "sha3_224=5kKCTD-M8krQkjTufTx2b8mjpRaNDJStc7Rv3w");
  CHECK(record_hash("sha3_256", "abc") == "sha3_256=Ophdp0_iJbIEXBcta9OQvYVfCG4-nVJbRr_iRRFDFTI");
  CHECK(record_hash("sha3_384", "abc") == "sha3_384=7AFJgohRb8kmRZ9Y4satjfm0c8sPwIwlltp88OSb5LKY2IzqknrH9Tnx7fIoN20l");
  CHECK(record_hash("sha3_512", "abc") ==
        "sha3_512=t1GFCxpXFopWk82SS2sJbgj2IYJ0RPcNiE9dAkDScS4Q4RbpGSrzyRp-xXZH45NAVzQLTPQI1aVlkvgnTuxT8A");
  CHECK(hash_hex("sha3_256", "abc") == "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532");
  for (const auto* other : {"md5", "sha1", "sha224", "blake2b", "SHA256", ""}) CHECK_FALSE(record_hash(other, "abc"));
  CHECK(sha256_record_of_hex(sha256_hex("abc")) == record_hash("sha256", "abc"));
  CHECK(sha256_record_of_hex("zz" + sha256_hex("abc").substr(2)).empty());
  CHECK(sha256_record_of_hex("ab").empty());
}

TEST_CASE("a hash is told by its digits, and RECORD's back into them") {
  const auto hex = sha256_hex("abc");
  CHECK(is_sha256(hex));
  for (const auto& wrong : {hex.substr(1), hex + "0", "A" + hex.substr(1), "g" + hex.substr(1), std::string()})
    CHECK_FALSE(is_sha256(wrong));
  CHECK(sha256_of_record(sha256_record("abc")) == hex);
  CHECK_FALSE(sha256_of_record(sha256_record("abc") + "="));
  CHECK_FALSE(sha256_of_record("sha256=ungW"));
  CHECK_FALSE(sha256_of_record(hex));
}

TEST_CASE("base64 is read in both alphabets, with and without padding") {
  for (const auto* text : {"+/8=", "-_8=", "+/8", "-_8"}) CHECK(decode_base64(text) == "\xfb\xff");
  CHECK(decode_base64("") == "");
  CHECK_FALSE(decode_base64("a"));
  CHECK_FALSE(decode_base64("ab*d"));
}

TEST_CASE("fields keep their borders") {
  Sha256 a, b;
  a.field("ab"), a.field("c");
  b.field("a"), b.field("bc");
  CHECK(a.hex() != b.hex());
}
