#pragma once
// Dotted release numbers (CUDA 12.8, torch 2.11.0, Python 3.12) and ranges of them.

#include <sagekit/error.hpp>
#include <sagekit/export.hpp>

#include <compare>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// "12.8.1" -> {12, 8, 1}. Compares number by number; missing parts count as 0 ("12.8" == "12.8.0").
struct VersionNumber {
  std::vector<int> parts;

  SAGEKIT_API std::strong_ordering operator<=>(const VersionNumber& other) const;
  SAGEKIT_API bool operator==(const VersionNumber& other) const;
  int major() const { return parts.empty() ? 0 : parts[0]; }
  int minor() const { return parts.size() < 2 ? 0 : parts[1]; }
};

/// Digits and dots only; a local part ("+cu130") or a suffix ("rc1") is an error.
SAGEKIT_API Result<VersionNumber> parse_version_number(std::string_view text);
SAGEKIT_API std::string to_string(const VersionNumber& v);

/// The order of versions written out, "3.9" before "3.10" and that before "3.10t": runs of digits count as numbers.
SAGEKIT_API bool version_less(std::string_view a, std::string_view b);

/// A CUDA, Python or torch version, or the beginning of one, in every spelling that ids, tags and file names have:
/// "12.8" from 12.8, 128, cu128, cu12.8; "13" from 13, cu13. VER004 (usage) quotes what is none.
SAGEKIT_API Result<std::string> parse_cuda_version(std::string_view text);
/// "3.12" from 3.12, 312, cp312, py312, python312; "3.13t" from 3.13t, 313t, cp313t; "3" from 3.
SAGEKIT_API Result<std::string> parse_python_version(std::string_view text);
/// "2.11" from 2.11, torch2.11, torch211, pytorch211; "2.11.0" from 2.11.0, 2.11.0+cu130; "2" from 2.
SAGEKIT_API Result<std::string> parse_torch_version(std::string_view text);

/// Comma-separated comparisons, all of which must hold: ">=12.8,<14". Operators: >= > <= < == != ; "==2.9.*" matches a
/// prefix. The empty range holds for every version.
struct VersionRange {
  struct Term {
    std::string op;
    VersionNumber version;
    bool prefix = false;
    bool operator==(const Term&) const = default;
  };
  std::vector<Term> terms;
  std::string text;  ///< as written

  SAGEKIT_API bool contains(const VersionNumber& v) const;
  bool operator==(const VersionRange&) const = default;
};

SAGEKIT_API Result<VersionRange> parse_version_range(std::string_view text);

}  // namespace sagekit
