#pragma once
// Golden files: text that is compared byte for byte with a committed file, and written there again with
// SAGEKIT_ACCEPT=1.

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace sagekit::test {

/// The first line in which two texts differ, for a message that a person can use.
inline std::string first_difference(std::string_view wanted, std::string_view got) {
  std::size_t line = 1, at = 0;
  const auto line_of = [](std::string_view text, std::size_t from) {
    return from < text.size() ? std::string(text.substr(from, text.find('\n', from) - from)) : std::string("(end)");
  };
  for (std::size_t i = 0; i < wanted.size() && i < got.size() && wanted[i] == got[i]; ++i)
    if (wanted[i] == '\n') {
      ++line;
      at = i + 1;
    }
  return "line " + std::to_string(line) + "\n  golden: " + line_of(wanted, at) + "\n  now:    " + line_of(got, at);
}

/// Compares with a committed file, whose path is given from the repository's root.
inline void check_committed(const std::string& name, const std::string& text) {
  const auto path = std::filesystem::path(SAGEKIT_SOURCE_DIR) / name;
  const char* accept = std::getenv("SAGEKIT_ACCEPT");
  if (accept && std::string_view(accept) == "1") {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    MESSAGE("accepted ", name);
  }
  std::ifstream file(path, std::ios::binary);
  const std::string golden{std::istreambuf_iterator<char>(file), {}};
  INFO(name, " differs; run with SAGEKIT_ACCEPT=1 if that is meant");
  INFO(first_difference(golden, text));
  CHECK_MESSAGE(static_cast<bool>(golden == text), "golden file");
}

/// Compares with tests/golden/`name`.
inline void check_golden(const std::string& name, const std::string& text) {
  check_committed("tests/golden/" + name, text);
}

}  // namespace sagekit::test
