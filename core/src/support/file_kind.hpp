#pragma once
// What a file is that should have been a wheel or a module and is neither: named, with what to do about it.

#include "support/bytes.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace sagekit {

struct FileKind {
  std::string_view code;  ///< INS050 and on
  std::string what;       ///< "a Git LFS pointer instead of the file"
  std::string_view hint;
};

/// By its first bytes: pointers, web pages, error answers, other archives, pictures, empty and blank files, a zip
/// archive without an end. Nothing when it is none of these. Reads at
/// most 64 KiB at each end, and of blank files all.
std::optional<FileKind> other_kind(Bytes file);

}  // namespace sagekit
