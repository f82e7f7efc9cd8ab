#include "generate/quote.hpp"

#include "support/format.hpp"
#include "support/json.hpp"
#include "support/text.hpp"
#include "support/utf8.hpp"

#include <sagekit/shell_word.hpp>

#include <algorithm>

namespace sagekit {

namespace {

/// JSON's string, which YAML 1.2, HCL and TOML read as well. What JSON lets stand and one of them does not is escaped:
/// DEL and the C1 controls (TOML 1.0, YAML 1.2 section 5.1), the line ends of YAML 1.1, byte order mark, noncharacters.
std::string json_literal(std::string_view text) {
  const auto quoted = json_line(Json(std::string(text)));
  std::string result;
  for (std::string_view rest = quoted; !rest.empty();) {
    const auto [point, bytes] = first_character(rest);
    const bool escaped = (point >= 0x7f && point < 0xa0) || point == 0x2028 || point == 0x2029 || point == 0xfeff ||
                         (point >= 0xfffe && point <= 0xffff);
    result += escaped ? fmt::format("\\u{:04x}", point) : std::string(rest.substr(0, bytes));
    rest.remove_prefix(bytes);
  }
  return result;
}

}  // namespace

Status check_word(std::string_view what, std::string_view text) {
  bool controls = std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  // C1 controls, and what some YAML readers take for line ends: U+0085, U+2028, U+2029.
  for (std::size_t i = 0; i + 1 < text.size(); ++i)
    controls |= (text[i] == '\xc2' && static_cast<unsigned char>(text[i + 1]) < 0xa0) ||
                text.substr(i).starts_with("\xe2\x80\xa8") || text.substr(i).starts_with("\xe2\x80\xa9");
  if (!controls && is_utf8(text)) return {};
  return fail(ErrorKind::usage, "GEN003",
              fmt::format("{} {} cannot be written into these files: it has {}", what, json_literal(text),
                          controls ? "a line end or another control character" : "bytes that are no UTF-8"),
              "give it another name");
}

Status check_no_secret(std::string_view what, std::string_view text) {
  for (auto at = text.find("://"); at != text.npos; at = text.find("://", at + 1)) {
    const auto rest = text.substr(at + 3, text.find_first_of(" \t", at + 3) - at - 3);
    const auto authority = rest.substr(0, std::min(rest.find('/'), rest.size()));
    const auto at_sign = authority.find('@'), colon = authority.find(':');
    const bool named = at_sign != authority.npos && !(text.substr(0, at).ends_with("ssh") && colon > at_sign);
    // "https://me:pass/word@host": what should be a port is none.
    const bool cut = at_sign == authority.npos && rest.find('@') != rest.npos && colon != authority.npos &&
                     authority.find_first_not_of("0123456789", colon + 1) != authority.npos;
    if (named || cut)
      return fail(ErrorKind::usage, "GEN003",
                  fmt::format("{} is an address with a user name or a password, and these files are for others", what),
                  "leave them out of it; ~/.netrc or git's credential helper has them where the files are used");
  }
  return {};
}

std::string yaml_text(std::string_view text) { return json_literal(text); }

std::string workflow_text(std::string_view text) {
  return json_literal(replace_all(std::string(text), "${{", "${{ '${{' }}"));
}

std::string hcl_text(std::string_view text) {
  // Not "$${": whether a "$" before it belongs to it is the scanner's affair.
  return replace_all(replace_all(json_literal(text), "$", "\\u0024"), "%", "\\u0025");
}

std::string toml_text(std::string_view text) { return json_literal(text); }

std::string shell_text(std::string_view text) { return shell_word(text); }

std::string dockerfile_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '$') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string jinja_text(std::string_view text) {
  const bool expanded = text.find("{{") != text.npos || text.find("{%") != text.npos || text.find("{#") != text.npos;
  return (expanded ? "!unsafe " : "") + json_literal(text);
}

std::string comment_text(std::string_view text) {
  auto quoted = json_literal(text);
  quoted = quoted.substr(1, quoted.size() - 2);
  return replace_all(replace_all(quoted, "\\\"", "\""), "\\\\", "\\");
}

std::string exec_form(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const auto& word : words) quoted.push_back(json_literal(word));
  return "[" + join(quoted, ", ") + "]";
}

std::string target_name(std::string_view text) {
  std::string name(text);
  for (char& c : name)
    if (!is_letter_or_digit(c) && c != '_' && c != '-') c = '_';
  return name;
}

std::string fill_template(std::string_view text, const std::vector<TemplateValue>& values) {
  std::string filled;
  for (;;) {
    const auto at = text.find('@');
    if (at == text.npos) return filled.append(text);
    const auto end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", at + 1);
    const bool named = end != text.npos && end > at + 1 && text[end] == '@';
    const auto value =
        named ? std::ranges::find(values, text.substr(at + 1, end - at - 1), &TemplateValue::name) : values.end();
    if (value == values.end()) {
      filled.append(text.substr(0, at + 1));
      text.remove_prefix(at + 1);
      continue;
    }
    filled.append(text.substr(0, at)).append(value->text);
    text.remove_prefix(end + 1);
  }
}

}  // namespace sagekit
