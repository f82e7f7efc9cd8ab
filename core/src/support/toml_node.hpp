#pragma once
// The value tree behind TomlDocument and TomlTable; free of toml11, so that only toml.cpp pays for it.

#include "support/toml.hpp"

#include <cstddef>
#include <functional>
#include <utility>

namespace sagekit {

/// A TOML value in our own words. `id` counts the values, a table's in the order of their keys; it asks for the value's
/// place, which toml11 counts from the start of the text each time and which is wanted only when something is wrong.
struct TomlTable::Node {
  enum class Kind { string, integer, number, boolean, array, table, other };
  Kind kind = Kind::other;
  std::size_t id = 0;
  std::string text;
  std::int64_t integer = 0;
  double number = 0;
  bool boolean = false;
  std::string key;          ///< within its table
  std::vector<Node> items;  ///< of an array; of a table, sorted by key

  const Node* entry(std::string_view name) const;
};

struct TomlDocument::State {
  using Node = TomlTable::Node;

  std::string text, origin, prefix;
  std::function<std::pair<int, int>(std::size_t id)> locate;  ///< line and column of a node
  Node root;
  Diagnostics diagnostics;
  bool parsed = false;

  SourceLocation place(int line, int column) const;
  SourceLocation place(const Node& node) const;
  /// Where the key stands whose value is `node`.
  SourceLocation key_place(const Node& node, std::string_view key) const;
  /// The value at a path; otherwise the last one on the way that is there, or nullptr when `exact`.
  const Node* walk(std::string_view path, bool exact = false) const;
  static const Node& root_of(const TomlDocument& document) { return document.m_state->root; }
  static TomlDocument document(std::shared_ptr<State> state) { return TomlDocument(std::move(state)); }
  void add(std::string code, std::string message, SourceLocation where, std::string hint = {});
};

}  // namespace sagekit
