#include "build/fatbin_include.hpp"

#include "support/format.hpp"
#include "support/text.hpp"

#include <charconv>
#include <cstdint>

namespace sagekit {

namespace {

/// Takes the numbers of a .quad line, "0x00100001ba55ed50,0x0000000000001ba0", off the front of `fatbin`.
bool take_quads(std::string_view line, std::string_view& fatbin) {
  constexpr std::string_view k_hex = "0x";
  constexpr std::size_t k_quad = 8, k_bits = 8;
  while (!line.empty()) {
    if (!line.starts_with(k_hex)) return false;
    std::uint64_t quad = 0;
    const auto read = std::from_chars(line.data() + k_hex.size(), line.data() + line.size(), quad, 16);
    if (read.ec != std::errc() || fatbin.size() < k_quad) return false;
    for (std::size_t i = 0; i < k_quad; ++i, quad >>= k_bits)
      if (static_cast<std::uint8_t>(fatbin[i]) != static_cast<std::uint8_t>(quad)) return false;
    fatbin.remove_prefix(k_quad);
    line.remove_prefix(static_cast<std::size_t>(read.ptr - line.data()));
    while (line.starts_with(',') || line.starts_with(' ')) line.remove_prefix(1);
  }
  return true;
}

}  // namespace

std::optional<std::string> with_included_fatbin(std::string_view text, std::string_view fatbin, std::string_view name) {
  constexpr std::string_view k_section = R"(".section .nv_fatbin, \"a\"\n")", k_quads = "\".quad ", k_end = "\\n\"\n",
                             k_label = "\"fatbinData:\\n\"\n", k_after = R"(".text\n");)";
  const auto size = fmt::format("fatbinData[{}]", fatbin.size() / sizeof(std::uint64_t));
  const auto label = text.find(k_label);
  if (label == std::string_view::npos || fatbin.empty()) return std::nullopt;
  const auto before = text.substr(0, label + k_label.size());
  auto rest = text.substr(before.size());
  while (rest.starts_with(k_quads)) {
    const auto end = rest.find(k_end);
    if (end == std::string_view::npos) return std::nullopt;
    if (!take_quads(rest.substr(k_quads.size(), end - k_quads.size()), fatbin)) return std::nullopt;
    rest.remove_prefix(end + k_end.size());
  }
  if (!fatbin.empty() || !rest.starts_with(k_after) || count_of(rest, size) != 1 || count_of(before, k_section) != 1)
    return std::nullopt;
  return fmt::format("{}\".incbin \\\"{}\\\"\\n\"\n{}", before, name,
                     replace_all(std::string(rest), size, "fatbinData[]"));
}

}  // namespace sagekit
