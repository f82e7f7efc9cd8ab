#pragma once
// Folders and files that a test makes, and what is in one.

#include "support/file.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

namespace sagekit::test {

namespace fs = std::filesystem;

inline TemporaryFolder temporary() {
  return std::move(*TemporaryFolder::create(fs::temp_directory_path(), "sagekit ü"));
}

inline void write(const fs::path& path, const std::string& text) {
  fs::remove(path);
  REQUIRE(write_file_atomic(path, text));
}

inline std::string text_of(const fs::path& path) {
  auto text = read_file(path);
  REQUIRE(text);
  return *text;
}

}  // namespace sagekit::test
