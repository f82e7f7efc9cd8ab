#include "support/text.hpp"
#include "support/toml_node.hpp"

#include <algorithm>
#include <utility>

namespace sagekit {

namespace {

using Node = TomlDocument::State::Node;

// Each diagnostic carries its line: both limits keep a hostile text from asking for much memory.
constexpr std::size_t k_max_diagnostics = 200;
constexpr std::size_t k_max_line_bytes = 2000;

std::string_view kind_name(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::string: return "a string";
    case Node::Kind::integer: return "an integer";
    case Node::Kind::number: return "a number";
    case Node::Kind::boolean: return "a boolean";
    case Node::Kind::array: return "a list";
    case Node::Kind::table: return "a table";
    case Node::Kind::other: return "a date or time";
  }
  return "something else";
}

std::string line_of(std::string_view text, int line) {
  for (int at = 1; at < line; ++at) {
    const auto end = text.find('\n');
    if (end == text.npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  if (text.ends_with('\r')) text.remove_suffix(1);
  return line > 0 && text.size() <= k_max_line_bytes ? std::string(text) : std::string{};
}

}  // namespace

const TomlTable::Node* TomlTable::Node::entry(std::string_view name) const {
  if (kind != Kind::table) return nullptr;
  const auto found = std::ranges::find(items, name, &Node::key);
  return found == items.end() ? nullptr : &*found;
}

void TomlDocument::State::add(std::string code, std::string message, SourceLocation where, std::string hint) {
  if (diagnostics.size() >= k_max_diagnostics) return;
  diagnostics.push_back({Severity::error, std::move(code), std::move(message), std::move(where), std::move(hint)});
}

SourceLocation TomlDocument::State::place(int line, int column) const {
  return {origin, line, column, line_of(text, line)};
}

SourceLocation TomlDocument::State::place(const Node& node) const {
  if (!locate) return place(0, 0);
  const auto [line, column] = locate(node.id);
  return place(line, column);
}

SourceLocation TomlDocument::State::key_place(const Node& node, std::string_view key) const {
  SourceLocation where = place(node);
  const auto value_at = static_cast<std::size_t>(std::max(where.column, 1) - 1);
  if (const auto at = where.text.substr(0, value_at).rfind(key); at != std::string::npos) {
    where.column = static_cast<int>(at) + 1;
  }
  return where;
}

const TomlDocument::State::Node* TomlDocument::State::walk(std::string_view path, bool exact) const {
  const Node* at = &root;
  while (!path.empty()) {
    const auto end = path.find_first_of(".[", 1);
    std::string_view step = path.substr(0, end);
    path.remove_prefix(step.size());
    const Node* next = nullptr;
    if (step.starts_with('[')) {
      std::size_t index = 0;
      for (const char c : step.substr(1, step.find(']') - 1)) index = index * 10 + static_cast<std::size_t>(c - '0');
      if (index < at->items.size()) next = &at->items[index];
    } else {
      if (step.starts_with('.')) step.remove_prefix(1);
      next = at->entry(step);
    }
    if (next == nullptr) return exact ? nullptr : at;
    at = next;
  }
  return at;
}

TomlTable::TomlTable(std::shared_ptr<TomlDocument::State> state, const Node* node, std::string path)
    : m_state(std::move(state)), m_node(node), m_path(std::move(path)) {}

bool TomlTable::has(std::string_view key) const { return m_node->entry(key) != nullptr; }

std::vector<std::string> TomlTable::keys() const {
  std::vector<std::string> keys;
  for (const Node& node : m_node->items) keys.push_back(node.key);
  return keys;
}

std::string TomlTable::path() const { return m_path; }

std::string TomlTable::path(std::string_view key) const {
  return m_path.empty() ? std::string(key) : m_path + "." + std::string(key);
}

const TomlTable::Node* TomlTable::find(std::string_view key) {
  if (std::ranges::find(m_asked, key) == m_asked.end()) m_asked.emplace_back(key);
  return m_node->entry(key);
}

void TomlTable::wrong_type(std::string_view key, std::string_view wanted, const Node& found, std::string hint) const {
  m_state->add(
      m_state->prefix + "005",
      "\"" + std::string(key) + "\" must be " + std::string(wanted) + ", not " + std::string(kind_name(found.kind)),
      m_state->place(found), std::move(hint));
}

std::optional<std::string> TomlTable::string(std::string_view key) {
  const Node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind == Node::Kind::string) return node->text;
  wrong_type(key, "a string", *node, "put the value in quotes");
  return std::nullopt;
}

std::optional<std::int64_t> TomlTable::integer(std::string_view key) {
  const Node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind == Node::Kind::integer) return node->integer;
  wrong_type(key, "an integer", *node);
  return std::nullopt;
}

