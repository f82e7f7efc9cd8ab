#include "store/run_journal.hpp"

#include "store/store_files.hpp"
#include "support/file.hpp"
#include "support/folder.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/run_owner.hpp"
#include "support/text.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t k_runs_kept = 50;
constexpr std::string_view k_extension = ".jsonl";

/// Names sort as the runs began.
std::vector<fs::path> journals(const fs::path& folder) {
  auto files = entries_of(folder);
  std::erase_if(files, [](const fs::path& file) { return file.extension() != k_extension; });
  return files;
}

using Clock = std::chrono::system_clock;

std::string time_text(Clock::time_point time, const char* form) {
  const std::time_t seconds = Clock::to_time_t(std::chrono::floor<std::chrono::seconds>(time));
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  std::string text(32, '\0');
  text.resize(std::strftime(text.data(), text.size(), form, &utc));
  return text;
}

}  // namespace

std::shared_ptr<RunJournal> RunJournal::begin(const fs::path& folder, const std::string& what) {
  if (!make_directories(folder)) return nullptr;
  auto old = journals(folder);
  for (std::size_t i = 0; i + k_runs_kept <= old.size(); ++i) remove_quietly(old[i]);
  // Read once: time(2) lags behind the clock that has microseconds, and a run would sort a second too early.
  const auto now = Clock::now();
  const auto micros = (now.time_since_epoch() % std::chrono::seconds(1)) / std::chrono::microseconds(1);
  const auto path =
      folder / fmt::format("{}.{:06}@{}{}", time_text(now, "%Y%m%dT%H%M%S"), micros, own_mark(), k_extension);
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!file.open()) return nullptr;
  const std::shared_ptr<RunJournal> journal(new RunJournal(path, std::move(file)));
  journal->line(json_line({{"began", time_text(now, "%Y-%m-%dT%H:%M:%SZ")}, {"what", what}}));
  return journal;
}

RunJournal::~RunJournal() {
  std::error_code ignored;
  if (!m_counts) fs::remove(m_path, ignored);
}

void RunJournal::line(const std::string& text) {
  const auto whole = text + "\n";
  const std::lock_guard lock(m_mutex);
  [[maybe_unused]] const auto written = ::write(m_file.get(), whole.data(), whole.size());
}

void RunJournal::made(const std::string& record) {
  line(json_line({{"made", record}}));
  const std::lock_guard lock(m_mutex);
  m_counts = true;
}

void RunJournal::ended(std::uint64_t run, std::uint64_t reused, std::uint64_t failed) {
  line(json_line({{"run", run}, {"reused", reused}, {"failed", failed}}));
  const std::lock_guard lock(m_mutex);
  m_counts = true;
}

Result<std::optional<Run>> last_run(const fs::path& folder) {
  if (const auto closed = cannot_read(folder)) return std::unexpected(store_problem("cannot read", folder, closed));
  const auto files = journals(folder);
  if (files.empty()) return std::nullopt;
  const auto& file = files.back();
  if (const auto closed = cannot_read(file)) return std::unexpected(store_problem("cannot read", file, closed));
  const auto text = read_file(file);
  if (!text) return std::nullopt;
  Run run;
  run.id = file.stem().string();
  for (const auto& line : split(*text, '\n')) {
    const auto json = parse_json(line);
    if (!json.is_object()) continue;  // the end of it, cut off
    const auto number = [&](const char* name) {
      const auto found = json.find(name);
      return found != json.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
    };
    if (json.contains("began")) run.began = text_at(json, "began"), run.what = text_at(json, "what");
    if (auto record = text_at(json, "made"); !record.empty()) run.made.push_back(std::move(record));
    if (!json.contains("run")) continue;
    run.ended = true;
    run.steps_run = number("run");
    run.steps_reused = number("reused");
    run.steps_failed = number("failed");
  }
  return run;
}

}  // namespace sagekit
