#include "interrupt.hpp"
#include "render/table.hpp"
#include "render/text.hpp"
#include "session.hpp"
#include "verb.hpp"

#include <sagekit/cache.hpp>

#include <fmt/format.h>

namespace sagekit::host {

namespace {

struct CacheStatsArguments {
  std::string store;
};
struct CacheTrimArguments {
  std::string store, older_than;
  std::uint64_t max_bytes = 0;
  bool dry_run = false;
};
struct CacheVerifyArguments {
  std::string store;
};
struct CacheExportArguments {
  std::string store, file;
  bool since_run = false;
};
struct CacheImportArguments {
  std::string store, file;
};

void declare(Flags& flags, CacheStatsArguments& arguments) { declare_store(flags, arguments.store); }

void declare(Flags& flags, CacheTrimArguments& arguments) {
  flags.memory("--max-size", arguments.max_bytes, "Remove what was used least lately until the store has this size");
  flags.value("--older-than", "TIME", arguments.older_than, "Remove what was not used for so long: 30d, 12h, 90m");
  flags.on("-n,--dry-run", arguments.dry_run, "Say what would be removed; remove nothing");
  declare_store(flags, arguments.store);
}

void declare(Flags& flags, CacheVerifyArguments& arguments) { declare_store(flags, arguments.store); }

void declare(Flags& flags, CacheExportArguments& arguments) {
  flags.argument("file", arguments.file, "Pack to write: a tar file");
  flags.on("--since-run", arguments.since_run, "Only what the last build made");
  declare_store(flags, arguments.store);
}

void declare(Flags& flags, CacheImportArguments& arguments) {
  flags.argument("file", arguments.file, "Pack to read");
  declare_store(flags, arguments.store);
}

int run(Session& session, const CacheStatsArguments& arguments) {
  const auto store = session.store(arguments.store);
  if (!store) return report(session, store.error());
  const auto stats = cache_stats(*store);
  if (!stats) return report(session, stats.error());
  if (session.global.json) return session.console.document(cache_json(*stats)), 0;
  Rows rows;
  for (const auto& share : stats->shares)
    rows.push_back({share.kind, human_bytes(share.bytes),
                    share.kind == "results" ? fmt::format("{} records, {} objects", share.entries, stats->objects)
                                            : fmt::format("{}", share.entries)});
  rows.push_back({"all", human_bytes(stats->bytes), ""});
  session.console.result(stats->store.string() + "\n" + table(rows, "  "));
  if (const auto& run = stats->last_run)
    session.console.result(fmt::format(
        "last run: {}, {}: {}\n", run->what, run->began,
        run->ended ? fmt::format("{} run, {} kept from before, {} failed", counted(run->steps_run, "step", "steps"),
                                 run->steps_reused, run->steps_failed)
                   : fmt::format("it did not end; {} results are kept of it", run->records_made)));
  return 0;
}

int run(Session& session, const CacheTrimArguments& arguments) {
  const auto store = session.store(arguments.store);
  if (!store) return report(session, store.error());
  TrimOptions options;
  options.dry_run = arguments.dry_run;
  if (arguments.max_bytes > 0) options.max_bytes = arguments.max_bytes;
  if (!arguments.older_than.empty()) {
    auto age = parse_duration(arguments.older_than);
    if (!age) return age.error().message.insert(0, "--older-than: "), report(session, age.error());
    options.older_than_seconds = *age;
  }
  const auto trimmed = cache_trim(*store, options);
  if (!trimmed) return report(session, trimmed.error());
  if (session.global.json) {
    session.console.document(cache_json(*trimmed, arguments.dry_run));
  } else {
    session.console.say(fmt::format("{} {} records, {} objects, {} folders: {} -> {}",
                                    arguments.dry_run ? "would remove" : "removed", trimmed->records, trimmed->objects,
                                    trimmed->folders, human_bytes(trimmed->bytes_before),
                                    human_bytes(trimmed->bytes_after)));
    if (!trimmed->problem && options.max_bytes && trimmed->bytes_after > *options.max_bytes)
      session.console.warn(
          fmt::format("that is more than asked for: {} are fetched toolchains and git caches, which stay",
                      human_bytes(trimmed->kept_bytes)),
          "sagekit toolchain remove --all" + session.store_words(arguments.store));
  }
  return trimmed->problem ? report(session, *trimmed->problem) : 0;
}

int run(Session& session, const CacheVerifyArguments& arguments) {
  const auto store = session.store(arguments.store);
  if (!store) return report(session, store.error());
  const auto check = cache_verify(*store);
  if (!check) return report(session, check.error());
  for (const auto& path : check->damaged)
    session.console.show(Error{ErrorKind::failed, "STO001", path + " was damaged and is removed", "",
                               "it is made again when it is needed; if it comes back, look at the disk"});
  if (session.global.json)
    session.console.document(cache_json(*check));
  else
    session.console.result(fmt::format("{} objects and {} records are whole, {}\n", check->objects, check->records,
                                       human_bytes(check->bytes)));
  if (check->problem) return report(session, *check->problem);
  return check->damaged.empty() ? 0 : exit_code(ErrorKind::failed);
}

int say_packed(const Session& session, const Result<Packed>& packed, const std::string& file, bool exported) {
  if (!packed) return report(session, packed.error());
  if (session.global.json)
    session.console.document(cache_json(*packed, exported));
  else
    session.console.say(fmt::format("{}: {} records and {} objects, {}", file, packed->records, packed->objects,
                                    human_bytes(packed->bytes)));
  return 0;
}

int run(Session& session, const CacheExportArguments& arguments) {
  const std::stop_token stop = stop_on_signals();
  const auto store = session.store(arguments.store);
  if (!store) return report(session, store.error());
  return say_packed(session, cache_export(*store, arguments.file, arguments.since_run, stop), arguments.file, true);
}

int run(Session& session, const CacheImportArguments& arguments) {
  const auto store = session.store(arguments.store);
  if (!store) return report(session, store.error());
  return say_packed(session, cache_import(*store, arguments.file), arguments.file, false);
}

}  // namespace

std::vector<Verb> cache_verbs() {
  return {make_group({.name = "cache",
                      .what = "The store of finished steps: its size, its health, packs of it",
                      .examples = {"sagekit cache stats", "sagekit cache trim --max-size 20G"}}),
          make_verb<CacheStatsArguments>({.name = "cache stats",
                                          .what = "What is kept, each kind with its bytes; what the last build reused",
                                          .examples = {"sagekit cache stats", "sagekit cache stats --json"}},
                                         declare, run),
          make_verb<CacheTrimArguments>(
              {.name = "cache trim",
               .what = "Remove what was used least lately, and what killed builds left",
               .examples = {"sagekit cache trim --max-size 20G", "sagekit cache trim --older-than 30d --dry-run"},
               .exits = {{0, "done, also where fetched toolchains alone are more than --max-size"},
                         {2, "something could not be removed: the store is someone else's, or read-only"}}},
              declare, run),
          make_verb<CacheVerifyArguments>({.name = "cache verify",
                                           .what = "Hash every result; remove what is damaged",
                                           .examples = {"sagekit cache verify", "sagekit cache verify --json"},
                                           .exits = {{0, "all are whole"},
                                                     {1, "something was damaged, and is removed"},
                                                     {2, "something could not be read, or removed"}}},
                                          declare, run),
          make_verb<CacheExportArguments>(
              {.name = "cache export",
               .what = "Write results into one file, for another job or machine",
               .examples = {"sagekit cache export results.tar", "sagekit cache export --since-run shard-2.tar"},
               .exits = {{0, "written"}, {4, "--since-run, and no build has run"}}},
              declare, run),
          make_verb<CacheImportArguments>(
              {.name = "cache import",
               .what = "Take in such a file: every object is hashed, and a wrong one refuses all",
               .examples = {"sagekit cache import results.tar", "sagekit cache import shard-2.tar --json"},
               .exits = {{0, "taken in"}, {1, "it is no pack, or something in it is not what it says"}}},
              declare, run)};
}

}  // namespace sagekit::host
