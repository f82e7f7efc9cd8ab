#include "causes/log_text.hpp"

#include "archive/inflate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>

using namespace sagekit;

namespace {

std::string decoded(std::string_view bytes, std::size_t piece) {
  LogDecoder decoder;
  std::string text;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) decoder.feed(bytes.substr(0, piece), text);
  decoder.finish(text);
  return text;
}

/// The same, however it is cut.
std::string decoded(std::string_view bytes) {
  const auto whole = decoded(bytes, bytes.size() + 1);
  for (const std::size_t piece : {1u, 2u, 3u, 7u, 64u}) CHECK(decoded(bytes, piece) == whole);
  return whole;
}

std::string little_endian(std::uint32_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>((value >> (8 * i)) & 0xff);
  return text;
}

/// In blocks that are stored as they are (RFC 1951, 3.2.4; RFC 1952).
std::string gzipped(std::string_view text) {
  constexpr std::size_t k_block = 1000;
  std::string packed("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);
  for (std::size_t at = 0; at < text.size(); at += k_block) {
    const auto block = text.substr(at, k_block);
    const auto size = static_cast<std::uint32_t>(block.size());
    packed += at + k_block >= text.size() ? '\1' : '\0';
    packed += little_endian(size, 2) + little_endian(~size, 2) + std::string(block);
  }
  return packed + little_endian(crc32_of(text), 4) + little_endian(static_cast<std::uint32_t>(text.size()), 4);
}

std::string utf16(std::string_view text, bool little, bool mark) {
  std::string bytes = !mark ? "" : little ? "\xff\xfe" : "\xfe\xff";
  for (const char c : text) bytes += little ? std::string{c, '\0'} : std::string{'\0', c};
  return bytes;
}

constexpr std::string_view k_log =
    "collecting sageattention\nnvcc fatal   : no such thing\nninja: build stopped\nthe end of a log\n";

}  // namespace

TEST_CASE("a log is read as it is, and packed") {
  CHECK(decoded(k_log) == k_log);
  CHECK(decoded(gzipped(k_log)) == k_log);
  CHECK(decoded(gzipped(k_log) + gzipped("second member\n")) == std::string(k_log) + "second member\n");
  CHECK(decoded("").empty());
  CHECK(decoded("ab") == "ab");
}

TEST_CASE("a gzip file that is cut gives what is before the cut") {
  std::string many;
  for (int i = 0; i < 5000; ++i) many += std::to_string(i * 7919) + " is a line of a build\n";
  const auto packed = gzipped(many);
  const auto text = decoded(packed.substr(0, packed.size() / 2));
  CHECK(text.size() > 1000);
  CHECK(many.starts_with(text));
}

TEST_CASE("UTF-16 becomes UTF-8, with a mark and without, in both orders") {
  for (const bool little : {true, false})
    for (const bool mark : {true, false}) CHECK(decoded(utf16(k_log, little, mark)) == k_log);
  // A character of two units, cut in the middle by the pieces; and half of one.
  CHECK(decoded(utf16(k_log, true, true) + std::string("\x3d\xd8\x00\xde", 4)) ==
        std::string(k_log) + "\xf0\x9f\x98\x80");
  CHECK(decoded(utf16(k_log, true, true) + std::string("\x3d\xd8\x41\x00", 4))
            .ends_with("\xef\xbf\xbd"
                       "A"));
  CHECK(decoded("\xef\xbb\xbf" + std::string(k_log)) == k_log);
}

TEST_CASE("ends of lines: a carriage return before a newline goes, one by itself begins the line anew") {
  CHECK(decoded("one\r\ntwo\r\n") == "one\ntwo\n");
  CHECK(decoded("10 %\r50 %\rdone\n") == "10 %\v50 %\vdone\n");
}

TEST_CASE("what terminals read is gone: colours, titles, links") {
  CHECK(decoded("\x1b[31merror\x1b[0m: x\x1b[K\n") == "error: x\n");
  CHECK(decoded("\x1b[38;5;208mwarm\x1b[39m\n") == "warm\n");
  CHECK(decoded("\x1b]0;build\aout\n") == "out\n");
  CHECK(decoded("\x1b]8;;file:///a\x1b\\text\x1b]8;;\x1b\\ behind\n") == "text behind\n");
  CHECK(decoded("\x1b[31never ends\nnext\n") == "ever ends\nnext\n");
  CHECK(decoded(std::string("a\0b\n", 4)) == "ab\n");
}

TEST_CASE("text in a code page is made readable, and UTF-8 left alone") {
  CHECK(readable("caf\xc3\xa9") == "caf\xc3\xa9");
  CHECK(readable("\xd5\xd2\xb2\xbb\xb5\xbd\xd6\xb8\xb6\xa8\xb5\xc4\xc4\xa3\xbf\xe9") == "找不到指定的模块");
  CHECK(readable("Datei nicht gefunden: \xfc.") == "Datei nicht gefunden: \xc3\xbc.");
}
