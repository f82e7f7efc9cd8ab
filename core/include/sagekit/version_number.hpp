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
