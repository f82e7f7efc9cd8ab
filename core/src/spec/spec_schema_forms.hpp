#pragma once
// The forms a string of plugin.toml can have: one list for the parser's checks, the JSON Schema and the reference.

#include <sagekit/arch.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace sagekit {

enum class Form {
  line,          ///< one line of text
  text,          ///< any text
  name,          ///< plugin name
  word,          ///< id of a row
  project,       ///< distribution name
  commit,        ///< 40 hex digits
  date,          ///< RFC 3339, UTC
  url,           ///< scheme://...
  labelled_url,  ///< "Label, scheme://..."
  path,          ///< relative path
  glob,          ///< relative path with wildcards, `!` takes away
  module,        ///< dotted Python name
  capability,    ///< "9.0"
  range,         ///< ">=12.8,<14"
  number,        ///< "2.8.0"
  release,       ///< PEP 440 in normal form
  python,        ///< "3.12"
  torch_word,    ///< "2.8.0", or ">=2.9,stable"
  python_word,   ///< "3.12", or "abi3>=3.10"
  platform,      ///< wheel platform tag
  gencode,       ///< "9.0a", "8.0>9.0", "8.0+PTX"
  arch_list,     ///< "8.0;9.0a"
  backend,       ///< "direct" or "setup-py"
  standard,      ///< "c++17"
  naming,        ///< template over naming words
  assignment,    ///< NAME=VALUE with {arch_list}
  identifier,    ///< Python name without dots
  callable,      ///< "package.module:function"
  distribution,  ///< "normal", "uniform" or "zeros"
};

/// What is wrong with a value: a stable code without its place, the words, and what to do.
struct Fault {
  std::string code, message, hint;
};

/// `text` is not empty; an empty value of an optional key means "not given" and is not checked.
std::optional<Fault> form_fault(Form form, std::string_view text);

/// ECMA-262 pattern of the form, without anchors; "" = any text.
std::string_view form_pattern(Form form);

/// "8.0>9.0" = compute_80 -> sm_90; "9.0a" = compute_90a -> sm_90a; "8.0+PTX" = compute_80 as text.
Result<Gencode> parse_gencode(std::string_view text);

/// A naming template with ordinary values in place of its words: shows what it would make.
Result<std::string> expand_with_samples(std::string_view text);

}  // namespace sagekit
