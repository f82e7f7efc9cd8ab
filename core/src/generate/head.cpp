#include "generate/head.hpp"

#include "generate/quote.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"

namespace sagekit {

namespace {

// Every format that is generated has "#" comments. A Dockerfile reads "# name=value" lines at its top as directives:
// these lines are none, and end them.
constexpr std::string_view k_digest_line = "# sagekit-sha256: ";
constexpr std::size_t k_hex = 64;

}  // namespace

std::string with_head(std::string_view text, std::string_view command) {
  const auto first = text.starts_with("#!") ? text.find('\n') + 1 : 0;
  const auto before = fmt::format("{}# Made by: {}\n", text.substr(0, first), comment_text(command));
  const auto rest = text.substr(first);
  return fmt::format("{}{}{}\n{}", before, k_digest_line, sha256_hex(fmt::format("{}{}", before, rest)), rest);
}

bool is_as_generated(std::string_view text) {
  auto at = text.find(k_digest_line);
  // The digest's own line, near the top: not a text that speaks of it.
  if (at == text.npos || at == 0 || text[at - 1] != '\n') return false;
  const auto digest = text.substr(at + k_digest_line.size(), k_hex);
  const auto end = at + k_digest_line.size() + k_hex;
  if (end >= text.size() || text[end] != '\n') return false;
  return sha256_hex(fmt::format("{}{}", text.substr(0, at), text.substr(end + 1))) == digest;
}

}  // namespace sagekit
