#include "support/format.hpp"
#include "support/text.hpp"
#include "support/toml.hpp"

#include <sagekit/shell_word.hpp>
#include <sagekit/variables.hpp>

#include <algorithm>

namespace sagekit {

extern const std::string_view k_variables_toml;  // written at build time by cmake/EmbedText.cmake

namespace {

constexpr std::size_t k_longest_shown_value = 60;

struct VariableTable {
  std::vector<KnownVariable> rows;
  Diagnostics problems;
};

VariableTable read_variables() {
  VariableTable table;
  const auto document = TomlDocument::parse(k_variables_toml, "core/data/variables.toml", "SPEC");
  auto root = document.root();
  for (auto& row : root.tables("variable")) {
    const auto names = row.required_strings("names");
    const KnownVariable one{{},
                            row.string("effect").value_or(""),
                            row.string("why_not").value_or(""),
                            row.string("instead").value_or(""),
                            row.required_string("source"),
                            row.boolean("ambient").value_or(false)};
    if (one.effect.empty() && one.why_not.empty()) row.error("effect", "SPEC001", "neither effect nor why_not");
    if (one.why_not.empty() != one.instead.empty())
      row.error("instead", "SPEC001", "why_not and instead belong together");
    row.finish();
    for (const auto& name : names) {
      table.rows.push_back(one);
      table.rows.back().name = name;
    }
  }
  root.finish();
  table.problems = document.diagnostics();
  return table;
}

const VariableTable& variables() {
  static const VariableTable table = read_variables();
  return table;
}

}  // namespace

const std::vector<KnownVariable>& known_variables() { return variables().rows; }

const Diagnostics& known_variable_problems() { return variables().problems; }

std::string variable_answer(const KnownVariable& variable, std::string_view value) {
  if (variable.why_not.empty()) return {};
  const bool showable = value.size() <= k_longest_shown_value &&
                        std::ranges::none_of(value, [](unsigned char c) { return c < ' ' || c == 0x7f || c >= 0x80; });
  const auto word = showable ? shell_word(value) : std::string("...");
  return fmt::format("{}={} does nothing to a wheel: {}; use {}", variable.name, word, variable.why_not,
                     replace_all(variable.instead, "{value}", word));
}

}  // namespace sagekit
