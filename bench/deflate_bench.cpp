// What deflating a wheel's members costs: as write_zip does it, and with zlib's level 9, as libzip does it by itself.
//   deflate_bench FILE...     wheels (all their members) or plain files (cubins, modules); prints CPU-s, bytes and ratios
// One thread, so that CPU time and wall time are the same thing; each way once a file, one after the other.
#include "archive/inflate.hpp"
#include "archive/wheel_archive.hpp"
#include "support/file.hpp"

#include <zlib.h>

#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

namespace {

using namespace sagekit;

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::size_t zlib_size(std::string_view bytes) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);  // libzip's own settings
  std::vector<unsigned char> out(deflateBound(&stream, bytes.size()));
  stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<unsigned>(bytes.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<unsigned>(out.size());
  deflate(&stream, Z_FINISH);
  const auto size = stream.total_out;
  deflateEnd(&stream);
  return size;
}

/// The contents of a wheel's members; of anything else, the file itself.
std::vector<std::string> contents(const char* file) {
  std::vector<std::string> found;
  if (std::string_view(file).ends_with(".whl")) {
    if (const auto archive = WheelArchive::open(file))
      for (const auto& member : archive->members())
        if (auto bytes = archive->read(member)) found.emplace_back(std::move(*bytes));
  } else if (auto bytes = read_file(file)) {
    found.push_back(std::move(*bytes));
  }
  return found;
}

}  // namespace

int main(int count, char** arguments) {
  Deflater deflater;
  for (int i = 1; i < count; ++i) {
    double ours = 0, theirs = 0;
    std::size_t raw = 0, our_bytes = 0, their_bytes = 0;
    for (const auto& content : contents(arguments[i])) {
      const auto begin = cpu_seconds();
      our_bytes += deflater.whole(content).size();
      const auto middle = cpu_seconds();
      their_bytes += zlib_size(content);
      ours += middle - begin;
      theirs += cpu_seconds() - middle;
      raw += content.size();
    }
    if (raw == 0) {
      std::fprintf(stderr, "%s: nothing to deflate\n", arguments[i]);
      return 1;
    }
    std::printf("%s: %.2f MB; zlib 9: %.2f s, %.3f MB; write_zip: %.2f s, %.3f MB; CPU %.1f times less, size %.4f\n",
                arguments[i], static_cast<double>(raw) / 1e6, theirs, static_cast<double>(their_bytes) / 1e6, ours,
                static_cast<double>(our_bytes) / 1e6, theirs / ours,
                static_cast<double>(our_bytes) / static_cast<double>(their_bytes));
  }
  return 0;
}
