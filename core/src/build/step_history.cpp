#include "build/step_history.hpp"

#include "support/sha256.hpp"
#include "support/text.hpp"

namespace sagekit {

std::string history_key(const Step& step) {
  Sha256 hash;
  for (const auto& word : step.argv) hash.field(word);
  return hash.hex();
}

std::string why_not_kept(const Store& store, const Step& step, const KeyParts& parts, std::string why) {
  if (!why.empty()) return why;
  const auto last = store.parts(history_key(step));
  if (last.empty()) return "it was never made before";
  const auto changed = changed_parts(last, parts);
  return changed.empty() ? "the store lost its record" : join(changed, ", ");
}

}  // namespace sagekit
