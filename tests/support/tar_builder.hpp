#pragma once
// Makes tar archives and Debian packages' ar archives.

#include <array>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace sagekit::test {

/// One member of a POSIX tar archive.
inline std::string tar_member(const std::string& name, const std::string& content, char type = '0') {
  std::string header(512, '\0');
  const auto put = [&](std::size_t at, const std::string& text) { header.replace(at, text.size(), text); };
  std::array<char, 16> number{};
  put(0, name);
  put(100, "0000644");
  std::snprintf(number.data(), number.size(), "%011zo", content.size());
  put(124, number.data());
  put(136, "00000000000");
  put(148, "        ");
  header[156] = type;
  put(257, std::string("ustar\0", 6) + "00");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  std::snprintf(number.data(), number.size(), "%06o", sum);
  put(148, number.data() + std::string(1, '\0') + " ");
  return header + content + std::string((512 - content.size() % 512) % 512, '\0');
}

inline std::string tar(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string bytes;
  for (const auto& [name, content] : files) bytes += tar_member(name, content);
  return bytes + std::string(1024, '\0');
}

inline std::string ar_member(const std::string& name, const std::string& content) {
  std::array<char, 64> header{};
  std::snprintf(header.data(), header.size(), "%-16s%-12s%-6s%-6s%-8s%-10zu`\n", name.c_str(), "0", "0", "0", "100644",
                content.size());
  return header.data() + content + (content.size() % 2 == 1 ? "\n" : "");
}

}  // namespace sagekit::test