std::optional<double> TomlTable::number(std::string_view key) {
  const Node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind == Node::Kind::integer || node->kind == Node::Kind::number) return node->number;
  wrong_type(key, "a number", *node);
  return std::nullopt;
}

std::optional<bool> TomlTable::boolean(std::string_view key) {
  const Node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind == Node::Kind::boolean) return node->boolean;
  wrong_type(key, "true or false", *node);
  return std::nullopt;
}

std::optional<std::vector<std::string>> TomlTable::optional_strings(std::string_view key) {
  const Node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind != Node::Kind::array) {
    wrong_type(key, "a list of strings", *node, "put it in brackets: [\"...\"]");
    return std::nullopt;
  }
  std::vector<std::string> found;
  for (const Node& item : node->items) {
    if (item.kind == Node::Kind::string)
      found.push_back(item.text);
    else
      wrong_type(key, "a list of strings only", item, "put the value in quotes");
  }
  if (found.size() != node->items.size()) return std::nullopt;
  return found;
}

std::optional<std::vector<double>> TomlTable::numbers(std::string_view key) {
  const Node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind != Node::Kind::array) {
    wrong_type(key, "a list of numbers", *node);
    return std::nullopt;
  }
  std::vector<double> found;
  for (const Node& item : node->items) {
    if (item.kind == Node::Kind::integer || item.kind == Node::Kind::number)
      found.push_back(item.number);
    else
      wrong_type(key, "a list of numbers only", item);
  }
  if (found.size() != node->items.size()) return std::nullopt;
  return found;
}

std::vector<std::string> TomlTable::strings(std::string_view key) {
  return optional_strings(key).value_or(std::vector<std::string>{});
}

std::optional<std::vector<std::string>> TomlTable::one_or_more_strings(std::string_view key) {
  const Node* node = find(key);
  if (node == nullptr || node->kind == Node::Kind::array) return optional_strings(key);
  if (node->kind == Node::Kind::string) return std::vector{node->text};
  wrong_type(key, "a string or a list of strings", *node, "put it in quotes");
  return std::nullopt;
}

std::optional<TomlTable> TomlTable::table(std::string_view key) {
  const Node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind == Node::Kind::table) return TomlTable(m_state, node, path(key));
  wrong_type(key, "a table", *node, "write it once, as [" + path(key) + "]");
  return std::nullopt;
}

std::vector<TomlTable> TomlTable::tables(std::string_view key) {
  const Node* node = find(key);
  if (node == nullptr) return {};
  std::vector<TomlTable> found;
  if (node->kind != Node::Kind::array) {
    wrong_type(key, "a list of tables", *node, "write each as [[" + path(key) + "]]");
    return found;
  }
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    const Node& item = node->items[i];
    if (item.kind == Node::Kind::table) {
      found.push_back(TomlTable(m_state, &item, path(key) + "[" + std::to_string(i) + "]"));
    } else {
      wrong_type(key, "a list of tables only", item);
    }
  }
  return found;
}

bool TomlTable::require(std::string_view key) {
  if (find(key) != nullptr) return true;
  std::string in = m_path.empty() ? "the file" : "[" + m_path + "]";
  m_state->add(m_state->prefix + "003", "missing key \"" + std::string(key) + "\" in " + in, m_state->place(*m_node));
  return false;
}

std::string TomlTable::required_string(std::string_view key) {
  return require(key) ? string(key).value_or("") : std::string{};
}

std::vector<std::string> TomlTable::required_strings(std::string_view key) {
  return require(key) ? strings(key) : std::vector<std::string>{};
}

void TomlTable::error(std::string_view key, std::string code, std::string message, std::string hint) const {
  m_state->add(std::move(code), std::move(message), m_state->place(*m_state->walk(path(key))), std::move(hint));
}

void TomlTable::finish() {
  for (const Node& node : m_node->items) {
    const std::string& key = node.key;
    if (std::ranges::find(m_asked, key) != m_asked.end()) continue;
    std::string in = m_path.empty() ? std::string{} : " in [" + m_path + "]";
    m_state->add(m_state->prefix + "004", "unknown key \"" + key + "\"" + in, m_state->key_place(node, key),
                 suggestion(key, m_asked));
  }
}

}  // namespace sagekit
