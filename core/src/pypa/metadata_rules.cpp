#include "pypa/metadata_rules.hpp"

#include "support/text.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace sagekit {

extern const std::string_view k_spdx_licenses_txt;  // written at build time by cmake/EmbedText.cmake

namespace {

// packaging.python.org, core metadata specification; the first versions are those that packaging.metadata records.
constexpr auto k_fields = std::to_array<MetadataField>({
    {"Author", "1.0", false},
    {"Author-email", "1.0", false},
    {"Classifier", "1.1", true},
    {"Description", "1.0", false},
    {"Description-Content-Type", "2.1", false},
    {"Download-URL", "1.1", false},
    {"Dynamic", "2.2", true},
    {"Home-page", "1.0", false},
    {"Import-Name", "2.5", true},
    {"Import-Namespace", "2.5", true},
    {"Keywords", "1.0", false},
    {"License", "1.0", false},
    {"License-Expression", "2.4", false},
    {"License-File", "2.4", true},
    {"Maintainer", "1.2", false},
    {"Maintainer-email", "1.2", false},
    {"Metadata-Version", "1.0", false},
    {"Name", "1.0", false},
    {"Obsoletes", "1.1", true},
    {"Obsoletes-Dist", "1.2", true},
    {"Platform", "1.0", true},
    {"Project-URL", "1.2", true},
    {"Provides", "1.1", true},
    {"Provides-Dist", "1.2", true},
    {"Provides-Extra", "2.1", true},
    {"Requires", "1.1", true},
    {"Requires-Dist", "1.2", true},
    {"Requires-External", "1.2", true},
    {"Requires-Python", "1.2", false},
    {"Summary", "1.0", false},
    {"Supported-Platform", "1.1", true},
    {"Version", "1.0", false},
});

constexpr std::array<std::string_view, 8> k_versions = {"1.0", "1.1", "1.2", "2.1", "2.2", "2.3", "2.4", "2.5"};

bool is_label(std::string_view text) {
  return !text.empty() && text.size() <= 63 && text.front() != '-' && text.back() != '-' &&
         std::ranges::all_of(
             text, [](char c) { return is_letter_or_digit(c) || c == '-' || static_cast<unsigned char>(c) >= 0x80; });
}

bool is_identifier(std::string_view text) {
  static constexpr std::array<std::string_view, 35> k_keywords = {
      "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
      "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
      "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
      "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
  if (text.empty() || (text[0] >= '0' && text[0] <= '9') || std::ranges::find(k_keywords, text) != k_keywords.end())
    return false;
  return std::ranges::all_of(
      text, [](char c) { return is_letter_or_digit(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80; });
}

/// "(" and ")" as words of their own.
std::vector<std::string> expression_words(std::string_view expression) {
  return split_words(replace_all(replace_all(std::string(expression), "(", " ( "), ")", " ) "));
}

bool is_licence_word(std::string_view word) {
  if (word.ends_with('+')) word.remove_suffix(1);
  return !word.empty() &&
         std::ranges::all_of(word, [](char c) { return is_letter_or_digit(c) || c == '-' || c == '.' || c == ':'; });
}

/// What SPDX calls licences and the exceptions from them; case does not matter in expressions.
struct SpdxNames {
  std::vector<std::string> licences, exceptions;  ///< as SPDX writes them
};

const SpdxNames& spdx_names() {
  static const SpdxNames k_names = [] {
    SpdxNames names;
    for (const auto& line : split(k_spdx_licenses_txt, '\n')) {
      if (line.empty() || line.starts_with('#')) continue;
      if (line.starts_with('+'))
        names.exceptions.push_back(line.substr(1));
      else
        names.licences.push_back(line);
    }
    return names;
  }();
  return k_names;
}

/// What is wrong with a word that names a licence, or behind WITH an exception; "" = nothing.
std::string licence_name_fault(const std::string& word, bool is_exception) {
  auto name = lower(word);
  if (!is_exception && name.starts_with("licenseref-")) return {};  // the project's own
  if (!is_exception && name.ends_with('+')) name.pop_back();        // or any later version
  const auto& known = is_exception ? spdx_names().exceptions : spdx_names().licences;
  if (std::ranges::any_of(known, [&](const std::string& one) { return lower(one) == name; })) return {};
  const auto near = suggestion(word, nearest_words(word, known, 3));
  return "holds \"" + word + "\", which is no " + (is_exception ? "exception" : "licence") + " that SPDX lists" +
         (near.empty() ? "" : "; " + near);
}

}  // namespace

const MetadataField* find_metadata_field(std::string_view lower_name) {
  const auto found = std::ranges::find_if(k_fields, [&](const auto& field) { return lower(field.name) == lower_name; });
  return found == k_fields.end() ? nullptr : &*found;
}

bool is_metadata_version(std::string_view version) {
  return std::ranges::find(k_versions, version) != k_versions.end();
}

std::string first_address(std::string_view value) {
  const auto open = value.find('<');
  if (open != std::string_view::npos) {
    const auto close = value.find('>', open);
    return trim(value.substr(open + 1, close == std::string_view::npos ? close : close - open - 1));
  }
  return trim(value.substr(0, value.find(',')));
}

bool is_email(std::string_view address) {
  const auto at = address.rfind('@');
  if (at == std::string_view::npos || at == 0 || at > 64 || address.size() > 254) return false;
  const auto name = address.substr(0, at);
  const auto domain = address.substr(at + 1);
  if (name.front() == '.' || name.back() == '.' || name.find("..") != std::string_view::npos) return false;
  const bool good_name = std::ranges::all_of(name, [](char c) {
    return is_letter_or_digit(c) || static_cast<unsigned char>(c) >= 0x80 ||
           std::string_view("!#$%&'*+-/=?^_`{|}~.").find(c) != std::string_view::npos;
  });
  const auto labels = split(domain, '.');
  // Domains that are nobody's by RFC 6761.
  static constexpr std::array<std::string_view, 5> k_special = {"test", "local", "localhost", "invalid", "arpa"};
  return good_name && labels.size() > 1 && std::ranges::all_of(labels, is_label) &&
         std::ranges::find(k_special, labels.back()) == k_special.end();
}

bool is_web_address(std::string_view text) {
  const std::string address = lower(text);
  const bool web = address.starts_with("https://") || address.starts_with("http://");
  const auto host = address.substr(std::min(address.size(), address.find("//") + 2));
  return web && !host.empty() && host[0] != '/' && std::ranges::none_of(address, [](char c) {
           return static_cast<unsigned char>(c) <= ' ' || c == '<' || c == '>' || c == '"';
         });
}

std::string content_type_fault(std::string_view value) {
  const auto parts = split(value, ';');
  const std::string type = lower(trim(parts[0]));
  if (type != "text/plain" && type != "text/x-rst" && type != "text/markdown")
    return "is none of text/markdown, text/x-rst and text/plain";
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::string parameter = trim(parts[i]);
    const auto equals = parameter.find('=');
    const std::string name = lower(trim(parameter.substr(0, equals)));
    const std::string text =
        equals == std::string::npos ? "" : replace_all(trim(parameter.substr(equals + 1)), "\"", "");
    if (name == "charset" && lower(text) != "utf-8") return "names another charset than UTF-8";
    if (name == "variant" && type == "text/markdown" && text != "GFM" && text != "CommonMark")
      return "names a variant of Markdown that is neither GFM nor CommonMark";
    if (!parameter.empty() && equals == std::string::npos) return "has a parameter without a value";
  }
  return {};
}

std::string licence_fault(std::string_view expression) {
  int open = 0;
  bool wants_licence = true;
  bool after_with = false;
  for (const auto& word : expression_words(expression)) {
    const std::string name = lower(word);
    const bool joins = name == "and" || name == "or" || name == "with";
    if (word == "(" ? !wants_licence || after_with : word == ")" ? wants_licence || --open < 0 : joins == wants_licence)
      return "is no licence expression: \"" + word + "\" is at a place where it cannot be";
    if (word == "(") ++open;
    if (word == "(" || word == ")") continue;
    if (!joins && !is_licence_word(word)) return "holds \"" + word + "\", which is no licence's name";
    if (!joins)
      if (auto fault = licence_name_fault(word, after_with); !fault.empty()) return fault;
    after_with = name == "with";
    wants_licence = joins;
  }
  if (wants_licence) return "is no licence expression: it ends where a licence is expected";
  return open == 0 ? "" : "lacks a closing bracket";
}

std::string licence_path_fault(std::string_view path) {
  if (path.empty()) return "is empty";
  if (path.find("..") != std::string_view::npos) return "leaves the licences folder";
  if (path.find('*') != std::string_view::npos) return "is a pattern and not a path";
  if (path.find('\\') != std::string_view::npos) return "has backslashes";
  if (path.starts_with('/') || (path.size() > 1 && path[1] == ':')) return "is absolute";
  return {};
}

bool is_import_name(std::string_view value) {
  const auto semicolon = value.find(';');
  if (semicolon != std::string_view::npos && trim(value.substr(semicolon + 1)) != "private") return false;
  return std::ranges::all_of(split(trim(value.substr(0, semicolon)), '.'), is_identifier);
}

}  // namespace sagekit
