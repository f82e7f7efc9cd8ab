// What reading a wheel cannot be faster than: its members inflated once by libdeflate from the mapped file, on all cores,
// largest first, into memory that is used again. Nothing is checked, hashed or looked at.
//   inflate_floor WHEEL...     prints bytes and seconds of each; run as a whole process beside `sagekit inspect`
#include "archive/inflate.hpp"
#include "archive/wheel_archive.hpp"
#include "support/parallel.hpp"

#include <chrono>
#include <cstdio>
#include <memory>

int main(int count, char** arguments) {
  using namespace sagekit;
  for (int i = 1; i < count; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const auto archive = WheelArchive::open(arguments[i]);
    if (!archive) {
      std::fprintf(stderr, "%s: %s\n", arguments[i], archive.error().message.c_str());
      return 1;
    }
    const auto& members = archive->members();
    std::vector<std::uint64_t> costs;
    std::uint64_t total = 0;
    for (const auto& member : members) costs.push_back(member.size), total += member.size;
    run_with_workers(costs, UINT64_MAX, available_threads(), [&] {
      return [&, inflater = std::make_shared<Inflater>()](std::size_t index) {
        const auto& member = members[index];
        if (member.method != k_zip_deflated) return;
        inflater->whole(archive->bytes().substr(member.data_offset, member.compressed_size), member.size);
      };
    });
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::printf("%s: %.1f MB inflated in %.3f s\n", arguments[i], static_cast<double>(total) / 1e6, took.count());
  }
  return 0;
}
