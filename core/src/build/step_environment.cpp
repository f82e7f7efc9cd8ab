#include "build/step_environment.hpp"

#include "support/format.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <vector>

namespace sagekit {

namespace {

/// Variables of gcc, clang, nvcc, ld and setuptools that add or change flags behind an argv's back.
constexpr std::array<std::string_view, 20> k_meddling{"CPATH",
                                                      "C_INCLUDE_PATH",
                                                      "CPLUS_INCLUDE_PATH",
                                                      "LIBRARY_PATH",
                                                      "GCC_EXEC_PREFIX",
                                                      "COMPILER_PATH",
                                                      "NVCC_APPEND_FLAGS",
                                                      "NVCC_PREPEND_FLAGS",
                                                      "NVCC_CCBIN",
                                                      "CFLAGS",
                                                      "CXXFLAGS",
                                                      "CPPFLAGS",
                                                      "LDFLAGS",
                                                      "LD_RUN_PATH",
                                                      "DEPENDENCIES_OUTPUT",
                                                      "SUNPRO_DEPENDENCIES",
                                                      "TORCH_CUDA_ARCH_LIST",
                                                      "CC",
                                                      "CXX",
                                                      "PWD"};

/// What one of upstream's compile jobs may take; setup.py knows no memory budget, only a number of jobs.
constexpr std::uint64_t k_setup_py_job_bytes = std::uint64_t{4} << 30;

}  // namespace

Result<std::string> source_date_epoch(const std::string& date) {
  const auto bad = [&date] {
    return fail(ErrorKind::usage, "BLD007", fmt::format("\"{}\" is no time of the form 2026-01-17T17:43:28Z", date),
                "mend the revision's date in the plugin");
  };
  if (date.size() != 20 || date[4] != '-' || date[7] != '-' || date[10] != 'T' || date[13] != ':' || date[16] != ':' ||
      date[19] != 'Z')
    return bad();
  std::array<int, 6> numbers{};
  constexpr std::array<std::pair<std::size_t, std::size_t>, 6> k_fields{
      {{0, 4}, {5, 2}, {8, 2}, {11, 2}, {14, 2}, {17, 2}}};
  for (std::size_t i = 0; i < k_fields.size(); ++i) {
    const auto text = date.substr(k_fields[i].first, k_fields[i].second);
    if (!is_digits(text)) return bad();
    std::from_chars(text.data(), text.data() + text.size(), numbers[i]);
  }
  using namespace std::chrono;
  const year_month_day day{year(numbers[0]), month(static_cast<unsigned>(numbers[1])),
                           std::chrono::day(static_cast<unsigned>(numbers[2]))};
  if (!day.ok()) return bad();
  const auto time = sys_days(day) + hours(numbers[3]) + minutes(numbers[4]) + seconds(numbers[5]);
  return std::to_string(duration_cast<seconds>(time.time_since_epoch()).count());
}

std::map<std::string, std::string> step_environment(std::map<std::string, std::string> base,
                                                    const std::vector<const Cell*>& cells,
                                                    const std::filesystem::path& scratch, const std::string& epoch,
                                                    const SchedulerLimits& limits) {
  for (const auto name : k_meddling) base.erase(std::string(name));
  std::vector<std::string> folders;
  for (const auto* cell : cells) {
    if (!cell->toolchain) continue;
    const auto folder = cell->toolchain->host_compiler.executable.parent_path().string();
    if (!folder.empty() && std::ranges::find(folders, folder) == folders.end()) folders.push_back(folder);
  }
  if (const auto path = base["PATH"]; !path.empty()) folders.push_back(path);
  base["PATH"] = join(folders, ":");
  base["TMPDIR"] = scratch.string();
  base["SOURCE_DATE_EPOCH"] = epoch;
  base["LC_ALL"] = "C";
  auto jobs = std::max<std::uint64_t>(limits.jobs, 1);
  if (limits.memory_bytes != 0) jobs = std::clamp<std::uint64_t>(limits.memory_bytes / k_setup_py_job_bytes, 1, jobs);
  base["MAX_JOBS"] = std::to_string(jobs);
  return base;
}

}  // namespace sagekit
