#include "build/step_context.hpp"

#include "support/file.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace sagekit {

namespace fs = std::filesystem;

fs::path StepContext::real_path(const std::string& symbolic) const {
  static constexpr std::string_view k_source = "{source}", k_work = "{work}";
  const std::string_view text = symbolic;
  if (text.starts_with(k_source)) return source.folder.string() + std::string(text.substr(k_source.size()));
  if (text.starts_with(k_work)) return work.string() + std::string(text.substr(k_work.size()));
  return symbols.path_by_role(symbolic);
}

Result<Command> StepContext::command(const Step& step, const std::vector<std::string>& argv,
                                     const char* log_suffix) const {
  Command command;
  TRY_ASSIGN(command.argv, symbols.expand(argv));
  command.environment = environment;
  for (const auto& line : step.environment) {
    TRY_ASSIGN(const auto text, symbols.expand_word(line));
    const auto equals = text.find('=');
    if (equals != std::string::npos) command.environment[text.substr(0, equals)] = text.substr(equals + 1);
  }
  command.working_directory = source.folder;
  command.output_file = work / "logs" / (step.id + log_suffix);
  command.timeout_seconds = timeout_seconds;
  command.nice = nice;
  // So far and no further: a build that itself yields to the rest of the machine would hardly be given time otherwise.
  constexpr int k_yielding = 10;
  if (yielding != nullptr && yielding->contains(step.id))
    command.nice = std::max(nice.value_or(::getpriority(PRIO_PROCESS, 0)), k_yielding);
  return command;
}

namespace {

void add_times(auto& sum, const auto& result) {
  sum.cpu_seconds += result.cpu_seconds;
  sum.wall_seconds += result.wall_seconds;
  sum.peak_memory_bytes = std::max(sum.peak_memory_bytes, result.peak_memory_bytes);
}

}  // namespace

void add(Measured& sum, const CommandResult& result) { add_times(sum, result); }
void add(CommandResult& sum, const CommandResult& result) { add_times(sum, result); }
void add(CommandResult& sum, const Measured& measured) { add_times(sum, measured); }

std::string last_lines(const fs::path& log) {
  constexpr std::size_t k_lines = 20, k_bytes = 16 * 1024;
  const auto text = read_file(log);
  if (!text) return {};
  const auto lines = split(trim(std::string_view(*text).substr(text->size() - std::min(text->size(), k_bytes))), '\n');
  const auto first = lines.size() - std::min(lines.size(), k_lines);
  return join({lines.begin() + static_cast<std::ptrdiff_t>(first), lines.end()}, "\n");
}

bool ran_out_of_memory(const CommandResult& result, const std::string& last_lines) {
  constexpr int k_kill = 9, k_killed = 128 + k_kill;
  if (result.ok() || result.timed_out) return false;
  return result.signal == k_kill || result.exit_code == k_killed ||
         last_lines.find("Killed signal") != std::string::npos ||
         last_lines.find("died due to signal 9") != std::string::npos;
}

/// A compiler that finds no space says so where its words are kept: on the same disk, which loses them.
std::string full_disk(const fs::path& work) {
  constexpr std::uintmax_t k_full = 1 << 20, k_mib = 1 << 20;
  std::error_code error;
  const auto space = fs::space(work, error);
  if (error || space.available >= k_full) return {};
  return fmt::format(
      "no space is left where the build works ({}, {} MiB in all): free some, or choose another disk "
      "with --store",
      work.string(), space.capacity / k_mib);
}

namespace {

/// Of the signals that end compilers.
std::string_view name_of(int signal) {
  switch (signal) {
    case SIGILL: return " (SIGILL)";
    case SIGABRT: return " (SIGABRT)";
    case SIGBUS: return " (SIGBUS)";
    case SIGKILL: return " (SIGKILL: too little memory, or somebody did it)";
    case SIGSEGV: return " (SIGSEGV: the compiler's own fault)";
    default: return "";
  }
}

}  // namespace

StepFailure failure_of(const Step& step, const Command& command, const CommandResult& result) {
  StepFailure failure{{},
                      step.id,
                      result.exit_code,
                      command.output_file,
                      last_lines(command.output_file),
                      command.argv,
                      command.working_directory};
  if (result.signal != 0 && !result.timed_out)
    failure.cause += fmt::format("{}it was ended by signal {}{}", failure.cause.empty() ? "" : "\n", result.signal,
                                 name_of(result.signal));
  if (result.timed_out)
    failure.cause += fmt::format("\nit took longer than {:.10g} s and was ended", command.timeout_seconds.value_or(0));
  if (auto full = full_disk(command.output_file.parent_path()); !full.empty())
    failure.cause = failure.cause.empty() ? std::move(full) : full + "\n" + failure.cause;
  return failure;
}

void name_real_places(StepFailure& failure, const fs::path& links) {
  static constexpr std::string_view k_to_compiler = "-Xcompiler=";
  if (failure.argv.empty()) return;
  std::vector<std::pair<std::string, std::string>> places;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(links, error))
    if (entry.is_symlink(error)) places.emplace_back(entry.path().string(), fs::read_symlink(entry, error).string());
  // One link's name may be the beginning of another's.
  std::ranges::sort(places, std::greater(), [](const auto& place) { return place.first.size(); });
  for (const auto& [link, place] : places) {
    failure.cause = replace_all(std::move(failure.cause), link, place);
    for (auto& word : failure.argv) {
      if (word.find(link) == std::string::npos) continue;
      word = replace_all(std::move(word), link, place);
      // nvcc hands these to a shell as they are: quotes of its own keep the blank.
      if (word.starts_with(k_to_compiler) && word[k_to_compiler.size()] != '"')
        word = fmt::format("{}\"{}\"", k_to_compiler, word.substr(k_to_compiler.size()));
    }
  }
}

}  // namespace sagekit
