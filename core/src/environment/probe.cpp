#include "environment/probe.hpp"

#include "support/file.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

namespace sagekit {

namespace fs = std::filesystem;

namespace {
constexpr std::size_t k_fingerprint_bytes = 65536;
}  // namespace

Probed<std::string> ProbeContext::output_of(std::vector<std::string> argv,
                                            const std::map<std::string, std::string>& extra) const {
  Command command;
  command.argv = std::move(argv);
  command.environment = options.child_environment;
  for (const auto& [name, value] : extra) command.environment[name] = value;
  const double left =
      options.all_seconds - std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (left <= 0)
    return std::unexpected(fmt::format("was not asked: the programs before it took {} s", options.all_seconds));
  const double limit = std::min(options.timeout_seconds, left);
  command.timeout_seconds = limit;
  auto result = runner.run(command);
  if (!result) return std::unexpected(result.error().message);
  if (result->timed_out) return std::unexpected(fmt::format("gave no answer within {:.3g} s", limit));
  if (result->ok()) return std::move(result->output);
  const std::string line = first_line(result->output);
  const std::string end = result->signal != 0 ? fmt::format("killed by signal {}", result->signal)
                                              : fmt::format("exit code {}", result->exit_code);
  return std::unexpected(line.empty() ? "does not start: " + end : fmt::format("does not start: {} ({})", line, end));
}

bool add_program(Sha256& hash, const fs::path& program) {
  hash.field(program.filename().string());
  const auto file = MappedFile::open(program);
  if (!file) return false;
  const std::string_view bytes = file->bytes();
  hash.field(std::to_string(bytes.size()));
  hash.field(bytes.substr(0, k_fingerprint_bytes));
  hash.field(bytes.substr(bytes.size() - std::min(bytes.size(), k_fingerprint_bytes)));
  return true;
}

void add_listing(Sha256& hash, const fs::path& folder) {
  std::vector<std::string> lines;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (!it->is_regular_file(ignored)) continue;
    lines.push_back(fmt::format("{} {}", it->path().lexically_relative(folder).string(), it->file_size(ignored)));
  }
  std::ranges::sort(lines);
  for (const auto& line : lines) hash.field(line);
}

std::string first_line(std::string_view text) {
  for (const auto& line : split(text, '\n'))
    if (auto words = trim(line); !words.empty()) return words;
  return {};
}

std::string leading_version(std::string_view text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  text = text.substr(0, end);
  while (text.ends_with('.')) text.remove_suffix(1);
  return std::string(text);
}

std::vector<int> version_numbers(std::string_view version) {
  std::vector<int> numbers;
  for (const auto& part : split(leading_version(version), '.')) {
    int number = 0;
    std::from_chars(part.data(), part.data() + part.size(), number);
    numbers.push_back(number);
  }
  return numbers;
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool is_on_noexec(const fs::path& path) {
  struct statvfs system{};
  return ::statvfs(path.c_str(), &system) == 0 && (system.f_flag & ST_NOEXEC) != 0;
}

bool is_executable(const fs::path& path) { return is_file(path) && ::access(path.c_str(), X_OK) == 0; }

fs::path real_path(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  return error ? path : real;
}

}  // namespace sagekit
