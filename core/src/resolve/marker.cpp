#include "resolve/marker.hpp"

#include "pypa/requirement_reader.hpp"
#include "pypa/version_order.hpp"
#include "support/text.hpp"

namespace sagekit {

namespace {

using Truth = std::optional<bool>;

Truth either(Truth a, Truth b) {
  if (a == Truth(true) || b == Truth(true)) return true;
  return a && b ? Truth(false) : std::nullopt;
}

Truth both(Truth a, Truth b) {
  if (a == Truth(false) || b == Truth(false)) return false;
  return a && b ? Truth(true) : std::nullopt;
}

/// What read_requirement found well formed, worked out.
class Marker {
 public:
  Marker(std::string_view text, const Target& target) : m_rest(text), m_target(target) {}

  Truth value() {
    Truth found = conjunction();
    while (word("or")) found = either(found, conjunction());
    return found;
  }

 private:
  struct Operand {
    std::optional<std::string> text;  ///< nothing: a variable that is not known
    std::string variable;
  };

  void space() { m_rest.remove_prefix(std::min(m_rest.find_first_not_of(" \t"), m_rest.size())); }

  bool word(std::string_view text) {
    space();
    if (!m_rest.starts_with(text)) return false;
    const auto next = m_rest.substr(text.size(), 1);
    if (!next.empty() && is_letter_or_digit(next[0])) return false;
    m_rest.remove_prefix(text.size());
    return true;
  }

  Truth conjunction() {
    Truth found = part();
    while (word("and")) found = both(found, part());
    return found;
  }

  Truth part() {
    space();
    if (m_rest.starts_with('(')) {
      m_rest.remove_prefix(1);
      const Truth found = value();
      space();
      if (m_rest.starts_with(')')) m_rest.remove_prefix(1);
      return found;
    }
    const Operand left = operand();
    space();
    std::string op;
    if (word("in"))
      op = "in";
    else if (word("not"))
      op = word("in") ? "not in" : "";
    else {
      const auto end = std::min(m_rest.find_first_not_of("=!<>~"), m_rest.size());
      op = m_rest.substr(0, end);
      m_rest.remove_prefix(end);
    }
    return compare(left, op, operand());
  }

  Operand operand() {
    space();
    if (m_rest.starts_with('"') || m_rest.starts_with('\'')) {
      const auto end = m_rest.find(m_rest.front(), 1);
      Operand literal{std::string(m_rest.substr(1, end == m_rest.npos ? end : end - 1)), {}};
      m_rest.remove_prefix(end == m_rest.npos ? m_rest.size() : end + 1);
      return literal;
    }
    std::size_t end = 0;
    while (end < m_rest.size() && (is_letter_or_digit(m_rest[end]) || m_rest[end] == '_' || m_rest[end] == '.')) ++end;
    Operand found{{}, std::string(m_rest.substr(0, end))};
    m_rest.remove_prefix(std::max<std::size_t>(end, m_rest.empty() ? 0 : end == 0 ? 1 : end));
    found.text = known(found.variable);
    return found;
  }

  std::optional<std::string> known(std::string_view variable) const {
    const bool windows = m_target.platform.starts_with("win_"), linux = m_target.platform.starts_with("linux_");
    const std::string python =
        m_target.python.ends_with('t') ? m_target.python.substr(0, m_target.python.size() - 1) : m_target.python;
    if (variable == "extra") return "";
    if (variable == "python_version" && !python.empty()) return python;
    if ((variable == "python_full_version" || variable == "implementation_version") && !m_target.python_release.empty())
      return m_target.python_release;
    if (variable == "implementation_name") return "cpython";
    if (variable == "platform_python_implementation" || variable == "python_implementation") return "CPython";
    if (!windows && !linux) return std::nullopt;
    if (variable == "sys_platform" || variable == "sys.platform") return windows ? "win32" : "linux";
    if (variable == "platform_system") return windows ? "Windows" : "Linux";
    if (variable == "os_name" || variable == "os.name") return windows ? "nt" : "posix";
    if (variable == "platform_machine" || variable == "platform.machine")
      return m_target.platform == "win_amd64"   ? "AMD64"
             : m_target.platform == "win_arm64" ? "ARM64"
                                                : m_target.platform.substr(6);
    return std::nullopt;
  }

  static Truth compare(const Operand& left, const std::string& op, const Operand& right) {
    if (!left.text || !right.text || op.empty()) return std::nullopt;
    if (op == "in") return right.text->find(*left.text) != std::string::npos;
    if (op == "not in") return right.text->find(*left.text) == std::string::npos;
    const auto is_version = [](const std::string& variable) {
      return variable == "python_version" || variable == "python_full_version" || variable == "implementation_version";
    };
    const bool version = is_version(left.variable) || is_version(right.variable);
    if (version && !left.variable.empty()) return specifiers_allow(op + *right.text, *left.text);
    if (version) return std::nullopt;
    if (op == "==" || op == "===") return *left.text == *right.text;
    if (op == "!=") return *left.text != *right.text;
    return std::nullopt;
  }

  std::string_view m_rest;
  const Target& m_target;
};

}  // namespace

std::optional<bool> marker_holds(std::string_view requirement, const Target& target) {
  const auto read = read_requirement(requirement);
  if (!read) return std::nullopt;
  return read->marker.empty() ? true : Marker(read->marker, target).value();
}

}  // namespace sagekit
