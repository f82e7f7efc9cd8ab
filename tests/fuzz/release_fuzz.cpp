// What lies beside published wheels: manifests, yanked.toml, sagekit.json, remembered
// facts, timelines. Whatever the text is, a
// value that says itself again, or a reason.
#include "fuzz_target.hpp"
#include "release/facts_cache.hpp"
#include "release/origin.hpp"

#include <sagekit/release_index.hpp>
#include <sagekit/release_report.hpp>

#include <cstdint>
#include <cstdlib>

using namespace sagekit;

SAGEKIT_FUZZ_TARGET(release) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto release = read_release(text, "fuzz.json")) {
    const auto again = read_release(release_json(*release), "again.json");
    if (!again || again->wheels.size() != release->wheels.size()) std::abort();
  } else if (release.error().message.empty()) {
    std::abort();
  }
  if (const auto rows = parse_yanked(text, "fuzz.toml"); !rows && rows.error().empty()) std::abort();
  if (const auto record = read_provenance(text)) origin_of({}, *record, {});
  if (const auto spans = read_timeline(text, "fuzz.json"); !spans && spans.error().message.empty()) std::abort();
  if (const auto known = read_facts(text); !known.empty() && read_facts(facts_text(known)).size() > known.size())
    std::abort();
  return 0;
}
