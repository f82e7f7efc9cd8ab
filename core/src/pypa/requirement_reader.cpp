#include "pypa/requirement_reader.hpp"

#include "pypa/release_text.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <sagekit/naming.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace sagekit {

namespace {

constexpr int k_max_nesting = 50;
/// Longer ones first, so that "===" is not read as "==".
constexpr std::array<std::string_view, 8> k_operators = {"===", "==", "~=", "!=", "<=", ">=", "<", ">"};

/// The comparison that a text begins with; "" = none.
std::string_view leading_operator(std::string_view text) {
  const auto found = std::ranges::find_if(k_operators, [&](std::string_view one) { return text.starts_with(one); });
  return found == k_operators.end() ? std::string_view() : *found;
}

/// What is wrong with the version behind an operator; "" = nothing.
std::string version_fault(std::string_view op, std::string_view version) {
  if (op == "===") return version.empty() ? "a version is missing" : "";
  const bool prefix = version.ends_with(".*");
  if (prefix) version.remove_suffix(2);
  const std::string normal = normal_version(version);
  if (normal.empty()) return fmt::format("\"{}\" is no version", version);
  const bool exact = op == "==" || op == "!=";
  if (prefix && !exact) return fmt::format("{} cannot compare with .*", op);
  if (prefix && normal.find_first_not_of("0123456789.!") != std::string::npos) return "only a release may end in .*";
  if (!exact && normal.find('+') != std::string::npos) return fmt::format("{} cannot compare a local version", op);
  const auto release = normal.substr(0, normal.find_first_of("abcrpd"));
  const auto last = release.ends_with('.') ? release.size() - 1 : release.size();
  if (op == "~=" && release.substr(0, last).find('.') == std::string::npos)
    return "~= needs a version of two numbers or more";
  return {};
}

/// Reads from the left. Every `take` eats what it names or leaves all alone; `fault` is the first thing that is wrong.
class Reader {
 public:
  explicit Reader(std::string_view text) : m_text(text), m_rest(text) {}

  std::expected<Requirement, std::string> requirement() {
    Requirement found;
    take_space();
    found.name = take_identifier();
    if (found.name.empty()) return fault("a project name");
    take_space();
    if (!take_extras(found.extras)) return fault("the end of the extras");
    take_space();
    const bool direct = take("@");
    if (direct) {
      take_space();
      const auto end = std::min(m_rest.find_first_of(" \t"), m_rest.size());
      found.url = m_rest.substr(0, end);
      if (found.url.empty()) return fault("an address after @");
      m_rest.remove_prefix(end);
      const bool spaced = take_space();
      if (!m_rest.empty() && !spaced) return fault("a space after the address");
    } else if (!take_specifiers(found.specifiers)) {
      return fault("a version specifier");
    }
    take_space();
    if (m_rest.empty()) return found;
    if (!take(";"))
      return fault(found.specifiers.empty() ? "a version specifier, ; or the end" : "a comma, ; or the end");
    found.marker = trim(m_rest);
    if (!take_marker(found.marker_extras, 0)) return fault("a marker");
    take_space();
    if (!m_rest.empty()) return fault("the end of the marker");
    return found;
  }

 private:
  std::unexpected<std::string> fault(std::string_view wanted) const {
    return std::unexpected(fmt::format("{} is expected at column {}", wanted, m_text.size() - m_rest.size() + 1));
  }

  bool take(std::string_view word) {
    if (!m_rest.starts_with(word)) return false;
    m_rest.remove_prefix(word.size());
    return true;
  }

  bool take_space() {
    const auto end = std::min(m_rest.find_first_not_of(" \t"), m_rest.size());
    m_rest.remove_prefix(end);
    return end > 0;
  }

