// Python source: found functions stand in order, in lines that the text has.
#include "verify/claims/python_text.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

using namespace sagekit;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto lines = 1 + std::ranges::count(text, '\n');
  for (const auto& found : duplicate_defs(text))
    if (found.first_line < 1 || found.second_line <= found.first_line || found.second_line > lines) std::abort();
  return 0;
}
