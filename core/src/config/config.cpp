#include "config/config_keys.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/toml.hpp"

#include <sagekit/config.hpp>

#include <algorithm>
#include <optional>
#include <system_error>

namespace sagekit {

namespace {

namespace fs = std::filesystem;

class Reader {
 public:
  Reader(const TomlDocument& document, std::string_view origin)
      : m_document(document), m_folder(fs::path(origin).parent_path()) {
    m_config.origin = origin;
  }

  Config read() {
    TomlTable root = m_document.root();
    for (const auto& key : config_keys()) read_value(root, key, m_config.values);
    for (auto& table : root.tables("scheme")) read_scheme(table);
    for (auto& table : root.tables("overrides")) m_config.overrides.push_back(read_override(table));
    root.finish();
    return std::move(m_config);
  }

 private:
  void read_value(TomlTable& table, const ConfigKey& key, std::vector<ConfigValue>& values) {
    auto words = words_of(table, key);
    if (!words) return;
    for (std::size_t i = 0; i < words->size(); ++i) {
      auto& word = (*words)[i];
      if (key.form != ConfigForm::on && trim(word).empty())
        table.error(key.name, "CFG006", fmt::format("\"{}\" holds an empty string", key.name),
                    "leave the key out for the default");
      word = with_folder(key, std::move(word));
    }
    if (key.form == ConfigForm::arches) words = std::vector{join(*words, ";")};
    values.push_back({std::string(key.name), std::move(*words), m_document.where(table.path(key.name))});
  }

  void read_scheme(TomlTable& table) {
    NamingScheme scheme{table.required_string("name"), table.required_string("version"),
                        table.string("build").value_or(""), table.string("folder").value_or(""),
                        table.string("source").value_or("")};
    for (const char* key : {"name", "version"})
      if (table.has(key) && trim(key == std::string_view("name") ? scheme.name : scheme.version).empty())
        table.error(key, "CFG006", fmt::format("\"{}\" is empty", key), "the word for --naming, and its template");
    if (std::ranges::find(m_config.schemes, scheme.name, [](const ConfigScheme& one) { return one.scheme.name; }) !=
        m_config.schemes.end())
      table.error("name", "CFG006", fmt::format("there are two schemes \"{}\"", scheme.name), "choose another name");
    table.finish();
    m_config.schemes.push_back({std::move(scheme), m_document.where(table.path())});
  }

  CellOverride read_override(TomlTable& table) {
    CellOverride made;
    made.where = m_document.where(table.path());
    if (table.require("select")) {
      const auto select = table.one_or_more_strings("select");
      if (select &&
          (select->empty() || std::ranges::any_of(*select, [](const auto& glob) { return trim(glob).empty(); })))
        table.error("select", "CFG006", "\"select\" names no cells",
                    "a glob over cell ids, or a list of them: \"*-cu128-*\"");
      made.select = select.value_or(std::vector<std::string>{});
    }
    auto inherit = table.table("inherit");
    for (const auto& key : override_keys()) {
      std::vector<ConfigValue> values;
      read_value(table, key, values);
      auto& value = key.name == "arch" ? made.arch : key.name == "naming" ? made.naming : made.requires_dist;
      if (!values.empty()) value.words = std::move(values.front().words);
      if (inherit) value.merge = read_merge(*inherit, key, value);
    }
    if (inherit) inherit->finish();
    for (const auto& key : config_keys())
      if (!key.for_all.empty() && table.has(key.name)) {
        table.ignore(key.name);
        table.error(key.name, "CFG008", fmt::format("\"{}\" cannot differ between cells: {}", key.name, key.for_all),
                    "say it above the first [[overrides]], or on the command line");
      }
    table.finish();
    return made;
  }

  static Merge read_merge(TomlTable& inherit, const ConfigKey& key, const OverrideValue& value) {
    const auto rule = inherit.string(key.name);
    if (!rule || *rule == "none") return Merge::none;
    if (*rule != "append" && *rule != "prepend")
      inherit.error(key.name, "CFG006", fmt::format("\"{}\" is no merge rule", *rule),
                    suggestion(*rule, {"none", "append", "prepend"}));
    else if (!merges(key))
      inherit.error(key.name, "CFG006", fmt::format("\"{}\" is one word: it can only be replaced", key.name),
                    "leave the rule out");
    else if (value.words.empty())
      inherit.error(key.name, "CFG006",
                    fmt::format("this override has no \"{}\" that could be put beside another", key.name),
                    "give the key, or leave the rule out");
    return *rule == "append" ? Merge::append : Merge::prepend;
  }

  /// Nothing: it is absent, false or wrong (reported).
  static std::optional<std::vector<std::string>> words_of(TomlTable& table, const ConfigKey& key) {
    using enum ConfigForm;
    if (key.form == on) {
      if (!table.boolean(key.name).value_or(false)) return {};
      return std::vector<std::string>{""};
    }
    if (key.form == count) {
      const auto number = table.integer(key.name);
      if (!number) return {};
      if (*number < 1)
        table.error(key.name, "CFG006", fmt::format("\"{}\" is {}, not 1 or more", key.name, *number),
                    "leave the key out for what fits this machine");
      return std::vector{fmt::format("{}", *number)};
    }
    if (key.form == words || key.form == sources || key.form == arches) {
      auto list = key.form == arches ? table.one_or_more_strings(key.name) : table.optional_strings(key.name);
      if (list && list->empty())
        table.error(key.name, "CFG006", fmt::format("\"{}\" is an empty list", key.name),
                    "leave the key out for the default");
      return list;
    }
    auto text = table.string(key.name);
    if (!text) return {};
    if (key.form == name && (text->find('/') != text->npos || text->ends_with(".so")))
      table.error(key.name, "CFG006",
                  fmt::format("\"{}\" is a plugin file; here only a plugin's name can stand", *text),
                  "give the file with --plugin FILE, or its folder with SAGEKIT_PLUGIN_PATH");
    return std::vector{std::move(*text)};
  }

  std::string with_folder(const ConfigKey& key, std::string word) const {
    constexpr std::string_view k_folder = "folder:";
    if (key.form == ConfigForm::path) return (m_folder / word).string();
    if (key.form == ConfigForm::policy && word.find_first_of("./") != word.npos) return (m_folder / word).string();
    if (key.form == ConfigForm::sources && word.starts_with(k_folder))
      return std::string(k_folder) + (m_folder / word.substr(k_folder.size())).string();
    return word;
  }

  const TomlDocument& m_document;
  fs::path m_folder;
  Config m_config;
};

}  // namespace

std::expected<Config, Diagnostics> parse_config(std::string_view text, std::string_view origin) {
  const auto document = TomlDocument::parse(text, origin, "CFG");
  Config config;
  if (document.parsed()) config = Reader(document, origin).read();
  auto problems = document.diagnostics();
  if (!problems.empty()) return std::unexpected(std::move(problems));
  return config;
}

fs::path find_config(const fs::path& folder) {
  std::error_code error;
  // A link that leads nowhere is there: who reads it says so.
  const auto is_there = [&](const fs::path& path) { return fs::exists(fs::symlink_status(path, error)); };
  const auto own = folder / "sagekit.toml";
  fs::path nearest = is_there(own) ? own : fs::path();
  if (!nearest.empty()) return nearest;
  for (auto at = folder;; at = at.parent_path()) {
    if (nearest.empty() && is_there(at / "sagekit.toml")) nearest = at / "sagekit.toml";
    if (fs::exists(at / ".git", error)) return nearest;
    if (at == at.parent_path()) return {};
  }
}

}  // namespace sagekit
