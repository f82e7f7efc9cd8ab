#include "store/housekeeping.hpp"

#include "support/file.hpp"
#include "support/folder.hpp"
#include "support/run_owner.hpp"

#include <chrono>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::hours k_day{24}, k_week{7 * 24};

bool older_than(const fs::path& path, std::chrono::hours age) {
  std::error_code error;
  const auto time = fs::last_write_time(path, error);
  return !error && fs::file_time_type::clock::now() - time > age;
}

bool is_abandoned(const fs::path& folder) {
  const auto owner = owner_of(folder.filename().string());
  return owner == Owner::dead || (owner == Owner::unknown && older_than(folder, k_week));
}

bool is_logs(const fs::path& path) { return path.filename() == "logs"; }

/// Is there more in it than logs that are kept yet?
bool has_more_than_logs(const fs::path& work) {
  for (const auto& part : entries_of(work))
    if (!is_logs(part)) return true;
  return older_than(work, k_week) || entries_of(work / "logs").empty();
}

}  // namespace

std::vector<fs::path> abandoned(const fs::path& store) {
  std::vector<fs::path> found;
  for (const auto& work : entries_of(store / "work"))
    if (is_abandoned(work) && has_more_than_logs(work)) found.push_back(work);
  for (const auto& scratch : entries_of(store / "tmp"))
    if (is_abandoned(scratch)) found.push_back(scratch);
  // A lock that is removed while it is held only lets a step be made twice.
  for (const auto& shard : entries_of(store / "claims"))
    for (const auto& lock : entries_of(shard))
      if (older_than(lock, k_day)) found.push_back(lock);
  return found;
}

bool in_use(const fs::path& store) {
  for (const auto& work : entries_of(store / "work"))
    if (owner_of(work.filename().string()) == Owner::alive) return true;
  return false;
}

void clean_up(const fs::path& store) {
  for (const auto& path : abandoned(store)) {
    if (path.parent_path().filename() != "work" || older_than(path, k_week)) {
      remove_quietly(path);
      continue;
    }
    for (const auto& part : entries_of(path))
      if (!is_logs(part)) remove_quietly(part);
    if (entries_of(path / "logs").empty()) remove_quietly(path);
  }
}

}  // namespace sagekit
