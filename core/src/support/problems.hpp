#pragma once
// What a reader could not read, collected with its place and bounded in number.

#include <sagekit/diagnostic.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace sagekit {

/// Collects diagnostics about one file. Hostile input can be wrong in a million places: after `k_limit` only one more
/// is kept, an error that says so.
class Problems {
 public:
  explicit Problems(std::string where) : m_where(std::move(where)) {}

  void error(std::string_view code, std::string message, std::string hint = {}) {
    add(Severity::error, code, std::move(message), std::move(hint));
  }
  void warning(std::string_view code, std::string message, std::string hint = {}) {
    add(Severity::warning, code, std::move(message), std::move(hint));
  }
  void note(std::string_view code, std::string message, std::string hint = {}) {
    add(Severity::note, code, std::move(message), std::move(hint));
  }
  void add(Diagnostics more) {
    for (auto& one : more) keep(std::move(one));
  }

  const std::string& where() const { return m_where; }
  bool has_errors() const { return m_errors; }
  const Diagnostics& list() const { return m_list; }
  Diagnostics take() { return std::move(m_list); }

 private:
  static constexpr std::size_t k_limit = 200;

  void add(Severity severity, std::string_view code, std::string message, std::string hint) {
    keep({severity, std::string(code), std::move(message), {m_where, 0, 0, {}}, std::move(hint)});
  }
  void keep(Diagnostic one) {
    m_errors = m_errors || one.severity == Severity::error || m_list.size() >= k_limit;
    if (m_list.size() > k_limit) return;
    if (m_list.size() == k_limit)
      one = {Severity::error, "INS010", "more problems than are listed", {m_where, 0, 0, {}}, {}};
    m_list.push_back(std::move(one));
  }

  std::string m_where;
  Diagnostics m_list;
  bool m_errors = false;
};

}  // namespace sagekit
