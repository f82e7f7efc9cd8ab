#include "render/build_trace.hpp"

#include "console.hpp"
#include "json_text.hpp"
#include "render/build_progress.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace sagekit::host {

void BuildTrace::on_message(const std::string& text) { m_next.on_message(text); }

void BuildTrace::on_event(const BuildEvent& event) {
  if (event.step != nullptr) {
    const std::lock_guard lock(m_mutex);
    const auto& id = event.step->id;
    if (event.outcome == StepOutcome::started) {
      const auto free = std::ranges::find(m_busy, false) - m_busy.begin();
      if (static_cast<std::size_t>(free) == m_busy.size()) m_busy.push_back(false);
      const auto slot = static_cast<std::size_t>(free);
      m_busy[slot] = true;
      Span span{id, std::string(step_word(event.step->kind)), event.step->module, event.waited_for, event.step->cells};
      span.slot = slot;
      span.begin = now();
      m_by_id[id] = m_spans.size();
      m_spans.push_back(std::move(span));
    } else if (const auto found = m_by_id.find(id); found != m_by_id.end()) {
      Span& span = m_spans[found->second];
      span.retries += event.outcome == StepOutcome::retried;
      // One that will be started again begins anew; a fallback goes on.
      const bool ends = event.outcome != StepOutcome::retried || event.restarts;
      if (ends && span.end < 0) {
        span.outcome = event.outcome;
        span.end = now();
        span.cpu_seconds = event.cpu_seconds;
        span.peak_memory_bytes = event.peak_memory_bytes;
        m_busy[span.slot] = false;
      }
    }
  }
  m_next.on_event(event);
}

std::string BuildTrace::chrome_trace() const {
  const std::lock_guard lock(m_mutex);
  std::string text =
      "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
      "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"sagekit build\"}}";
  for (std::size_t slot = 0; slot < m_busy.size(); ++slot)
    text += fmt::format(
        ",\n{{\"ph\":\"M\",\"pid\":1,\"tid\":{},\"name\":\"thread_name\",\"args\":{{\"name\":\"slot {}\"}}}}", slot + 1,
        slot + 1);
  for (const auto& span : m_spans) {
    const double end = span.end < 0 ? now() : span.end;
    const bool ended = span.outcome != StepOutcome::started && span.outcome != StepOutcome::retried;
    text += fmt::format(
        ",\n{{\"ph\":\"X\",\"pid\":1,\"tid\":{},\"name\":{},\"cat\":{},\"ts\":{:.0f},\"dur\":{:.0f},\"args\":{{"
        "\"outcome\":\"{}\",\"reused\":{},\"module\":{},\"cells\":{},\"cpu_seconds\":{:.3f},\"peak_memory_bytes\":{},"
        "\"retries\":{}}}}}",
        span.slot + 1, json_string(span.id), json_string(span.kind), span.begin * 1e6, (end - span.begin) * 1e6,
        ended ? to_string(span.outcome) : "stopped", span.outcome == StepOutcome::reused, json_string(span.module),
        span.cells.size(), span.cpu_seconds, span.peak_memory_bytes, span.retries);
  }
  return text + "\n]}\n";
}

std::optional<Build> BuildTrace::so_far() const {
  const std::lock_guard lock(m_mutex);
  if (m_spans.empty()) return std::nullopt;
  Build build;
  for (const auto& span : m_spans) {
    build.steps_run += span.outcome == StepOutcome::finished;
    build.steps_reused += span.outcome == StepOutcome::reused;
    build.steps_failed += span.outcome == StepOutcome::failed;
    build.cpu_seconds += span.cpu_seconds;
    build.peak_memory_bytes = std::max(build.peak_memory_bytes, span.peak_memory_bytes);
  }
  build.wall_seconds = now();
  return build;
}

std::vector<const BuildTrace::Span*> BuildTrace::heaviest_chain() const {
  // A step begins after all that it waits for, so that one pass in the order of their beginnings knows every sum.
  std::vector<double> sums(m_spans.size(), 0);
  std::vector<const Span*> before(m_spans.size(), nullptr);
  std::optional<std::size_t> heaviest;
  for (std::size_t i = 0; i < m_spans.size(); ++i) {
    const Span& span = m_spans[i];
    if (span.end < 0) continue;
    for (const auto& id : span.depends) {
      const auto found = m_by_id.find(id);
      if (found == m_by_id.end() || found->second >= i || sums[found->second] <= sums[i]) continue;
      sums[i] = sums[found->second];
      before[i] = &m_spans[found->second];
    }
    sums[i] += span.end - span.begin;
    if (!heaviest || sums[i] > sums[*heaviest]) heaviest = i;
  }
  std::vector<const Span*> chain;
  if (heaviest)
    for (const Span* at = &m_spans[*heaviest]; at != nullptr;
         at = before[static_cast<std::size_t>(at - m_spans.data())])
      chain.push_back(at);
  std::ranges::reverse(chain);
  return chain;
}

std::string BuildTrace::longest_chain() const {
  const std::lock_guard lock(m_mutex);
  double begin = 0, end = 0, cpu = 0;
  bool any_ran = false;
  for (const auto& span : m_spans) {
    begin = &span == m_spans.data() ? span.begin : std::min(begin, span.begin);
    end = std::max(end, span.end);
    cpu += span.cpu_seconds;
    any_ran = any_ran || span.outcome == StepOutcome::finished;
  }
  const auto chain = heaviest_chain();
  if (chain.empty() || !any_ran) return {};
  const double wall = end - begin;
  double sum = 0;
  const Span* longest = chain.front();
  std::vector<std::string> names;
  for (const auto* span : chain) {
    sum += span->end - span->begin;
    if (span->end - span->begin > longest->end - longest->begin) longest = span;
    names.push_back(fmt::format("{} ({})", span->id, human_seconds(span->end - span->begin)));
  }
  constexpr double k_most_of_it = 0.8;
  const auto advice =
      sum >= k_most_of_it * wall
          ? fmt::format("more cores would not help: {} is what to split or to keep", longest->id)
          : fmt::format("{} slots were at work for {} of CPU time: more cores or memory would help, down to {}",
                        m_busy.size(), human_seconds(cpu), human_seconds(sum));
  return fmt::format("longest chain {} of {}: {}; {}", human_seconds(sum), human_seconds(wall),
                     fmt::join(names, " -> "), advice);
}

}  // namespace sagekit::host
