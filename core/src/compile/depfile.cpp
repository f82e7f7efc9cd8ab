#include "compile/depfile.hpp"

#include <unordered_set>

namespace sagekit {

std::vector<std::string> parse_depfile(std::string_view text) {
  std::vector<std::string> files;
  std::unordered_set<std::string> seen;
  std::string word;
  bool in_targets = true;  // what stands before the colon is made, not read
  const auto finish = [&] {
    if (!in_targets && !word.empty() && seen.insert(word).second) files.push_back(word);
    word.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\n';
    if (c == '\\' && (next == '\n' || next == '\r')) {
      finish();
      i += next == '\r' && i + 2 < text.size() && text[i + 2] == '\n' ? 2 : 1;
    } else if ((c == '\\' && (next == ' ' || next == '#')) || (c == '$' && next == '$')) {
      word += next;
      ++i;
    } else if (c == '\n' || c == '\r') {
      finish();
      in_targets = true;
    } else if (in_targets && c == ':' &&
               (next == ' ' || next == '\t' || next == '\n' || next == '\r' || next == '\\')) {
      word.clear();
      in_targets = false;
    } else if (c == ' ' || c == '\t') {
      finish();
    } else {
      word += c;
    }
  }
  finish();
  return files;
}

}  // namespace sagekit
