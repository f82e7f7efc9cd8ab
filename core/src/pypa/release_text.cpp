#include "pypa/release_text.hpp"

#include "support/text.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace sagekit {

namespace {

/// Reads a version from the left; every `take` either eats what it names or leaves the rest alone.
class VersionReader {
 public:
  explicit VersionReader(std::string text) : m_text(std::move(text)), m_rest(m_text) {}

  std::string read() {
    take("v");
    std::string out = release();
    if (out.empty()) return {};
    out += pre();
    out += post();
    out += dev();
    const std::string local = local_part();
    return m_rest.empty() ? out + local : std::string();
  }

 private:
  bool take(std::string_view word) {
    if (!m_rest.starts_with(word)) return false;
    m_rest.remove_prefix(word.size());
    return true;
  }

  bool take_separator() { return take("-") || take("_") || take("."); }

  /// A run of digits without leading zeros; nothing when there is none.
  std::optional<std::string> number() {
    const std::size_t end = std::min(m_rest.find_first_not_of("0123456789"), m_rest.size());
    if (end == 0) return {};
    std::string digits(m_rest.substr(0, end));
    m_rest.remove_prefix(end);
    const auto first = digits.find_first_not_of('0');
    return first == std::string::npos ? "0" : digits.substr(first);
  }

  /// [N!]N(.N)*
  std::string release() {
    const auto first = number();
    if (!first) return {};
    std::string out = *first;
    if (take("!")) {
      const auto after_epoch = number();
      if (!after_epoch) return {};
      out = (out == "0" ? std::string() : out + '!') + *after_epoch;
    }
    while (m_rest.size() > 1 && m_rest[0] == '.' && is_digits(m_rest.substr(1, 1))) {
      take(".");
      out += '.' + *number();
    }
    return out;
  }

  /// A separator, one of `words`, a separator, a number (0 when missing): PEP 440 allows each separator to be missing.
  template <std::size_t Size>
  std::string segment(const std::array<std::string_view, Size>& words, std::string_view normal) {
    const std::string_view before = m_rest;
    take_separator();
    for (const std::string_view word : words)
      if (take(word)) {
        const std::string_view after_word = m_rest;
        const bool separated = take_separator();
        const auto count = number();
        if (!count && separated) m_rest = after_word;
        return std::string(normal) + count.value_or("0");
      }
    m_rest = before;
    return {};
  }

  std::string pre() {
    static constexpr std::array<std::string_view, 2> k_alpha = {"alpha", "a"};
    static constexpr std::array<std::string_view, 2> k_beta = {"beta", "b"};
    static constexpr std::array<std::string_view, 4> k_candidate = {"preview", "pre", "rc", "c"};
    if (auto out = segment(k_alpha, "a"); !out.empty()) return out;
    if (auto out = segment(k_beta, "b"); !out.empty()) return out;
    return segment(k_candidate, "rc");
  }

  std::string post() {
    static constexpr std::array<std::string_view, 3> k_post = {"post", "rev", "r"};
    if (m_rest.size() > 1 && m_rest[0] == '-' && is_digits(m_rest.substr(1, 1))) {
      take("-");
      return ".post" + *number();
    }
    return segment(k_post, ".post");
  }

  std::string dev() {
    static constexpr std::array<std::string_view, 1> k_dev = {"dev"};
    return segment(k_dev, ".dev");
  }

  /// +word([-_.]word)*; numbers lose their leading zeros.
  std::string local_part() {
    if (!take("+")) return {};
    std::string out = "+";
    while (true) {
      const std::size_t end = std::min(m_rest.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz"), m_rest.size());
      if (end == 0) {
        m_rest = "!";  // an empty word: not a version
        return {};
      }
      if (is_digits(m_rest.substr(0, end))) {
        out += *number();
      } else {
        out += m_rest.substr(0, end);
        m_rest.remove_prefix(end);
      }
      if (!take_separator()) return out;
      out += '.';
    }
  }

  const std::string m_text;
  std::string_view m_rest;
};

}  // namespace

std::string normal_version(std::string_view text) { return VersionReader(lower(text)).read(); }

}  // namespace sagekit
