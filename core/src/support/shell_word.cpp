#include "support/text.hpp"

#include <sagekit/shell_word.hpp>

#include <algorithm>

namespace sagekit {

std::string shell_word(std::string_view word) {
  const bool plain = std::ranges::all_of(word, [](char c) {
    return is_letter_or_digit(c) || std::string_view("/._-+=:,@%").find(c) != std::string_view::npos;
  });
  return plain && !word.empty() ? std::string(word) : "'" + replace_all(std::string(word), "'", "'\\''") + "'";
}

std::string shell_line(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const auto& word : words) quoted.push_back(shell_word(word));
  return join(quoted, " ");
}

}  // namespace sagekit
