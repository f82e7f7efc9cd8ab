#include "render/build_progress.hpp"

#include "json_text.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace sagekit::host {

namespace {

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

std::string_view name(StepKind kind) {
  switch (kind) {
    case StepKind::compile: return "compile";
    case StepKind::bind: return "bind";
    case StepKind::link: return "link";
    case StepKind::setup_py: return "setup.py";
  }
  return "";
}

// "compile _fused fused.cu": what a person calls the step.
std::string title(const Step& step) {
  std::string text(name(step.kind));
  if (!step.module.empty()) text += " " + step.module;
  if ((step.kind == StepKind::compile || step.kind == StepKind::bind) && !step.inputs.empty()) {
    const std::string& input = step.inputs.front();
    text += " " + input.substr(input.rfind('/') + 1);
  }
  return text;
}

std::string_view name(StepOutcome outcome) {
  switch (outcome) {
    case StepOutcome::started: return "started";
    case StepOutcome::reused: return "reused";
    case StepOutcome::finished: return "finished";
    case StepOutcome::failed: return "failed";
    case StepOutcome::retried: return "retried";
  }
  return "";
}

}  // namespace

BuildProgress::Form progress_form(bool quiet, bool json_lines, bool ci) {
  if (json_lines) return BuildProgress::Form::json_lines;
  if (quiet) return BuildProgress::Form::quiet;
  return !ci && isatty(STDERR_FILENO) == 1 ? BuildProgress::Form::terminal : BuildProgress::Form::lines;
}

BuildProgress::BuildProgress(const Console& console, Form form) : m_console(console), m_form(form) {}
BuildProgress::~BuildProgress() { clear(); }

void BuildProgress::on_message(const std::string& text) {
  clear();
  if (m_form == Form::json_lines)
    m_console.result(fmt::format("{{\"event\":\"message\",\"text\":{}}}\n", json_string(text)));
  else
    m_console.say(text);
}

void BuildProgress::on_event(const BuildEvent& event) {
  if (event.step == nullptr) return;
  if (event.outcome == StepOutcome::started)
    m_running.emplace(event.step->id, std::chrono::steady_clock::now());
  else if (event.outcome != StepOutcome::retried)
    m_running.erase(event.step->id);
  switch (m_form) {
    case Form::quiet: break;
    case Form::json_lines: json_line(event); break;
    case Form::lines: line(event); break;
    case Form::terminal:
      if (event.outcome != StepOutcome::started && event.outcome != StepOutcome::reused) line(event);
      draw(event);
      break;
  }
}

void BuildProgress::clear() {
  if (m_drawn) fmt::print(stderr, "\r\x1b[K");
  m_drawn = false;
}

void BuildProgress::line(const BuildEvent& event) {
  clear();
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

void BuildProgress::draw(const BuildEvent& event) {
  std::string text = fmt::format("[{}/{}]", event.done, event.total);
  if (event.eta_seconds > 0) text += fmt::format(" about {} left", human_seconds(event.eta_seconds));
  if (!m_running.empty()) {
    const auto oldest = std::ranges::min_element(m_running, {}, [](const auto& entry) { return entry.second; });
    text += fmt::format(" | {} running, longest: {}", m_running.size(), oldest->first);
  }
  text.resize(std::min(text.size(), terminal_width() - 1));
  fmt::print(stderr, "\r\x1b[K{}", text);
  std::fflush(stderr);
  m_drawn = true;
}

void BuildProgress::json_line(const BuildEvent& event) {
  m_console.result(
      fmt::format("{{\"event\":\"step\",\"outcome\":\"{}\",\"step\":{},\"done\":{},\"total\":{},\"eta_seconds\":{:.1f},"
                  "\"wall_seconds\":{:.3f},"
                  "\"cpu_seconds\":{:.3f},\"peak_memory_bytes\":{},\"message\":{}}}\n",
                  name(event.outcome), json_string(event.step->id), event.done, event.total, event.eta_seconds,
                  event.wall_seconds, event.cpu_seconds, event.peak_memory_bytes, json_string(event.message)));
}

}  // namespace sagekit::host
