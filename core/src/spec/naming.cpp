#include "spec/naming_words.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/naming.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace sagekit {

namespace {

std::string sms_of(const std::vector<Arch>& arches) {
  std::vector<std::string> names;
  for (const Arch& arch : arches) names.push_back(without_dots("sm" + to_string(arch)));
  return join(names, ".");
}

std::unexpected<Error> bad_template(std::string_view text, std::string_view why, std::string hint) {
  return fail(ErrorKind::usage, "NAM010", fmt::format("the naming template \"{}\" {}", text, why), std::move(hint));
}

Result<std::string> value_of(std::string_view text, std::string_view word, const NamingWords& words) {
  std::vector<std::string> known;
  for (const auto& [name, value] : words) {
    if (name == word) return value;
    known.push_back(name);
  }
  return bad_template(text, fmt::format("has an unknown word \"{}\"", word), suggestion(word, known));
}

/// One stretch of a template between separators.
struct Piece {
  std::string separator;  ///< "+" or "." before it
  std::string text;
  std::string_view word;  ///< its first: "torch_minor"
  bool has_word = false;
  bool has_value = false;
};

}  // namespace

NamingWords naming_words(const NamingValues& values) {
  const bool is_post = values.release.starts_with("post") && is_digits(values.release.substr(4));
  return {{"version", values.version},
          {"torch", values.torch},
          {"torch_minor", without_patch(values.torch)},
          {"torch_digits", without_dots(values.torch)},
          {"torch_minor_digits", without_dots(without_patch(values.torch))},
          {"torch_min", values.torch_min},
          {"cuda", values.cuda},
          {"cuda_digits", without_dots(without_patch(values.cuda))},
          {"cuda_major", values.cuda.substr(0, values.cuda.find('.'))},
          {"date", values.date},
          {"commit7", values.commit.substr(0, 7)},
          {"sms", sms_of(values.arches)},
          {"arches", values.arch_set},
          {"cxx11_abi", values.cxx11_abi},
          {"post", is_post ? values.release : ""},
          {"fix", is_post ? "" : values.release},
          {"python", values.python}};
}

Result<std::string> expand_words(std::string_view text, const NamingWords& words) {
  // No file name holds one, and reading names marks a template's words by one.
  if (std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
    return bad_template(text, "has a control character", "write printable characters");
  std::vector<Piece> pieces(1);
  std::string literal;  // since the last separator or word: goes with the word after it
  const auto flush = [&] { pieces.back().text += std::exchange(literal, {}); };

  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '+' || c == '.') {
      flush();
      pieces.push_back({std::string(1, c), {}, {}, false, false});
    } else if (c == '{') {
      const auto end = text.find('}', i);
      if (end == std::string_view::npos) return bad_template(text, "has a { without its }", "write {version}");
      TRY_ASSIGN(const std::string value, value_of(text, text.substr(i + 1, end - i - 1), words));
      if (!pieces.back().has_word) pieces.back().word = text.substr(i + 1, end - i - 1);
      pieces.back().has_word = true;
      if (value.empty()) {
        literal.clear();
      } else {
        pieces.back().has_value = true;
        flush();
        pieces.back().text += value;
      }
      i = end;
    } else if (c == '}') {
      return bad_template(text, "has a } without its {", "write {version}");
    } else {
      literal += c;
    }
  }
  flush();

  std::string out;
  std::string_view owed;  // the + of a piece that went, for the next one of its group
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    const auto lacks = [](const Piece& one) { return one.has_word && !one.has_value; };
    // "torch.{torch_minor}": a label goes with the word that it begins.
    const bool names_one_that_lacks = !piece.has_word && !piece.text.empty() && i + 1 < pieces.size() &&
                                      lacks(pieces[i + 1]) && pieces[i + 1].word.starts_with(piece.text);
    if (lacks(piece) || names_one_that_lacks) {
      if (piece.separator == "+") owed = "+";
      continue;
    }
    if (!out.empty()) out += owed.empty() || piece.separator == "+" ? std::string_view(piece.separator) : owed;
    owed = {};
    out += piece.text;
  }
  return out;
}

Result<std::string> expand_template(std::string_view text, const NamingValues& values) {
  return expand_words(text, naming_words(values));
}

std::vector<NamingScheme> naming_schemes(std::span<const NamingScheme> more) {
  std::vector<NamingScheme> all(more.begin(), more.end());
  for (const auto* rows : {&builtin_schemes(), &published_schemes()}) all.insert(all.end(), rows->begin(), rows->end());
  return all;
}

}  // namespace sagekit
