#include "support/toml.hpp"

#include "support/kept_toml.hpp"
#include "support/text.hpp"
#include "support/toml_guard.hpp"
#include "support/toml_node.hpp"

#include <toml.hpp>

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <sstream>
#include <utility>

namespace sagekit {

namespace {

using Node = TomlDocument::State::Node;
using Values = std::vector<const toml::value*>;

std::pair<int, int> place_of(const toml::value& value) {
  const auto where = value.location();
#if TOML11_VERSION_MAJOR >= 4
  return {static_cast<int>(where.first_line_number()), static_cast<int>(where.first_column_number())};
#else
  return {static_cast<int>(where.line()), static_cast<int>(where.column())};
#endif
}

/// toml11's first line without its own function's name: "[error] toml::parse_array: bad comma" -> "bad comma".
std::string plain_words(std::string_view what) {
  what = what.substr(0, what.find('\n'));
  if (what.starts_with("[error] ")) what.remove_prefix(8);
  if (what.starts_with("toml::")) {
    if (const auto colon = what.find(": "); colon != what.npos) what.remove_prefix(colon + 2);
  }
  return std::string(what);
}

/// toml11 3's exceptions name the start of a region; the caret of the message's last excerpt names the fault itself.
[[maybe_unused]] std::pair<int, int> marked_place(std::string_view what, std::pair<int, int> fallback) {
  std::pair<int, int> found = fallback;
  int line = 0;
  for (const std::string& row : split(what, '\n')) {
    const auto bar = row.find('|');
    if (bar == row.npos) continue;
    if (const std::string number = trim(std::string_view(row).substr(0, bar)); !number.empty()) {
      line = is_digits(number) && number.size() < 9 ? std::stoi(number) : 0;
    } else if (const auto mark = row.find_first_of("^~", bar); mark != row.npos && line > 0) {
      found = {line, static_cast<int>(mark - bar) - 1};
    }
  }
  return found;
}

void add_syntax_error(TomlDocument::State& state, std::string message, int line, int column) {
  state.add(state.prefix + "001", "not valid TOML: " + std::move(message), state.place(line, column));
}

Node node_from(const toml::value& value, Values& values) {
  using Kind = Node::Kind;
  Node node;
  node.id = values.size();
  values.push_back(&value);
  if (value.is_string()) {
    node.kind = Kind::string;
#if TOML11_VERSION_MAJOR >= 4
    node.text = value.as_string();
#else
    node.text = value.as_string().str;
#endif
  } else if (value.is_integer()) {
    node.kind = Kind::integer;
    node.integer = value.as_integer();
    node.number = static_cast<double>(node.integer);
  } else if (value.is_floating()) {
    node.kind = Kind::number;
    node.number = value.as_floating();
  } else if (value.is_boolean()) {
    node.kind = Kind::boolean;
    node.boolean = value.as_boolean();
  } else if (value.is_array()) {
    node.kind = Kind::array;
    for (const auto& item : value.as_array()) node.items.push_back(node_from(item, values));
  } else if (value.is_table()) {
    node.kind = Kind::table;
    std::map<std::string_view, const toml::value*> entries;
    for (const auto& [key, entry] : value.as_table()) entries.emplace(key, &entry);
    for (const auto& [key, entry] : entries) {
      node.items.push_back(node_from(*entry, values));
      node.items.back().key = key;
    }
  }
  return node;
}

/// As node_from() does.
void number(Node& node, std::size_t& next) {
  node.id = next++;
  for (Node& item : node.items) number(item, next);
}

/// What toml11 read, and its values by their numbers.
struct Parsed {
  explicit Parsed(const std::string& text) {
    std::istringstream stream(text);
    // No file name: toml11 copies it into every value, and places are told in our own words.
    value = toml::parse(stream, std::string{});
    root = node_from(value, values);
  }
  toml::value value;
  Values values;
  Node root;
};

std::shared_ptr<TomlDocument::State> state_of(std::string_view text, std::string_view origin, std::string_view prefix) {
  auto state = std::make_shared<TomlDocument::State>();
  state->text = text;
  state->origin = origin;
  state->prefix = prefix;
  state->root.kind = Node::Kind::table;
  return state;
}

}  // namespace

TomlDocument::TomlDocument(std::shared_ptr<State> state) : m_state(std::move(state)) {}

TomlDocument parse_toml(std::string_view text, std::string_view origin, std::string_view prefix,
                        const std::filesystem::path& folder) {
  if (folder.empty()) return TomlDocument::parse(text, origin, prefix);
  const auto file = kept_toml_path(folder, text);
  auto kept = read_kept_toml(file);
  if (!kept) {
    auto document = TomlDocument::parse(text, origin, prefix);
    if (document.parsed()) keep_toml(file, TomlDocument::State::root_of(document));
    return document;
  }
  const auto state = state_of(text, origin, prefix);
  state->root = std::move(*kept);
  state->parsed = true;
  // Places are not kept: they are wanted only when something is wrong.
  state->locate = [&text = state->text, parsed = std::shared_ptr<const Parsed>()](std::size_t id) mutable {
    try {
      if (!parsed) parsed = std::make_shared<const Parsed>(text);
      return place_of(*parsed->values.at(id));
    } catch (const std::exception&) {  // somebody wrote values of his own there
      return std::pair(0, 0);
    }
  };
  std::size_t next = 0;
  number(state->root, next);
  return TomlDocument::State::document(state);
}

TomlDocument TomlDocument::parse(std::string_view text, std::string_view origin, std::string_view prefix) {
  auto state = state_of(text, origin, prefix);
  if (const auto fault = toml_fault(text)) {
    add_syntax_error(*state, fault->message, fault->line, fault->column);
    return TomlDocument(std::move(state));
  }
  try {
    const auto parsed = std::make_shared<Parsed>(state->text);
    state->root = std::move(parsed->root);
    state->locate = [parsed](std::size_t id) { return place_of(*parsed->values[id]); };
    state->parsed = true;
  } catch (const toml::syntax_error& e) {
#if TOML11_VERSION_MAJOR >= 4
    int line = 0, column = 0;
    std::string message = plain_words(e.what());
    if (!e.errors().empty()) {
      message = plain_words(e.errors().front().title());
      if (const auto& places = e.errors().front().locations(); !places.empty()) {
        line = static_cast<int>(places.front().first.first_line_number());
        column = static_cast<int>(places.front().first.first_column_number());
      }
    }
    add_syntax_error(*state, message, line, column);
#else
    const auto [line, column] =
        marked_place(e.what(), {static_cast<int>(e.location().line()), static_cast<int>(e.location().column())});
    add_syntax_error(*state, plain_words(e.what()), line, column);
#endif
  } catch (const std::exception& e) {
    add_syntax_error(*state, plain_words(e.what()), 0, 0);
  } catch (...) {
    add_syntax_error(*state, "the text could not be read", 0, 0);
  }
  return TomlDocument(std::move(state));
}

bool TomlDocument::parsed() const { return m_state->parsed; }

TomlTable TomlDocument::root() const { return TomlTable(m_state, &m_state->root, {}); }

Diagnostics TomlDocument::diagnostics() const {
  std::multimap<std::pair<int, int>, const Diagnostic*> by_place;  // equal places keep their order
  for (const Diagnostic& d : m_state->diagnostics) by_place.emplace(std::pair(d.where.line, d.where.column), &d);
  Diagnostics sorted;
  for (const auto& [place, d] : by_place) sorted.push_back(*d);
  return sorted;
}

SourceLocation TomlDocument::where(std::string_view path) const { return m_state->place(*m_state->walk(path)); }

bool TomlDocument::filled(std::string_view path) const {
  const Node* node = m_state->walk(path, true);
  if (node == nullptr) return false;
  const bool empty_text = node->kind == Node::Kind::string && node->text.empty();
  const bool empty_list = node->kind == Node::Kind::array && node->items.empty();
  return !empty_text && !empty_list;
}

void TomlDocument::error(std::string_view path, std::string code, std::string message, std::string hint) const {
  m_state->add(std::move(code), std::move(message), where(path), std::move(hint));
}

}  // namespace sagekit
