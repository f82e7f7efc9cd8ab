#pragma once
// Names in a foreign string table, with a bound on the work that a hostile table can cause.

#include "support/bytes.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace sagekit {

/// A million entries may all point at one huge string: the sum of all names read is bounded by a multiple of the
/// table's size. After the first name that cannot be read, none can.
class StringTable {
 public:
  StringTable() = default;
  explicit StringTable(Bytes table) : m_table(table), m_budget(table.size() * 4 + (1 << 20)) {}

  /// The NUL-terminated name at `offset`; nothing when it lies outside the table or the budget is spent.
  std::optional<std::string_view> at(std::uint64_t offset) {
    const auto name = m_budget == 0 ? std::nullopt : m_table.c_string(offset);
    if (!name || name->size() >= m_budget) {
      m_budget = 0;
      return std::nullopt;
    }
    m_budget -= name->size() + 1;
    return name;
  }
  /// Does the name at `offset` begin so? Looks at no more of it, and costs nothing of the budget.
  bool begins(std::uint64_t offset, std::string_view word) const { return m_table.from(offset).starts_with(word); }
  bool broken() const { return m_budget == 0; }

 private:
  Bytes m_table;
  std::uint64_t m_budget = 0;
};

}  // namespace sagekit
