#include "release/http_rules.hpp"

#include "support/text.hpp"

#include <algorithm>
#include <charconv>

namespace sagekit {

namespace {

std::optional<std::uint64_t> range_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The weight of "text/html; q=0.1": from 0 to 1000.
int weight_of(const std::vector<std::string>& parts) {
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto part = lower(trim(parts[i]));
    if (!part.starts_with("q=")) continue;
    const auto number = part.substr(2);
    int weight = number.starts_with('1') ? 1000 : 0;
    for (std::size_t digit = 2, unit = 100; weight < 1000 && digit < std::min<std::size_t>(number.size(), 5);
         ++digit, unit /= 10)
      if (number[digit] >= '0' && number[digit] <= '9') weight += (number[digit] - '0') * static_cast<int>(unit);
    return weight;
  }
  return 1000;
}

}  // namespace

AskedRange asked_range(std::string_view header, std::uint64_t size) {
  constexpr std::string_view k_unit = "bytes=";
  const AskedRange whole{AskedRange::Kind::whole, 0, size};
  if (!lower(header.substr(0, k_unit.size())).starts_with(k_unit)) return whole;
  const std::string spec = trim(header.substr(k_unit.size()));
  const auto dash = spec.find('-');
  if (dash == std::string::npos || spec.find(',') != std::string::npos) return whole;
  const auto first = range_number(std::string_view(spec).substr(0, dash)),
             last = range_number(std::string_view(spec).substr(dash + 1));
  const bool has_first = dash > 0, has_last = dash + 1 < spec.size();
  if ((has_first && !first) || (has_last && !last) || (!has_first && !has_last)) return whole;
  if (!has_first) {  // the last so many
    if (*last == 0 || size == 0) return {AskedRange::Kind::beyond, 0, 0};
    const auto length = std::min(*last, size);
    return {AskedRange::Kind::part, size - length, length};
  }
  if (has_last && *last < *first) return whole;
  if (*first >= size) return {AskedRange::Kind::beyond, 0, 0};
  const auto end = has_last ? std::min(*last, size - 1) : size - 1;
  return {AskedRange::Kind::part, *first, end - *first + 1};
}

bool lists_etag(std::string_view header, std::string_view etag) {
  const auto parts = split(header, ',');
  return std::ranges::any_of(parts, [&](const std::string& part) {
    const auto one = trim(part);
    return one == etag || one == "*" || (one.starts_with("W/") && std::string_view(one).substr(2) == etag);
  });
}

bool prefers_json(std::string_view accept) {
  int json = 0, html = 0;
  for (const auto& item : split(accept, ',')) {
    const auto parts = split(item, ';');
    const auto type = lower(trim(parts.front()));
    const int weight = weight_of(parts);
    if (type == "application/vnd.pypi.simple.v1+json" || type == "application/vnd.pypi.simple.latest+json")
      json = std::max(json, weight);
    else if (type == "application/vnd.pypi.simple.v1+html" || type == "application/vnd.pypi.simple.latest+html" ||
             type == "text/html" || type == "text/*" || type == "*/*")
      html = std::max(html, weight);
  }
  return json > 0 && json >= html;
}

std::optional<std::vector<std::string>> safe_segments(std::string_view path) {
  if (!path.starts_with('/') || path.find('\0') != std::string_view::npos ||
      path.find('\\') != std::string_view::npos || path.size() > 4096)
    return std::nullopt;
  path.remove_prefix(1);
  if (path.ends_with('/')) path.remove_suffix(1);
  std::vector<std::string> segments;
  if (path.empty()) return segments;
  segments = split(path, '/');
  const bool bad = std::ranges::any_of(segments, [](const auto& one) { return one.empty() || one.starts_with('.'); });
  if (bad) return std::nullopt;
  return segments;
}

bool names_loopback(std::string_view host) {
  const auto name = lower(host.substr(0, host.starts_with('[') ? host.find(']') : host.rfind(':')));
  return name == "127.0.0.1" || name == "localhost" || name == "[::1";
}

}  // namespace sagekit
