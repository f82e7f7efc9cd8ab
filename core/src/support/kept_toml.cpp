#include "support/kept_toml.hpp"

#include "support/file.hpp"
#include "support/json.hpp"
#include "support/sha256.hpp"

#include <sagekit/version.hpp>

#include <cmath>
#include <string>
#include <utility>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

using Node = TomlDocument::State::Node;

constexpr std::size_t k_hash_letters = 64;

/// A date is null: nobody reads one. False when JSON has no word for a value.
bool write(const Node& node, Json& json) {
  switch (node.kind) {
    case Node::Kind::string: json = node.text; return true;
    case Node::Kind::integer: json = node.integer; return true;
    case Node::Kind::number: json = node.number; return std::isfinite(node.number);
    case Node::Kind::boolean: json = node.boolean; return true;
    case Node::Kind::array:
      json = Json::array();
      for (const Node& item : node.items)
        if (!write(item, json.emplace_back())) return false;
      return true;
    case Node::Kind::table:
      json = Json::object();
      for (const Node& item : node.items)
        if (!write(item, json[item.key])) return false;
      return true;
    case Node::Kind::other: return true;
  }
  return false;
}

Node read(const Json& json) {
  Node node;
  if (json.is_string()) {
    node.kind = Node::Kind::string;
    node.text = json.get<std::string>();
  } else if (json.is_number_integer()) {
    node.kind = Node::Kind::integer;
    node.integer = json.get<std::int64_t>();
    node.number = static_cast<double>(node.integer);
  } else if (json.is_number()) {
    node.kind = Node::Kind::number;
    node.number = json.get<double>();
  } else if (json.is_boolean()) {
    node.kind = Node::Kind::boolean;
    node.boolean = json.get<bool>();
  } else if (json.is_array()) {
    node.kind = Node::Kind::array;
    for (const Json& item : json) node.items.push_back(read(item));
  } else if (json.is_object()) {
    node.kind = Node::Kind::table;
    for (const auto& [key, item] : json.items()) {
      node.items.push_back(read(item));
      node.items.back().key = key;
    }
  }
  return node;
}

}  // namespace

fs::path kept_toml_path(const fs::path& folder, std::string_view text) {
  return folder / (sha256_hex(SAGEKIT_VERSION "\n" + std::string(text)).substr(0, 32) + ".json");
}

std::optional<Node> read_kept_toml(const fs::path& file) {
  const auto bytes = read_file(file);
  if (!bytes || bytes->size() <= k_hash_letters) return std::nullopt;
  const std::string_view values = std::string_view(*bytes).substr(k_hash_letters);
  if (!bytes->starts_with(sha256_hex(values))) return std::nullopt;
  const Json json = parse_json(values);
  if (!json.is_object()) return std::nullopt;
  return read(json);
}

void keep_toml(const fs::path& file, const Node& root) {
  Json json;
  if (!write(root, json)) return;
  // Asking a question begins no store.
  if (std::error_code error; !fs::is_directory(file.parent_path().parent_path(), error)) return;
  const std::string values = json_line(json);
  [[maybe_unused]] const auto kept = write_file_atomic(file, sha256_hex(values) + values);
}

}  // namespace sagekit
