// A project's page, as HTML and as JSON, and its links against an address that comes from the same input.
#include "fuzz_target.hpp"
#include "index/package_index.hpp"
#include "index/url.hpp"

#include <algorithm>
#include <cstdlib>

using namespace sagekit;

SAGEKIT_FUZZ_TARGET(project_page) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view line = input.substr(0, input.find('\n'));
  const std::string base = parse_url(line) ? std::string(line) : "https://host.example/simple/tiny-kernels/";
  for (const char* type : {"text/html", "application/json", ""}) {
    const auto files = read_project_page(input, type, base);
    if (!files) continue;
    for (const IndexFile& file : *files) {
      const auto url = parse_url(file.url);
      const bool plain = std::ranges::none_of(file.name, [](char c) { return c == '/' || c == '\0' || c == '\n'; });
      if (!url || !plain || !parse_url(url->without_user())) std::abort();
    }
  }
  return 0;
}
