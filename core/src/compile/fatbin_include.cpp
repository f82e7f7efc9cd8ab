#include "compile/fatbin_include.hpp"

#include "support/format.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sagekit {

namespace {

constexpr std::size_t k_quad = 8, k_line = 4 * k_quad;

/// What fatbinary writes for these bytes: `".quad 0x00100001ba55ed50,0x0000000000001ba0,..\n"`, four quads a line, with
/// blanks between those of a last line that is not full (13.0).
std::string lines_of(std::string_view bytes) {
  std::string text;
  for (; bytes.size() >= k_quad; bytes.remove_prefix(std::min(k_line, bytes.size()))) {
    const auto quads = std::min(k_line, bytes.size()) / k_quad;
    text += "\".quad ";
    for (std::size_t q = 0; q < quads; ++q) {
      std::uint64_t quad = 0;
      for (std::size_t i = k_quad; i-- > 0;) quad = quad << 8 | static_cast<std::uint8_t>(bytes[q * k_quad + i]);
      if (q > 0) text += quads < k_line / k_quad ? ", " : ",";
      text += fmt::format("0x{:016x}", quad);
    }
    text += "\\n\"\n";
  }
  return text;
}

/// Is this `fatbin` written out? It is megabytes of text which one program wrote together with the file: its length,
/// its first and its last lines are looked at.
bool is_text_of(std::string_view lines, std::string_view fatbin) {
  constexpr std::size_t k_some = 64 * k_line;
  const auto full = fatbin.size() / k_line * k_line;
  const auto head = lines_of(fatbin.substr(0, std::min(full, k_some)));
  const auto tail = lines_of(fatbin.substr(full - std::min(full, k_some)));
  const auto line = lines_of(std::string(k_line, '\0')).size();
  return lines.size() == full / k_line * line + lines_of(fatbin.substr(full)).size() && lines.starts_with(head) &&
         lines.ends_with(tail);
}

}  // namespace

std::optional<std::string> with_included_fatbin(std::string_view text, std::string_view fatbin, std::string_view name) {
  constexpr std::string_view k_section = R"(".section .nv_fatbin, \"a\"\n")", k_label = "\"fatbinData:\\n\"\n",
                             k_after = R"(".text\n");)";
  constexpr std::size_t k_longest = 4096;  // of what is before and behind the code: it is a dozen lines
  const auto label = text.substr(0, k_longest).find(k_label);
  const auto last = text.size() - std::min(text.size(), k_longest);
  const auto after = text.substr(last).rfind(k_after);
  if (label == std::string_view::npos || after == std::string_view::npos || fatbin.empty() ||
      fatbin.size() % k_quad != 0 || last + after < label + k_label.size())
    return std::nullopt;
  const auto before = text.substr(0, label + k_label.size()), rest = text.substr(last + after);
  const auto size = fmt::format("fatbinData[{}]", fatbin.size() / k_quad);
  if (!is_text_of(text.substr(before.size(), last + after - before.size()), fatbin) || count_of(rest, size) != 1 ||
      count_of(before, k_section) != 1)
    return std::nullopt;
  return fmt::format("{}\".incbin \\\"{}\\\"\\n\"\n{}", before, name,
                     replace_all(std::string(rest), size, "fatbinData[]"));
}

}  // namespace sagekit
