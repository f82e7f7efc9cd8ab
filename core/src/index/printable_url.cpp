#include <sagekit/index.hpp>

#include <algorithm>

namespace sagekit {

std::string printable_url(const std::string& url) {
  std::string text = url.substr(0, std::min(url.find_first_of("?#"), url.size()));
  const std::size_t scheme = text.find("://");
  const std::size_t host = scheme == std::string::npos ? 0 : scheme + 3;
  const std::size_t path = std::min(text.find('/', host), text.size());
  const std::size_t at = text.rfind('@', path);
  if (at != std::string::npos && at >= host && at < path) text.erase(host, at + 1 - host);
  return text;
}

}  // namespace sagekit
