#include "index/html_links.hpp"

#include "support/text.hpp"
#include "support/utf8.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

namespace sagekit {

namespace {

constexpr std::string_view k_blank = " \t\r\n\f";
constexpr std::size_t k_longest_entity = 12;

struct Tag {
  std::string name;  ///< lower case, "/a" of closing ones
  std::vector<std::pair<std::string, std::string>> attributes;

  std::optional<std::string> attribute(std::string_view wanted) const {
    for (const auto& [key, value] : attributes)
      if (key == wanted) return value;
    return std::nullopt;
  }
};

bool append_entity(std::string& text, std::string_view name) {
  constexpr std::pair<std::string_view, char> k_named[] = {{"amp", '&'},   {"lt", '<'},   {"gt", '>'}, {"quot", '"'},
                                                           {"apos", '\''}, {"nbsp", ' '}, {"num", '#'}};
  for (const auto& [known, character] : k_named)
    if (name == known) return text += character, true;
  if (!name.starts_with('#')) return false;
  name.remove_prefix(1);
  const bool hex = name.starts_with('x') || name.starts_with('X');
  if (hex) name.remove_prefix(1);
  std::uint32_t code = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), code, hex ? 16 : 10);
  if (error != std::errc{} || end != name.data() + name.size()) return false;
  const bool letter = code != 0 && code <= 0x10ffff && (code < 0xd800 || code >= 0xe000);
  append_utf8(text, letter ? code : 0xfffd);
  return true;
}

// Reads over one page; each step moves forward, so the whole is linear.
class Scanner {
 public:
  explicit Scanner(std::string_view page) : m_page(page) {}

  std::optional<Tag> next() {
    while ((m_at = m_page.find('<', m_at)) != m_page.npos) {
      if (m_page.substr(m_at, 4) == "<!--") {
        m_at = after(m_page.find("-->", m_at + 4), 3);
        continue;
      }
      ++m_at;
      if (m_at >= m_page.size() || !(std::isalpha(static_cast<unsigned char>(m_page[m_at])) || m_page[m_at] == '/'))
        continue;
      Tag tag;
      const std::size_t end = std::min(m_page.find_first_of(" \t\r\n\f/>", m_at + 1), m_page.size());
      tag.name = lower(m_page.substr(m_at, end - m_at));
      m_at = end;
      read_attributes(tag);
      if (tag.name == "script" || tag.name == "style") skip_text(tag.name);
      return tag;
    }
    return std::nullopt;
  }

 private:
  std::size_t after(std::size_t found, std::size_t length) const {
    return found == m_page.npos ? m_page.size() : found + length;
  }

  void skip(std::string_view characters) { m_at = std::min(m_page.find_first_not_of(characters, m_at), m_page.size()); }

  void read_attributes(Tag& tag) {
    for (;;) {
      skip(" \t\r\n\f/");
      if (m_at >= m_page.size()) return;
      if (m_page[m_at] == '>') return void(++m_at);
      const std::size_t end = std::min(m_page.find_first_of(" \t\r\n\f/>=", m_at + 1), m_page.size());
      std::string name = lower(m_page.substr(m_at, end - m_at));
      m_at = end;
      skip(k_blank);
      std::string value;
      if (m_at < m_page.size() && m_page[m_at] == '=') {
        ++m_at;
        skip(k_blank);
        value = read_value();
      }
      tag.attributes.emplace_back(std::move(name), std::move(value));
    }
  }

  std::string read_value() {
    if (m_at >= m_page.size()) return {};
    const char quote = m_page[m_at];
    const bool quoted = quote == '"' || quote == '\'';
    const std::size_t start = quoted ? m_at + 1 : m_at;
    const std::size_t found = quoted ? m_page.find(quote, start) : m_page.find_first_of(" \t\r\n\f>", start);
    const std::size_t end = std::min(found, m_page.size());
    m_at = quoted ? after(found, 1) : end;
    return entities_decoded(m_page.substr(start, end - start));
  }

  void skip_text(const std::string& name) {
    const std::string end = "</" + name;
    while ((m_at = m_page.find("</", m_at)) != m_page.npos && lower(m_page.substr(m_at, end.size())) != end) m_at += 2;
    m_at = std::min(m_at, m_page.size());
  }

  const std::string_view m_page;
  std::size_t m_at = 0;
};

}  // namespace

std::string entities_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t end = text[i] == '&' ? text.substr(0, i + k_longest_entity).find(';', i) : text.npos;
    if (end != text.npos && append_entity(decoded, text.substr(i + 1, end - i - 1)))
      i = end;
    else
      decoded += text[i];
  }
  return decoded;
}

HtmlLinks read_html_links(std::string_view page) {
  HtmlLinks result;
  Scanner scanner(page);
  while (const auto tag = scanner.next()) {
    const auto href = tag->attribute("href");
    if (tag->name == "base" && href && result.base.empty()) result.base = *href;
    if (tag->name == "meta" && tag->attribute("name") == "pypi:repository-version")
      result.repository_version = tag->attribute("content").value_or("");
    if (tag->name == "a" && href)
      result.links.push_back(
          {*href, tag->attribute("data-requires-python").value_or(""), tag->attribute("data-yanked").has_value(),
           tag->attribute("data-core-metadata").value_or(tag->attribute("data-dist-info-metadata").value_or(""))});
  }
  return result;
}

}  // namespace sagekit
