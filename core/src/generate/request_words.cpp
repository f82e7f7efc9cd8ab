#include "generate/request_words.hpp"

#include "generate/quote.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

namespace sagekit {

namespace {

std::string toml_list(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const auto& word : words) quoted.push_back(toml_text(word));
  return "[" + join(quoted, ", ") + "]";
}

std::string override_value(std::string_view key, const OverrideValue& value, bool list) {
  if (value.words.empty()) return "";
  return fmt::format("{} = {}\n", key, list ? toml_list(value.words) : toml_text(value.words.front()));
}

std::string inherit(const CellOverride& row) {
  std::vector<std::string> merged;
  const auto add = [&](std::string_view key, const OverrideValue& value) {
    if (value.merge != Merge::none)
      merged.push_back(fmt::format("{} = \"{}\"", key, value.merge == Merge::append ? "append" : "prepend"));
  };
  add("arch", row.arch);
  add("requires-dist", row.requires_dist);
  return merged.empty() ? "" : "inherit = { " + join(merged, ", ") + " }\n";
}

}  // namespace

std::vector<std::string> request_words(const Request& request) {
  std::vector<std::string> words;
  const auto add = [&](std::string_view flag, const std::string& value) {
    if (value.starts_with('-'))  // not to be taken for a flag
      words.push_back(fmt::format("{}={}", flag, value));
    else if (!value.empty())
      words.insert(words.end(), {std::string(flag), value});
  };
  const auto add_all = [&](std::string_view flag, const std::vector<std::string>& values) {
    for (const auto& value : values) add(flag, value);
  };
  add("--profile", request.profile);
  add_all("--cells", request.cells);
  add("--python", join(request.pythons, ","));
  add("--torch", join(request.torches, ","));
  add("--cuda", join(request.cudas, ","));
  add("--platform", join(request.platforms, ","));
  add("--revision", request.revision);
  if (!any_says(request.overrides, &CellOverride::naming)) add("--naming", request.naming);
  if (request.backend != Backend::direct) add("--backend", std::string(to_string(request.backend)));
  add_all("--allow-defect", request.allowed_defects);
  return words;
}

std::string flag_arches(const Request& request) {
  return any_says(request.overrides, &CellOverride::arch) ? "" : request.arches;
}

std::string overrides_toml(const Request& request) {
  std::string text;
  const auto add = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) text += fmt::format("{} = {}\n", key, toml_text(value));
  };
  if (any_says(request.overrides, &CellOverride::arch)) add("arch", request.arches);
  if (any_says(request.overrides, &CellOverride::naming)) add("naming", request.naming);
  for (const auto& row : request.schemes) {
    text += "\n[[scheme]]\n";
    add("name", row.name), add("version", row.version), add("build", row.build);
    add("folder", row.folder), add("source", row.source);
  }
  for (const auto& row : request.overrides)
    text += fmt::format("\n[[overrides]]\nselect = {}\n{}{}{}{}", toml_list(row.select), inherit(row),
                        override_value("arch", row.arch, false), override_value("naming", row.naming, false),
                        override_value("requires-dist", row.requires_dist, true));
  return text;
}

Status check_request(const Request& request) {
  for (const auto& word : request_words(request)) TRY(check_word("the word", word));
  TRY(check_word("the arch list", request.arches));
  return check_word("the overrides", replace_all(overrides_toml(request), "\n", " "));
}

}  // namespace sagekit
