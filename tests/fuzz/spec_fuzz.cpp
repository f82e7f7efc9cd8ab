// Any bytes as plugin.toml: parse_spec returns a spec or at least one error with a code, the same each time.
// clang++-19 -fsanitize=fuzzer,address,undefined; seeds: plugins/*/plugin.toml and tests/unit/spec/data.

#include "fuzz_target.hpp"

#include <sagekit/spec.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

SAGEKIT_FUZZ_TARGET(spec) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = sagekit::parse_spec(text, "fuzz.toml");
  if (parsed) {
    if (parsed->name.empty() || parsed->source.revisions.empty()) std::abort();
    if (sagekit::find_revision(*parsed, parsed->source.default_commit) == nullptr) std::abort();
  } else {
    if (parsed.error().empty()) std::abort();
    for (const auto& d : parsed.error()) {
      if (!d.code.starts_with("SPEC") || d.message.empty() || d.where.line < 0 || d.where.column < 0) std::abort();
    }
  }
  return 0;
}
