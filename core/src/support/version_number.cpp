#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/version_number.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace sagekit {

namespace {

constexpr std::size_t k_longest_part = 9;  // fits an int

int part(const VersionNumber& v, std::size_t index) { return index < v.parts.size() ? v.parts[index] : 0; }

/// Do the first numbers of `v` equal `prefix`?
bool starts_with(const VersionNumber& v, const VersionNumber& prefix) {
  for (std::size_t i = 0; i < prefix.parts.size(); ++i)
    if (part(v, i) != prefix.parts[i]) return false;
  return true;
}

bool term_holds(const VersionRange::Term& term, const VersionNumber& v) {
  if (term.prefix) return starts_with(v, term.version) == (term.op == "==");
  const auto order = v <=> term.version;
  if (term.op == ">=") return order >= 0;
  if (term.op == "<=") return order <= 0;
  if (term.op == "==") return order == 0;
  if (term.op == "!=") return order != 0;
  if (term.op == ">") return order > 0;
  return order < 0;
}

Result<VersionRange::Term> parse_term(const std::string& text) {
  static constexpr std::array<std::string_view, 6> k_operators = {">=", "<=", "==", "!=", ">", "<"};
  VersionRange::Term term;
  for (const std::string_view op : k_operators)
    if (text.starts_with(op)) {
      term.op = op;
      break;
    }
  if (term.op.empty())
    return fail(ErrorKind::usage, "VER002", fmt::format("\"{}\" does not start with a comparison", text),
                "write >=12.8, <14, ==2.9.* and the like, separated by commas");
  std::string number = trim(text.substr(term.op.size()));
  if (number.ends_with(".*")) {
    if (term.op != "==" && term.op != "!=")
      return fail(ErrorKind::usage, "VER003", fmt::format("\"{}\": .* goes with == and != only", text));
    term.prefix = true;
    number.resize(number.size() - 2);
  }
  TRY_ASSIGN(term.version, parse_version_number(number));
  return term;
}

}  // namespace

std::strong_ordering VersionNumber::operator<=>(const VersionNumber& other) const {
  for (std::size_t i = 0; i < std::max(parts.size(), other.parts.size()); ++i)
    if (const auto order = part(*this, i) <=> part(other, i); order != 0) return order;
  return std::strong_ordering::equal;
}

bool VersionNumber::operator==(const VersionNumber& other) const { return (*this <=> other) == 0; }

Result<VersionNumber> parse_version_number(std::string_view text) {
  VersionNumber version;
  for (const std::string& digits : split(text, '.')) {
    if (!is_digits(digits) || digits.empty() || digits.size() > k_longest_part)
      return fail(ErrorKind::usage, "VER001", fmt::format("\"{}\" is not a version number", text),
                  "write digits and dots only, such as 12.8 or 2.11.0");
    int value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    version.parts.push_back(value);
  }
  return version;
}

std::string to_string(const VersionNumber& v) { return fmt::format("{}", fmt::join(v.parts, ".")); }

bool VersionRange::contains(const VersionNumber& v) const {
  return std::all_of(terms.begin(), terms.end(), [&](const Term& term) { return term_holds(term, v); });
}

Result<VersionRange> parse_version_range(std::string_view text) {
  VersionRange range;
  range.text = text;
  if (trim(text).empty()) return range;
  for (const std::string& piece : split(text, ',')) {
    TRY_ASSIGN(VersionRange::Term term, parse_term(trim(piece)));
    range.terms.push_back(std::move(term));
  }
  return range;
}

}  // namespace sagekit
