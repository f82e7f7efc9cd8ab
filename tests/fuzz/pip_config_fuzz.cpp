// pip's configuration files.
#include "index/ini_file.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

using namespace sagekit;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto entries = read_ini({reinterpret_cast<const char*>(data), size});
  if (!entries) return entries.error().line > 0 && !entries.error().why.empty() ? 0 : (std::abort(), 1);
  for (const auto& entry : *entries)
    if (entry.line <= 0 || entry.key.find('\n') != std::string::npos) std::abort();
  return 0;
}
