#pragma once
// Strict reading of TOML for every file sagekit has: asks for keys by name and type, collects what is wrong with line
// and column, and reports what nobody asked for. toml.cpp is the one place that includes toml11.

#include <sagekit/diagnostic.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

class TomlTable;

/// A parsed text and everything found wrong with it. Codes are the prefix and a number: 001 not TOML, 003 missing key,
/// 004 unknown key, 005 wrong type (docs/findings/SPEC.md for the prefix "SPEC").
class TomlDocument {
 public:
  /// Never throws. `origin` is the file name shown in diagnostics. Texts above 1 MiB or nested deeper than 32 are
  /// refused (001): toml11 recurses by nesting.
  static TomlDocument parse(std::string_view text, std::string_view origin, std::string_view prefix);

  bool parsed() const;  ///< false: not TOML; the root is empty and diagnostics() says why
  TomlTable root() const;
  /// So far, in the order of the text; the first 200 that were found.
  Diagnostics diagnostics() const;

  /// The place of a value such as `kernel[2].sources[0]`; of the nearest value around it when there is none.
  SourceLocation where(std::string_view path) const;
  /// Is there a value at `path`, other than "" and []?
  bool filled(std::string_view path) const;
  /// Adds an error at the value that `path` names.
  void error(std::string_view path, std::string code, std::string message, std::string hint = {}) const;

  struct State;

 private:
  explicit TomlDocument(std::shared_ptr<State> state);
  std::shared_ptr<State> m_state;
};

/// One table of a document; shares its ownership. A getter of an absent key returns nothing; of a key with the wrong
/// type it reports 005 and returns nothing. Keys are read once each, then `finish()` reports the others.
class TomlTable {
 public:
  bool has(std::string_view key) const;
  std::vector<std::string> keys() const;         ///< sorted; asks for none of them
  std::string path() const;                      ///< "kernel[2]"; "" for the root
  std::string path(std::string_view key) const;  ///< "kernel[2].sources"

  std::optional<std::string> string(std::string_view key);
  std::optional<std::int64_t> integer(std::string_view key);
  std::optional<double> number(std::string_view key);  ///< integers too
  std::optional<bool> boolean(std::string_view key);
  /// Absent and wrongly typed items (reported) both give nothing.
  std::optional<std::vector<std::string>> optional_strings(std::string_view key);
  std::optional<std::vector<double>> numbers(std::string_view key);
  std::vector<std::string> strings(std::string_view key);  ///< absent = empty
  /// A string or a list of strings.
  std::optional<std::vector<std::string>> one_or_more_strings(std::string_view key);
  std::optional<TomlTable> table(std::string_view key);
  /// `[[key]]` or an array of inline tables; absent = empty.
  std::vector<TomlTable> tables(std::string_view key);

  /// Reports 003 at the table when the key is not there.
  bool require(std::string_view key);
  std::string required_string(std::string_view key);
  std::vector<std::string> required_strings(std::string_view key);

  /// Adds an error at the key's value (`names[2]` is understood); at the table when there is none.
  void error(std::string_view key, std::string code, std::string message, std::string hint = {}) const;
  /// What finish() says nothing of.
  void ignore(std::string_view key) { find(key); }
  /// Reports 004 for each key that was never asked for, with the nearest one that was.
  void finish();
  /// The same of a row of our own data, which says where it is from.
  void finish_sourced() {
    required_string("source");
    finish();
  }

 private:
  friend class TomlDocument;
  struct Node;
  friend struct TomlDocument::State;
  TomlTable(std::shared_ptr<TomlDocument::State> state, const Node* node, std::string path);
  const Node* find(std::string_view key);
  void wrong_type(std::string_view key, std::string_view wanted, const Node& found, std::string hint = {}) const;

  std::shared_ptr<TomlDocument::State> m_state;
  const Node* m_node;
  std::string m_path;
  std::vector<std::string> m_asked;
};

}  // namespace sagekit
