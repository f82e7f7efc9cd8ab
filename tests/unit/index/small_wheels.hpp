#pragma once
// Wheels in memory for the tests of this room: a file that counts its reads, real DEFLATE data, and libraries laid out
// as patchelf leaves them, with names and hashes behind everything.

#include "support/random_access.hpp"
#include "support/elf_builder.hpp"
#include "support/wheel_builder.hpp"

#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace sagekit::test {

/// A string as RandomAccess. `before_read` may fail a read or change the bytes.
class StringFile final : public RandomAccess {
 public:
  explicit StringFile(std::string bytes) : m_bytes(std::move(bytes)) {}
  std::function<Status(std::uint64_t offset, std::uint64_t length, std::string& bytes)> before_read;

  std::uint64_t size() const override { return m_bytes.size(); }
  Result<std::string> read(std::uint64_t offset, std::uint64_t length, std::stop_token) override {
    if (offset > m_bytes.size() || length > m_bytes.size() - offset)
      return fail(ErrorKind::failed, "TST001", "outside");
    ++m_requests;
    m_read += length;
    std::string bytes = m_bytes.substr(offset, length);
    if (before_read)
      if (auto status = before_read(offset, length, bytes); !status) return std::unexpected(status.error());
    return bytes;
  }
  std::uint64_t bytes_read() const override { return m_read; }
  std::uint64_t requests() const override { return m_requests; }

 private:
  std::string m_bytes;
  std::atomic<std::uint64_t> m_read = 0, m_requests = 0;
};

/// Raw DEFLATE as zip tools write it: dynamic blocks of some ten kilobytes.
inline std::string deflate(const std::string& bytes) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  std::string in = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  ::deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// Bytes that compress a little, so that DEFLATE uses dynamic blocks; with some long repeats, as code has.
inline std::string like_code(std::size_t size, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::string bytes;
  while (bytes.size() < size) {
    if (bytes.size() > 1000 && random() % 600 == 0)
      bytes += bytes.substr(bytes.size() - 900, 40);
    else
      bytes += static_cast<char>(random() % 4 == 0 ? random() % 256 : random() % 96);
  }
  return bytes;
}

/// More than is read of a library's end at first.
inline const std::string& some_megabytes() {
  static const std::string bytes = like_code(2'600'000);
  return bytes;
}

/// The archive's bytes, its CRCs by a fast way.
inline std::string build_zip(ZipBuilder zip) {
  for (ZipEntry& entry : zip.entries)
    if (!entry.crc)
      entry.crc = static_cast<std::uint32_t>(
          crc32(0, reinterpret_cast<const Bytef*>(entry.content.data()), static_cast<uInt>(entry.content.size())));
  return zip.build();
}

struct TestSymbol {
  std::string name;
  std::uint8_t type = 2, binding = 1, other = 0;
  std::uint64_t size = 0;
};

/// A library of these symbols, one of them undefined. `middle` lies between .dynsym and what patchelf moves.
struct MovedLibrary {
  std::string soname = "libmoved.so", middle = some_megabytes();
  std::vector<TestSymbol> symbols;
  bool hash_in_front = false, wrong_name = false;

  static std::uint32_t hash(const std::string& name) {
    std::uint32_t value = 5381;
    for (const char c : name) value = value * 33 + static_cast<unsigned char>(c);
    return value;
  }

  std::string build() const {
    constexpr std::uint32_t buckets = 7;
    auto sorted = symbols;
    std::stable_sort(sorted.begin(), sorted.end(), [](const TestSymbol& a, const TestSymbol& b) {
      return hash(a.name) % buckets < hash(b.name) % buckets;
    });
    NameTable names;
    ByteWriter table;
    table.zeros(24).u32(names.add("wanted_elsewhere")).u8(18).u8(0).u16(0).u64(0).u64(0);
    ByteWriter chains;
    std::vector<std::uint32_t> heads(buckets, 0);
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      const TestSymbol& one = sorted[i];
      const std::uint32_t bucket = hash(one.name) % buckets;
      if (heads[bucket] == 0) heads[bucket] = static_cast<std::uint32_t>(i + 2);
      const bool last = i + 1 == sorted.size() || hash(sorted[i + 1].name) % buckets != bucket;
      chains.u32((hash(one.name) & ~1u) | (last ? 1 : 0));
      const std::uint32_t name = names.add(wrong_name && i == 0 ? one.name + "x" : one.name);
      table.u32(name)
          .u8(std::uint64_t{one.binding} << 4 | one.type)
          .u8(one.other)
          .u16(1)
          .u64(4096 + 64 * i)
          .u64(one.size);
    }
    ByteWriter hashes;
    hashes.u32(buckets).u32(2).u32(1).u32(6).u64(~std::uint64_t{0});
    for (const std::uint32_t head : heads) hashes.u32(head);
    hashes.text(chains.bytes());
    const std::uint32_t own_name = names.add(soname);

    ElfBuilder elf;
    elf.dynamic_section = ".dynamic";
    const std::size_t hash_at = hash_in_front ? 1 : 3;
    const std::size_t strings_at = 4;
    const std::size_t middle_at = hash_in_front ? 2 : 1;
    const std::size_t dynamic_at = hash_in_front ? 3 : 2;
    elf.sections.resize(5);
    elf.sections[0] = {".dynsym", table.bytes(), 11, 5};
    elf.sections[hash_at] = {".gnu.hash", hashes.bytes(), 0x6ffffff6, 1};
    elf.sections[middle_at] = {".text", middle, 1, 0};
    elf.sections[dynamic_at] = {".dynamic", std::string(16 * 6, '\0'), 6, 5};
    elf.sections[strings_at] = {".dynstr", names.text(), 3, 0};
    ByteWriter dynamic;
    dynamic.u64(14).u64(own_name).u64(6).u64(elf.offset_of(0)).u64(0x6ffffef5).u64(elf.offset_of(hash_at));
    dynamic.u64(5).u64(elf.offset_of(strings_at)).u64(10).u64(names.text().size()).u64(0).u64(0);
    elf.sections[dynamic_at].content = dynamic.bytes();
    return elf.build();
  }
};

/// A hundred symbols of all kinds.
inline std::vector<TestSymbol> many_symbols() {
  std::vector<TestSymbol> symbols = {{"an_object", 1, 1, 0, 40},    {"a_weak_one", 1, 2, 0, 8},
                                     {"a_unique_one", 1, 10, 0, 1}, {"per_thread", 6, 1, 0, 4},
                                     {"chosen_at_load", 10, 1},     {"guarded", 2, 1, 3}};
  for (int i = 0; i < 300; ++i) symbols.push_back({"_ZN4tiny8function" + std::to_string(i) + "Ev"});
  return symbols;
}

/// A wheel with that library, deflated for real (or stored), and RECORD right.
inline std::string wheel_with(const std::string& library, const std::string& member = "tiny/lib/libmoved.so",
                              bool stored = false) {
  WheelBuilder wheel;
  wheel.files.emplace_back(member, library);
  ZipBuilder zip = wheel.zip();
  for (ZipEntry& entry : zip.entries) {
    if (entry.name == member && stored) entry.method = 0;
    if (entry.method == 8) entry.data = deflate(entry.content);
  }
  return build_zip(std::move(zip));
}

}  // namespace sagekit::test
