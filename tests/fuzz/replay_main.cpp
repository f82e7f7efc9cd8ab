// fuzz_replay TARGET [-mutations=N] INPUT...: runs a fuzz target over files and folders, without libFuzzer: each as it
// is, with -mutations=N also N times with random damage, the same in every run. Prints how many inputs ran; none is a
// failure, so that a lost corpus is noticed.
#include "fuzz_target.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit::test {

namespace {

std::map<std::string_view, FuzzOne>& targets() {
  static std::map<std::string_view, FuzzOne> all;
  return all;
}

}  // namespace

bool register_fuzz_target(std::string_view name, FuzzOne one) { return targets().emplace(name, one).second; }

namespace {

constexpr std::size_t k_most_bytes = std::size_t{256} << 10;  // larger seeds are only replayed

void run(FuzzOne one, const std::string& bytes) {
  // An exact copy on the heap, so that a sanitizer sees the first byte read behind it.
  const std::vector<std::uint8_t> copy(bytes.begin(), bytes.end());
  one(copy.data(), copy.size());
}

class Damage {
 public:
  std::string apply(std::string bytes) {
    for (std::size_t times = 1 + below(4); times > 0; --times) once(bytes);
    return bytes;
  }

 private:
  std::size_t below(std::size_t end) { return end == 0 ? 0 : static_cast<std::size_t>(m_random() % end); }

  void once(std::string& bytes) {
    if (bytes.empty()) return bytes.push_back(static_cast<char>(below(256)));
    const std::size_t at = below(bytes.size());
    const std::size_t length = 1 + below(std::min<std::size_t>(8, bytes.size() - at));
    switch (below(6)) {
      case 0: bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1u << below(8))); break;
      case 1:
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), length, below(2) == 0 ? '\0' : '\xff');
        break;
      case 2: bytes[at] = static_cast<char>(below(256)); break;
      case 3: bytes.resize(at); break;
      case 4: bytes.erase(at, length); break;
      default: bytes.insert(at, bytes.substr(below(bytes.size()), length)); break;
    }
  }

  std::mt19937_64 m_random{20260117};
};

int replay(int count, char** arguments) {
  const auto target = count > 1 ? targets().find(arguments[1]) : targets().end();
  if (target == targets().end()) {
    std::fprintf(stderr, "usage: fuzz_replay TARGET [-mutations=N] INPUT...; targets:\n");
    for (const auto& [name, one] : targets())
      std::fprintf(stderr, "  %.*s\n", static_cast<int>(name.size()), name.data());
    return 2;
  }
  constexpr std::string_view k_flag = "-mutations=";
  std::size_t mutations = 0;
  std::vector<std::filesystem::path> files;
  for (int i = 2; i < count; ++i) {
    const std::string_view word = arguments[i];
    if (word.starts_with(k_flag)) {
      std::from_chars(word.data() + k_flag.size(), word.data() + word.size(), mutations);
    } else if (std::filesystem::is_directory(word)) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(word))
        if (entry.is_regular_file()) files.push_back(entry.path());
    } else {
      files.emplace_back(word);
    }
  }
  std::ranges::sort(files);
  Damage damage;
  std::size_t runs = 0;
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    run(target->second, bytes);
    ++runs;
    if (bytes.size() > k_most_bytes) continue;
    for (std::size_t i = 0; i < mutations; ++i, ++runs) run(target->second, damage.apply(bytes));
  }
  std::printf("%zu inputs\n", runs);
  return runs > 0 ? 0 : 1;
}

}  // namespace

}  // namespace sagekit::test

int main(int count, char** arguments) { return sagekit::test::replay(count, arguments); }
