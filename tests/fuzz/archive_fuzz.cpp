// Tarballs, Debian packages and plain zips: libarchive in front, sagekit's reader of what lies in them behind it.
#include "fuzz_target.hpp"
#include "inspect/archive_reader.hpp"

#include <cstdlib>

using namespace sagekit;

SAGEKIT_FUZZ_TARGET(archive) {
  constexpr std::uint64_t k_memory = std::uint64_t{16} << 20;
  const Bytes file(std::string_view(reinterpret_cast<const char*>(data), size));
  looks_like_archive(file);
  InspectOptions options;
  options.memory_bytes = k_memory;
  const auto facts = read_archive_file("input.tar", file, options);
  if (!facts && facts.error().code.empty()) std::abort();
  if (!facts) return 0;
  for (const MemberFacts& member : facts->members)
    if (member.size_bytes > k_memory) std::abort();
  return 0;
}
