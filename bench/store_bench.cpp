// The store's part of a rerun in which nothing is to be done: records found by key, their objects there.
//
// Usage: store_bench FOLDER [HITS]. Fills FOLDER (which must not be there), then looks up everything twice.
#include "store/store.hpp"
#include "support/sha256.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

using namespace sagekit;

namespace {

constexpr int k_headers = 40;  // that a CUDA source's record lists beside its tools' own
constexpr double k_promised_seconds = 0.3;

std::string key_of(int i) { return sha256_hex("key " + std::to_string(i)); }

bool fill(const Store& store, int hits) {
  for (int i = 0; i < hits; ++i) {
    const auto object = store.put_bytes("object " + std::to_string(i));
    if (!object) return false;
    ActionRecord record{{}, {{"{work}/obj/x.o", *object}}, {1, 1, 1}, false, {}};
    for (int h = 0; h < k_headers; ++h)
      record.headers.emplace_back("{source}/csrc/header" + std::to_string(h) + ".cuh", sha256_hex(std::to_string(h)));
    if (!store.add_record(key_of(i), record)) return false;
  }
  return true;
}

int look_up(const Store& store, int hits) {
  int found = 0;
  for (int i = 0; i < hits; ++i)
    found += store
                 .find(key_of(i),
                       [&](const ActionRecord& record) {
                         return std::ranges::all_of(record.outputs,
                                                    [&](const RecordedOutput& o) { return store.has(o.object); });
                       })
                 .has_value();
  return found;
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::puts("usage: store_bench FOLDER [HITS]"), 2;
  const int hits = argc > 2 ? std::atoi(argv[2]) : 10'000;
  const auto store = Store::open(argv[1]);
  if (!store || !fill(*store, hits)) return std::puts("the folder cannot be filled"), 1;
  bool kept = true;
  for (int round = 0; round < 3; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    const double cpu = cpu_seconds();
    const int found = look_up(*store, hits);
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const double used = cpu_seconds() - cpu;
    std::printf("%d of %d hits: %.3f s wall, %.3f s CPU; promised %.1f s for 10,000: %.2f of it\n", found, hits, wall,
                used, k_promised_seconds, used / hits * 10'000 / k_promised_seconds);
    kept = kept && found == hits && used / hits * 10'000 <= k_promised_seconds;
  }
  return kept ? 0 : 1;
}
