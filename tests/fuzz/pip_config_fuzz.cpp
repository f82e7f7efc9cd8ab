// pip's configuration files.
#include "fuzz_target.hpp"
#include "index/ini_file.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

using namespace sagekit;

SAGEKIT_FUZZ_TARGET(pip_config) {
  const auto entries = read_ini({reinterpret_cast<const char*>(data), size});
  if (!entries) return entries.error().line > 0 && !entries.error().why.empty() ? 0 : (std::abort(), 1);
  for (const auto& entry : *entries)
    if (entry.line <= 0 || entry.key.find('\n') != std::string::npos) std::abort();
  return 0;
}
