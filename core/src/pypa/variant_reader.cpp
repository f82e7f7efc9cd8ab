#include "pypa/variant_reader.hpp"

#include "support/format.hpp"
#include "support/json.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <set>

namespace sagekit {

namespace {

constexpr std::size_t k_max_label = 16;

/// "0.1.1" of ".../v0.1.1.json".
std::string format_of(const std::string& schema) {
  const auto name = after_last(schema, '/');
  if (!name.starts_with('v') || !name.ends_with(".json")) return {};
  return name.substr(1, name.size() - 6);
}

class VariantReader {
 public:
  VariantText read(std::string_view text) {
    const Json root = parse_json(text);
    if (!root.is_object()) {
      fault("it is not a JSON object");
      return std::move(m_found);
    }
    m_found.schema = text_at(root, "$schema");
    if (m_found.schema.empty()) fault("it has no $schema");
    m_found.format = format_of(m_found.schema);
    // `providers` is the prototype's, PEP 825 leaves it to a later PEP, and uv 0.13 chooses nothing without it.
    std::set<std::string> known = {"$schema", "default-priorities", "providers", "variants"};
    if (m_found.format.starts_with("0.0.")) known.insert("static-properties");
    for (const auto& [key, value] : root.items())
      if (!known.contains(key)) fault(fmt::format("the key {} is not known", key));
    read_priorities(root);
    read_variants(root);
    return std::move(m_found);
  }

 private:
  void fault(std::string what) { m_found.faults.push_back(std::move(what)); }

  /// The texts of a list; a fault when it is none.
  std::vector<std::string> texts(const Json& list, const std::string& where) {
    std::vector<std::string> found;
    bool good = list.is_array();
    if (good)
      for (const auto& item : list) {
        if (item.is_string()) found.push_back(item.get<std::string>());
        good = good && item.is_string();
      }
    if (!good) fault(where + " is no list of texts");
    return found;
  }

  void read_priorities(const Json& root) {
    const auto found = root.find("default-priorities");
    if (found == root.end() || !found->is_object()) return fault("it has no default-priorities");
    const auto names = found->find("namespace");
    if (names == found->end()) return fault("default-priorities has no namespace list");
    m_found.namespaces = texts(*names, "default-priorities.namespace");
    if (m_found.namespaces.empty()) fault("default-priorities.namespace is empty");
  }

  void read_variants(const Json& root) {
    const auto found = root.find("variants");
    if (found == root.end() || !found->is_object()) return fault("it has no variants");
    for (const auto& [label, namespaces] : found->items()) {
      auto& properties = m_found.variants[label];
      if (!namespaces.is_object()) {
        fault(fmt::format("the variant {} is no object", label));
        continue;
      }
      for (const auto& [space, features] : namespaces.items()) {
        if (!features.is_object()) {
          fault(fmt::format("{} of the variant {} is no object", space, label));
          continue;
        }
        for (const auto& [feature, values] : features.items())
          properties[space][feature] = texts(values, fmt::format("{} :: {}", space, feature));
      }
    }
  }

  VariantText m_found;
};

bool is_made_of(std::string_view text, std::string_view also) {
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || also.find(c) != std::string_view::npos;
  });
}

}  // namespace

VariantText read_variant(std::string_view text) { return VariantReader().read(text); }

bool is_variant_label(std::string_view label) { return label.size() <= k_max_label && is_made_of(label, "_."); }

bool is_variant_word(std::string_view word, bool value) { return is_made_of(word, value ? "_." : "_"); }

}  // namespace sagekit
