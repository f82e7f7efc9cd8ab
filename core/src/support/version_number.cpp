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

/// What is left behind the first of `prefixes` that the text begins with.
std::string_view without_prefix(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  for (const auto prefix : prefixes)
    if (text.size() > prefix.size() && text.starts_with(prefix)) return text.substr(prefix.size());
  return text;
}

/// "128" -> "12.8": `major_digits` digits, a dot, the rest. Dotted text stays.
Result<std::string> dotted_version(std::string_view text, std::string_view number, std::size_t major_digits,
                                   std::string_view what, std::string hint) {
  constexpr std::size_t k_minor_digits = 2;
  std::string version(number);
  if (is_digits(number) && number.size() > major_digits && number.size() <= major_digits + k_minor_digits)
    version.insert(major_digits, ".");
  if (const auto parsed = parse_version_number(version);
      parsed && parsed->parts.front() > 0 && (parsed->parts.size() > 1 || number.size() <= major_digits))
    return version;
  return fail(ErrorKind::usage, "VER004", fmt::format("\"{}\" is no {} version", text, what), std::move(hint));
}

}  // namespace

bool version_less(std::string_view a, std::string_view b) {
  const auto whole_a = a, whole_b = b;
  const auto digits_at = [](std::string_view text) {
    return text.substr(0, std::min(text.find_first_not_of("0123456789"), text.size()));
  };
  while (!a.empty() && !b.empty()) {
    auto left = digits_at(a), right = digits_at(b);
    const auto left_size = std::max<std::size_t>(left.size(), 1), right_size = std::max<std::size_t>(right.size(), 1);
    if (!left.empty() && !right.empty()) {
      left.remove_prefix(std::min(left.find_first_not_of('0'), left.size()));
      right.remove_prefix(std::min(right.find_first_not_of('0'), right.size()));
      if (left.size() != right.size()) return left.size() < right.size();
      if (left != right) return left < right;
    } else if (a.front() != b.front()) {
      return a.front() < b.front();
    }
    a.remove_prefix(left_size);
    b.remove_prefix(right_size);
  }
  if (a.empty() && b.empty()) return whole_a < whole_b;  // "2.08" and "2.8" are two texts
  return a.empty();
}

Result<std::string> parse_cuda_version(std::string_view text) {
  return dotted_version(text, without_prefix(text, {"cuda", "cu"}), 2, "CUDA", "write it as 12.8, cu128 or 13");
}

Result<std::string> parse_python_version(std::string_view text) {
  auto number = without_prefix(text, {"cpython", "python", "cp", "py"});
  const bool free_threaded = number.ends_with('t');
  if (free_threaded) number.remove_suffix(1);
  TRY_ASSIGN(auto version, dotted_version(text, number, 1, "Python", "write it as 3.12, cp312 or 312"));
  return free_threaded ? version + "t" : version;
}

Result<std::string> parse_torch_version(std::string_view text) {
  auto number = without_prefix(text, {"pytorch", "torch"});
  number = number.substr(0, number.find('+'));
  return dotted_version(text, number, 1, "torch", "write it as 2.11, 2.11.0 or torch2.11");
}

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
