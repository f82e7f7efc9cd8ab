#include "store/action_record.hpp"
#include "store/run_journal.hpp"
#include "store/store_files.hpp"
#include "support/folder.hpp"
#include "support/json.hpp"
#include "support/try.hpp"

#include <sagekit/cache.hpp>

#include <algorithm>
#include <map>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

/// The folders of a store, and what people call what is in them. What is met first counts a file of several names.
const std::vector<std::pair<std::string, std::string>>& folder_kinds() {
  static const std::vector<std::pair<std::string, std::string>> kinds{
      {"objects", "results"}, {"actions", "results"},       {"history", "results"}, {"builds", "builds"},
      {"sources", "sources"}, {"git", "sources"},           {"work", "work"},       {"tmp", "work"},
      {"claims", "work"},     {"toolchains", "toolchains"},
  };
  return kinds;
}

/// How many things a person would count in it.
std::uint64_t entries_in(const fs::path& folder, const std::string& name) {
  if (name == "objects" || name == "history" || name == "claims") return 0;
  if (name == "toolchains")  // a fetch that ended leaves its empty folder, one that failed what came in .partial
    return static_cast<std::uint64_t>(std::ranges::count_if(entries_of(folder), [](const fs::path& tree) {
      return tree.filename() != ".partial" && !entries_of(tree).empty();
    }));
  if (name != "actions") return entries_of(folder).size();
  std::uint64_t records = 0;
  each_file(folder, [&](const fs::path& file) { records += file.extension() == k_record_suffix; });
  return records;
}

/// What this user may not read has no bytes that could be counted: "0 B" would say that it is empty.
Status check_readable(const fs::path& folder, int depth = 0) {
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(folder, error)) || error) return {};
  fs::directory_iterator(folder, error);
  if (error == std::errc::permission_denied) return std::unexpected(store_problem("cannot read", folder, error));
  if (depth < 2)  // the store, its folders, a tree or a build in them
    for (const auto& entry : entries_of(folder)) TRY(check_readable(entry, depth + 1));
  return {};
}

}  // namespace

Result<CacheStats> cache_stats(const fs::path& store) {
  TRY(check_is_store(store));
  TRY(check_readable(store));
  CacheStats stats;
  stats.store = store;
  for (const auto* kind : {"results", "builds", "sources", "toolchains", "work", "other"})
    stats.shares.push_back({kind, 0, 0});
  DiskUse use;
  const auto count = [&](const fs::path& folder, const std::string& kind) {
    auto& share = *std::ranges::find(stats.shares, kind, &CacheShare::kind);
    share.entries += entries_in(folder, folder.filename().string());
    each_file(folder, [&](const fs::path& file) { share.bytes += use.add(file); });
  };
  for (const auto& [name, kind] : folder_kinds()) count(store / name, kind);
  for (const auto& folder : entries_of(store))
    if (std::ranges::find(folder_kinds(), folder.filename().string(), &std::pair<std::string, std::string>::first) ==
        folder_kinds().end())
      count(folder, "other");
  stats.bytes = use.bytes();
  each_file(store / "objects", [&](const fs::path& file) { stats.objects += object_name(file).has_value(); });
  TRY_ASSIGN(const auto run, last_run(store / "runs"));
  if (run)
    stats.last_run = CacheRun{run->id,          run->what,      run->began,        run->ended,
                              run->made.size(), run->steps_run, run->steps_reused, run->steps_failed};
  return stats;
}

std::string cache_json(const CacheStats& stats) {
  Json shares = Json::object();
  for (const auto& share : stats.shares) shares[share.kind] = {{"entries", share.entries}, {"bytes", share.bytes}};
  Json run = nullptr;
  if (const auto& last = stats.last_run)
    run = {{"id", last->id},
           {"what", last->what},
           {"began", last->began},
           {"ended", last->ended},
           {"records_made", last->records_made},
           {"steps", {{"run", last->steps_run}, {"reused", last->steps_reused}, {"failed", last->steps_failed}}}};
  return json_text({{"schema", "sagekit.cache/1"},
                    {"action", "stats"},
                    {"store", stats.store.string()},
                    {"bytes", stats.bytes},
                    {"objects", stats.objects},
                    {"kept", std::move(shares)},
                    {"last_run", std::move(run)}});
}

std::string cache_json(const Trimmed& trimmed, bool dry_run) {
  return json_text(
      {{"schema", "sagekit.cache/1"},
       {"action", "trim"},
       {"dry_run", dry_run},
       {"bytes_before", trimmed.bytes_before},
       {"bytes_after", trimmed.bytes_after},
       {"kept_bytes", trimmed.kept_bytes},
       {"removed", {{"records", trimmed.records}, {"objects", trimmed.objects}, {"folders", trimmed.folders}}}});
}

std::string cache_json(const CacheCheck& check) {
  return json_text({{"schema", "sagekit.cache/1"},
                    {"action", "verify"},
                    {"objects", check.objects},
                    {"records", check.records},
                    {"bytes", check.bytes},
                    {"damaged", check.damaged}});
}

std::string cache_json(const Packed& packed, bool exported) {
  return json_text({{"schema", "sagekit.cache/1"},
                    {"action", exported ? "export" : "import"},
                    {"records", packed.records},
                    {"objects", packed.objects},
                    {"bytes", packed.bytes}});
}

}  // namespace sagekit
