#include "support/format.hpp"
#include "support/json.hpp"

#include <sagekit/release_report.hpp>

#include <algorithm>

namespace sagekit {

namespace {

constexpr std::size_t k_most_spans = 400;  // the page stays small, and nobody sees more
constexpr double k_longest = 1e9, k_most_slots = 4096;

double number_at(const Json& event, const char* key) {
  const auto found = event.find(key);
  return found != event.end() && found->is_number() ? found->get<double>() : -1;
}

}  // namespace

Result<std::vector<TimelineSpan>> read_timeline(std::string_view text, std::string_view origin) {
  const auto none = [&](const std::string& why) {
    return fail(ErrorKind::failed, "REL026", fmt::format("{} is no timeline of a build: {}", origin, why),
                "sagekit build --timeline FILE writes one", std::string(origin));
  };
  const Json json = parse_json(text);
  if (!json.is_object() || !json.contains("traceEvents") || !json["traceEvents"].is_array())
    return none("it has no list of trace events");
  std::vector<TimelineSpan> spans;
  for (const auto& event : json["traceEvents"]) {
    if (!event.is_object() || text_at(event, "ph") != "X") continue;
    const double slot = number_at(event, "tid"), begin = number_at(event, "ts") / 1e6,
                 seconds = number_at(event, "dur") / 1e6;
    if (!(slot >= 0 && slot < k_most_slots && begin >= 0 && begin < k_longest && seconds >= 0 && seconds < k_longest))
      return none("an event has no place in time");
    const Json& about = event.contains("args") && event["args"].is_object() ? event["args"] : event;
    spans.push_back({static_cast<std::size_t>(slot), begin, seconds, text_at(event, "cat"), text_at(event, "name"),
                     text_at(about, "outcome")});
  }
  if (spans.empty()) return none("nothing in it took time");
  std::ranges::stable_sort(spans, std::ranges::greater(), &TimelineSpan::seconds);
  spans.resize(std::min(spans.size(), k_most_spans));
  std::ranges::stable_sort(spans, {}, &TimelineSpan::begin_seconds);
  return spans;
}

}  // namespace sagekit