  /// A letter or digit, then those and "._-", up to the last that may end a word.
  std::string take_identifier() {
    if (m_rest.empty() || !is_letter_or_digit(m_rest.front())) return {};
    std::size_t end = 0;
    for (std::size_t i = 0; i < m_rest.size(); ++i) {
      const char c = m_rest[i];
      if (is_letter_or_digit(c) || c == '_')
        end = i + 1;
      else if (c != '.' && c != '-')
        break;
    }
    std::string word(m_rest.substr(0, end));
    m_rest.remove_prefix(end);
    return word;
  }

  bool take_extras(std::vector<std::string>& extras) {
    if (!take("[")) return true;
    take_space();
    for (auto extra = take_identifier(); !extra.empty(); extra = take_identifier()) {
      extras.push_back(std::move(extra));
      take_space();
      if (!take(",")) break;
      take_space();
      if (m_rest.starts_with(']')) return false;
    }
    take_space();
    return take("]");
  }

  /// Comparisons between commas, in brackets or not; none at all is fine.
  bool take_specifiers(std::string& specifiers) {
    const bool bracket = take("(");
    take_space();
    const std::string_view begin = m_rest;
    const auto text = [&] { return begin.substr(0, begin.size() - m_rest.size()); };
    while (take_specifier()) {
      specifiers = text();
      take_space();
      if (!take(",")) break;
      take_space();
    }
    take_space();
    return !bracket || take(")");
  }

  bool take_specifier() {
    const std::string_view before = m_rest;
    const auto op = leading_operator(m_rest);
    if (op.empty()) return false;
    take(op);
    take_space();
    // Even the text behind "===" ends at a comma: installers split the list before they read its parts.
    const auto end = std::min(m_rest.find_first_of(" \t\n\r\v\f,;)"), m_rest.size());
    if (version_fault(op, m_rest.substr(0, end)).empty()) {
      m_rest.remove_prefix(end);
      return true;
    }
    m_rest = before;
    return false;
  }

  bool take_word(std::string_view word) {
    if (!m_rest.starts_with(word)) return false;
    const auto next = m_rest.substr(word.size(), 1);
    if (!next.empty() && (is_letter_or_digit(next[0]) || next[0] == '_')) return false;
    return take(word);
  }

  bool take_marker(std::vector<std::string>& extras, int depth) {
    if (depth > k_max_nesting || !take_marker_part(extras, depth)) return false;
    while (take_word("and") || take_word("or"))
      if (!take_marker_part(extras, depth)) return false;
    return true;
  }

  bool take_marker_part(std::vector<std::string>& extras, int depth) {
    take_space();
    if (take("(")) {
      take_space();
      if (!take_marker(extras, depth + 1)) return false;
      take_space();
      if (!take(")")) return false;
      take_space();
      return true;
    }
    const auto left = take_marker_value();
    take_space();
    if (!left || !take_comparison()) return false;
    take_space();
    const auto right = take_marker_value();
    if (!right) return false;
    take_space();
    if (left->variable && left->text == "extra" && !right->variable) extras.push_back(right->text);
    if (right->variable && right->text == "extra" && !left->variable) extras.push_back(left->text);
    return true;
  }

  bool take_comparison() {
    if (take_word("in")) return true;
    if (take_word("not")) return take_space() && take_word("in");
    const auto op = leading_operator(m_rest);
    return !op.empty() && take(op);
  }

  struct Value {
    bool variable = false;
    std::string text;
  };

