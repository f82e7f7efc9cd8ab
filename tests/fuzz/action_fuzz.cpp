// A record of the store, which may come from a pack or a server: whatever the text is, what it names lies below the
// work folder, and what was read is written as it was read.
#include "fuzz_target.hpp"
#include "store/action_record.hpp"

#include <cstdint>
#include <cstdlib>

using namespace sagekit;

SAGEKIT_FUZZ_TARGET(action) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto measured = parse_measured(text); measured && !parse_measured(measured_text(*measured))) std::abort();
  if (const auto parts = parse_parts(text); parse_parts(parts_text(parts)) != parts) std::abort();
  const auto record = parse_action(text);
  if (!record) return 0;
  for (const auto& output : record->outputs)
    if (!output.path.starts_with("{work}/") || (output.path + "/").find("/../") != std::string::npos ||
        output.object.sha256.size() != 64)
      std::abort();
  const auto again = parse_action(action_text(*record));
  if (!again || again->outputs != record->outputs) std::abort();
  return 0;
}
