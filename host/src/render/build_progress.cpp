#include "render/build_progress.hpp"

#include "json_text.hpp"
#include "render/table.hpp"
#include "render/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <utility>
#include <vector>

namespace sagekit::host {

namespace {

// "compile _fused fused.cu": what a person calls the step.
std::string title(const Step& step) {
  std::string text(step_word(step.kind));
  if (!step.module.empty()) text += " " + step.module;
  if (step.kind != StepKind::link && !step.inputs.empty()) {
    const std::string& input = step.inputs.front();
    text += " " + input.substr(input.rfind('/') + 1);
  }
  if (step.kind == StepKind::device) text += " " + step.outputs.front();
  return text;
}

}  // namespace

std::string_view step_word(StepKind kind) {
  switch (kind) {
    case StepKind::compile: return "compile";
    case StepKind::bind: return "bind";
    case StepKind::link: return "link";
    case StepKind::setup_py: return "setup.py";
    case StepKind::device: return "device";
    case StepKind::host: return "host";
  }
  return "";
}

BuildProgress::Form progress_form(bool quiet, bool json_lines, bool redraws) {
  if (json_lines) return BuildProgress::Form::json_lines;
  if (quiet) return BuildProgress::Form::quiet;
  return redraws ? BuildProgress::Form::terminal : BuildProgress::Form::lines;
}

BuildProgress::BuildProgress(const Console& console, Form form, bool groups)
    : m_console(console), m_form(form), m_groups(groups && form == Form::lines) {
  if (form != Form::terminal) return;
  m_clock = std::jthread([this](std::stop_token stop) {
    std::condition_variable_any stopped;
    std::unique_lock lock(m_mutex);
    while (!stopped.wait_for(lock, stop, std::chrono::seconds(1), [&] { return stop.stop_requested(); })) draw();
  });
}

BuildProgress::~BuildProgress() {
  if (m_clock.joinable()) m_clock.request_stop(), m_clock.join();
  clear();
  end_group();
}

void BuildProgress::end_group() {
  if (std::exchange(m_in_group, false)) m_console.say("::endgroup::");
}

void BuildProgress::on_message(const std::string& text) {
  const std::lock_guard lock(m_mutex);
  clear();
  if (m_form == Form::json_lines)
    m_console.document(fmt::format("{{\"event\":\"message\",\"text\":{}}}\n", json_string(text)));
  else
    m_console.say(text);
}

void BuildProgress::on_event(const BuildEvent& event) {
  if (event.step == nullptr) return;
  const std::lock_guard lock(m_mutex);
  if (event.outcome == StepOutcome::started)
    m_running.emplace(event.step->id, Running{title(*event.step), Clock::now(), event.step->cost.memory_bytes});
  else if (event.outcome != StepOutcome::retried)
    m_running.erase(event.step->id);
  m_done = event.done;
  m_total = event.total;
  m_reused += event.outcome == StepOutcome::reused;
  m_failed += event.outcome == StepOutcome::failed;
  m_eta_seconds = event.eta_seconds;
  m_eta_at = Clock::now();
  switch (m_form) {
    case Form::quiet: break;
    case Form::json_lines: json_line(event); break;
    case Form::lines: line(event); break;
    case Form::terminal:
      if (event.outcome != StepOutcome::started && event.outcome != StepOutcome::reused) line(event);
      draw();
      break;
  }
}

std::unique_lock<std::mutex> BuildProgress::give_way() {
  std::unique_lock lock(m_mutex);
  clear();
  end_group();  // what is told now is not to be folded away
  return lock;
}

void BuildProgress::clear() {
  if (std::exchange(m_drawn, false)) m_console.draw("");
}

void BuildProgress::line(const BuildEvent& event) {
  clear();
  if (m_groups && !std::exchange(m_in_group, true))
    m_console.say(fmt::format("::group::steps, {} of {} done", event.done, event.total));
  const std::string count = fmt::format("[{}/{}]", event.done, event.total);
  switch (event.outcome) {
    case StepOutcome::started:
      if (m_form == Form::lines) m_console.say(fmt::format("{} {} ...", count, title(*event.step)));
      break;
    case StepOutcome::reused:
      m_console.say(fmt::format("{} {} {}", count, title(*event.step), m_console.dim("(kept)")));
      break;
    case StepOutcome::finished:
      m_console.say(fmt::format("{} {} {}", count, title(*event.step),
                                m_console.dim(fmt::format("{}, {}", human_seconds(event.wall_seconds),
                                                          human_bytes(event.peak_memory_bytes)))));
      break;
    case StepOutcome::failed:
      m_console.say(fmt::format("{} {} {}", count, title(*event.step), m_console.red("failed")));
      break;
    case StepOutcome::retried:
      m_console.say(fmt::format("{} {} {}", count, title(*event.step), m_console.yellow("again: " + event.message)));
      break;
  }
}

void BuildProgress::draw() {
  if (m_total == 0) return;
  // A block that is higher than the terminal could not be gone back over: the first line, "and 3 more", the cursor's.
  const std::size_t most = std::clamp<std::size_t>(terminal_height(), 4, 11) - 3;
  const auto now = Clock::now();
  const auto seconds = [&](Clock::time_point since) { return std::chrono::duration<double>(now - since).count(); };
  std::string text = fmt::format("[{}/{}] {}", m_done, m_total, human_seconds(seconds(m_began)));
  if (const double left = m_eta_seconds - seconds(m_eta_at); left > 0)
    text += fmt::format(", about {} left", human_seconds(left));
  if (m_reused > 0) text += fmt::format(", {} kept from before", m_reused);
  if (m_failed > 0) text += m_console.red(fmt::format(", {} failed", m_failed));
  std::vector<const Running*> running;
  for (const auto& [id, step] : m_running) running.push_back(&step);
  std::ranges::sort(running, {}, &Running::since);
  Rows rows;
  for (const auto* step : running) {
    if (rows.size() == most) break;
    // The title last: it is what a narrow terminal may cut.
    rows.push_back({human_seconds(seconds(step->since)),
                    step->memory_bytes > 0 ? "about " + human_bytes(step->memory_bytes) : "", step->title});
  }
  text += "\n" + table(rows, "  ");
  if (running.size() > most) text += fmt::format("  and {} more\n", running.size() - most);
  text.pop_back();
  std::string block;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    // A line that the terminal broke would be two to go back over.
    block += (at > 0 ? "\n" : "") + cut(text.substr(at, end - at), terminal_width() - 1);
    at = end + 1;
  }
  m_console.draw(block);
  m_drawn = true;
}

void BuildProgress::json_line(const BuildEvent& event) {
  m_console.document(
      fmt::format("{{\"event\":\"step\",\"outcome\":\"{}\",\"step\":{},\"done\":{},\"total\":{},\"eta_seconds\":{:.1f},"
                  "\"wall_seconds\":{:.3f},"
                  "\"cpu_seconds\":{:.3f},\"peak_memory_bytes\":{},\"message\":{}}}\n",
                  to_string(event.outcome), json_string(event.step->id), event.done, event.total, event.eta_seconds,
                  event.wall_seconds, event.cpu_seconds, event.peak_memory_bytes, json_string(event.message)));
}

std::string dry_run_summary(const Build& build) {
  const auto known = fmt::format("{} would run, {} in the store", counted(*build.steps_would_run, "step", "steps"),
                                 build.steps_reused);
  if (build.steps_unknown == 0) return known;
  const auto all = build.steps_unknown == *build.steps_would_run;
  return fmt::format("{}; whether the store has {} is known when {} {} here", known,
                     all ? "them" : fmt::format("{} of them", build.steps_unknown),
                     fmt::join(build.unknown_before, " and "), build.unknown_before.size() > 1 ? "are" : "is");
}

}  // namespace sagekit::host
