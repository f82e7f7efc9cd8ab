// Runs a fuzz target over files and folders of inputs, for compilers without libFuzzer: each as it is, and with
// -mutations=N also N times with random damage, the same in every run. Prints how many inputs ran; none is a failure,
// so that a lost corpus is noticed.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t k_most_bytes = std::size_t{256} << 10;  // larger seeds are only replayed

void run(const std::string& bytes) {
  // An exact copy on the heap, so that a sanitizer sees the first byte read behind it.
  const std::vector<std::uint8_t> copy(bytes.begin(), bytes.end());
  LLVMFuzzerTestOneInput(copy.data(), copy.size());
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

}  // namespace

int main(int count, char** arguments) {
  constexpr std::string_view k_flag = "-mutations=";
  std::size_t mutations = 0;
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < count; ++i) {
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
    run(bytes);
    ++runs;
    if (bytes.size() > k_most_bytes) continue;
    for (std::size_t i = 0; i < mutations; ++i, ++runs) run(damage.apply(bytes));
  }
  std::printf("%zu inputs\n", runs);
  return runs > 0 ? 0 : 1;
}
