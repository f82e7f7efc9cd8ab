#include "index/url.hpp"

#include "support/text.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

namespace sagekit {

namespace {

constexpr std::string_view k_hex = "0123456789ABCDEF";

// RFC 3986: what no address may hold. Links in the wild hold blanks, UTF-8 and a percent sign that starts no escape;
// and a line break must never reach a request.
std::string encoded_target(std::string_view text) {
  std::string target;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte > ' ' && byte < 0x7f && std::string_view("\"<>\\^`{|}").find(c) == std::string_view::npos;
    if (plain && (c != '%' || escaped_byte(text.substr(i)) >= 0)) {
      target += c;
    } else {
      target += '%';
      target += k_hex[byte >> 4];
      target += k_hex[byte & 15];
    }
  }
  return target;
}

// "https:" of "https://host"; empty when there is no scheme.
std::string_view scheme_of(std::string_view text) {
  const std::size_t colon = text.find_first_of(":/?#");
  if (colon == std::string_view::npos || text[colon] != ':' || colon == 0) return {};
  const bool word = std::ranges::all_of(text.substr(0, colon), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '-' ||
           c == '.';
  });
  return word ? text.substr(0, colon) : std::string_view{};
}

bool read_port(std::string_view text, std::uint16_t& port) {
  if (text.empty()) return true;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc{} && end == text.data() + text.size() && port != 0;
}

bool read_authority(std::string_view authority, Url& url) {
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    const std::string_view user = authority.substr(0, at);
    const std::size_t colon = user.find(':');
    url.has_user = true;
    url.user = percent_decoded(user.substr(0, colon));
    if (colon != std::string_view::npos) url.password = percent_decoded(user.substr(colon + 1));
    authority.remove_prefix(at + 1);
  }
  const std::size_t bracket = authority.starts_with('[') ? authority.find(']') : 0;
  if (bracket == std::string_view::npos) return false;
  const std::size_t colon = authority.find(':', bracket);
  url.host = lower(authority.substr(0, colon));
  url.port = url.scheme == "https" ? 443 : 80;
  if (colon != std::string_view::npos && !read_port(authority.substr(colon + 1), url.port)) return false;
  const bool clean = std::ranges::all_of(url.host, [](unsigned char c) {
    return c > ' ' && c != 0x7f && std::string_view("\"<>\\^`{|}%@").find(static_cast<char>(c)) == std::string::npos;
  });
  return clean && !url.host.empty();
}

std::string without_dot_segments(std::string_view path) {
  std::vector<std::string> kept;
  const auto parts = split(path.substr(std::min<std::size_t>(1, path.size())), '/');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size();
    if (parts[i] == "..") {
      if (!kept.empty()) kept.pop_back();
    } else if (parts[i] != ".") {
      kept.push_back(parts[i]);
      continue;
    }
    if (last) kept.emplace_back();  // "a/.." is the folder "a/"
  }
  return "/" + join(kept, "/");
}

}  // namespace

std::string Url::without_user() const {
  const bool usual = port == (scheme == "https" ? 443 : 80);
  return scheme + "://" + host + (usual ? "" : ":" + std::to_string(port)) + target;
}

std::optional<Url> parse_url(std::string_view text) {
  Url url;
  url.scheme = lower(scheme_of(text));
  if (url.scheme != "http" && url.scheme != "https") return std::nullopt;
  text.remove_prefix(url.scheme.size() + 1);
  if (!text.starts_with("//")) return std::nullopt;
  text = text.substr(2, text.find('#') == std::string_view::npos ? text.npos : text.find('#') - 2);
  const std::size_t path = std::min(text.find_first_of("/?"), text.size());
  if (!read_authority(text.substr(0, path), url)) return std::nullopt;
  url.target = encoded_target(text.substr(path));
  if (!url.target.starts_with('/')) url.target.insert(0, "/");
  return url;
}

std::optional<std::string> resolve_url(const std::string& base, std::string_view link) {
  const std::string text = trim(link.substr(0, link.find('#')));
  if (!scheme_of(text).empty()) {
    if (!parse_url(text)) return std::nullopt;
    return text;
  }
  const auto from = parse_url(base);
  if (!from) return std::nullopt;
  if (text.starts_with("//")) {
    const std::string absolute = from->scheme + ":" + text;
    if (!parse_url(absolute)) return std::nullopt;
    return absolute;
  }
  Url to = *from;
  const std::string base_path = to.target.substr(0, to.target.find('?'));
  const std::size_t query = std::min(text.find('?'), text.size());
  const std::string path = text.substr(0, query);
  if (path.empty()) {
    to.target = text.empty() ? to.target : base_path + text;
  } else {
    const std::string whole = path[0] == '/' ? path : base_path.substr(0, base_path.rfind('/') + 1) + path;
    to.target = without_dot_segments(whole) + text.substr(query);
  }
  to.target = encoded_target(to.target);
  return to.without_user();
}

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int byte = escaped_byte(text.substr(i));
    decoded += byte < 0 ? text[i] : static_cast<char>(byte);
    if (byte >= 0) i += 2;
  }
  return decoded;
}

}  // namespace sagekit
