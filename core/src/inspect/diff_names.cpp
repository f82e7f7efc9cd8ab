#include "inspect/diff_names.hpp"

#include <charconv>

namespace sagekit {

namespace {

constexpr std::string_view k_marker = "_GLOBAL__N_", k_common = "12_GLOBAL__N_1";

/// The digits that end before `at` as a number; 0 when there are none, or too many.
std::size_t number_before(std::string_view text, std::size_t at, std::size_t& begin) {
  begin = at;
  while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
  std::size_t number = 0;
  if (at - begin > 4 || std::from_chars(text.data() + begin, text.data() + at, number).ec != std::errc()) return 0;
  return number;
}

}  // namespace

std::string without_unique_parts(std::string_view mangled) {
  std::string out;
  std::size_t copied = 0;
  for (std::size_t at = mangled.find(k_marker); at != std::string_view::npos; at = mangled.find(k_marker, at + 1)) {
    std::size_t begin = 0;
    const std::size_t length = number_before(mangled, at, begin);
    if (begin < copied || length < k_marker.size() || length > mangled.size() - at) continue;
    out += mangled.substr(copied, begin - copied);
    out += k_common;
    copied = at + length;
  }
  return out + std::string(mangled.substr(copied));
}

}  // namespace sagekit