  std::optional<Value> take_marker_value() {
    static constexpr std::array<std::string_view, 20> k_variables = {"python_full_version",
                                                                     "python_version",
                                                                     "os_name",
                                                                     "os.name",
                                                                     "sys_platform",
                                                                     "sys.platform",
                                                                     "platform_release",
                                                                     "platform_system",
                                                                     "platform_version",
                                                                     "platform.version",
                                                                     "platform_machine",
                                                                     "platform.machine",
                                                                     "platform_python_implementation",
                                                                     "platform.python_implementation",
                                                                     "python_implementation",
                                                                     "implementation_name",
                                                                     "implementation_version",
                                                                     "extras",
                                                                     "extra",
                                                                     "dependency_groups"};
    // PEP 825's markers, read only by tools that know variants.
    static constexpr std::array<std::string_view, 4> k_variant = {"variant_label", "variant_properties",
                                                                  "variant_features", "variant_namespaces"};
    for (const auto one : k_variables)
      if (take_word(one)) return Value{true, std::string(one)};
    for (const auto one : k_variant)
      if (take_word(one)) return Value{true, std::string(one)};
    const char quote = m_rest.empty() ? ' ' : m_rest.front();
    if (quote != '\'' && quote != '"') return {};
    const auto end = m_rest.find(quote, 1);
    if (end == std::string_view::npos) return {};
    Value value{false, std::string(m_rest.substr(1, end - 1))};
    m_rest.remove_prefix(end + 1);
    return value;
  }

  std::string_view m_text, m_rest;
};

/// "2.7" of "==2.7.*,!=2.7.1"; "" = no term names one release, at least to its minor number.
std::string release_of(std::string_view specifiers) {
  for (const auto& term : split(specifiers, ',')) {
    if (!term.starts_with("==") || term.starts_with("===")) continue;
    std::string version = term.substr(2, term.find('+') - 2);
    if (version.ends_with(".*")) version.resize(version.size() - 2);
    const auto dot = version.find('.');
    if (dot != std::string::npos && is_digits(version.substr(0, dot)) && is_digits(version.substr(dot + 1, 1)))
      return version;
  }
  return {};
}

/// Of everybody who installs it, and not only with an extra.
bool asks_for(const std::string& line, std::string_view name) {
  if (requirement_name(line) != name) return false;
  const auto read = Reader(line).requirement();
  return !read || read->marker_extras.empty();
}

}  // namespace

std::expected<Requirement, std::string> read_requirement(std::string_view text) { return Reader(text).requirement(); }

std::string specifier_fault(std::string_view specifiers) {
  for (const auto& part : split(specifiers, ',')) {
    const std::string one = trim(part);
    if (one.empty()) continue;
    const auto op = leading_operator(one);
    if (op.empty()) return fmt::format("\"{}\" does not begin with a comparison", one);
    if (auto fault = version_fault(op, trim(one.substr(op.size()))); !fault.empty()) return fault;
  }
  return {};
}

bool is_project_name(std::string_view text) {
  return !text.empty() && is_letter_or_digit(text.front()) && is_letter_or_digit(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-'; });
}

std::string requirement_name(std::string_view requirement) {
  const auto end = requirement.find_first_of(" \t[(<>=!~;@");
  return normalized_project(requirement.substr(0, end));
}

std::string requirement_range(std::string_view requirement) {
  requirement = requirement.substr(0, requirement.find(';'));
  const auto begin = requirement.find_first_of("<>=!~");
  if (begin == std::string_view::npos) return {};
  return replace_all(replace_all(trim(requirement.substr(begin)), ")", ""), " ", "");
}

const std::string* find_requirement(const std::vector<std::string>& requirements, std::string_view name) {
  const auto found = std::ranges::find(requirements, name, requirement_name);
  return found == requirements.end() ? nullptr : &*found;
}

std::string required_range(const std::vector<std::string>& requirements, std::string_view name) {
  std::string range;
  for (const auto& line : requirements) {
    if (!asks_for(line, name)) continue;
    const auto one = requirement_range(line);
    if (one.empty() || (!range.empty() && one != range)) return {};
    range = one;
  }
  return range;
}

std::string pinned_release(const std::vector<std::string>& requirements, std::string_view name) {
  std::string pinned;
  for (const auto& line : requirements) {
    if (!asks_for(line, name)) continue;
    const auto one = release_of(requirement_range(line));
    if (one.empty() || (!pinned.empty() && one != pinned)) return {};
    pinned = one;
  }
  return pinned;
}

}  // namespace sagekit
