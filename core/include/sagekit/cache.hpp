#pragma once
// The store's care (docs/store.md): what it holds, what is removed when it grows, whether it is whole; packs that carry
// results from one job to the next.

#include <sagekit/error.hpp>
#include <sagekit/export.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sagekit {

/// What one kind of thing in the store takes. Files that several names share count once, where they are met first.
struct CacheShare {
  std::string kind;           ///< results, builds, toolchains, sources, work, other
  std::uint64_t entries = 0;  ///< of results: records; else folders
  std::uint64_t bytes = 0;
};

struct CacheRun {
  std::string id, what, began;  ///< began: RFC 3339
  bool ended = false;           ///< false: it still runs, or was killed
  std::uint64_t records_made = 0, steps_run = 0, steps_reused = 0, steps_failed = 0;
};

struct CacheStats {
  std::filesystem::path store;
  std::vector<CacheShare> shares;
  std::uint64_t bytes = 0, objects = 0;
  std::optional<CacheRun> last_run;
};

/// Errors: STO005 (usage) when the folder is no store.
SAGEKIT_API Result<CacheStats> cache_stats(const std::filesystem::path& store);

struct TrimOptions {
  std::optional<std::uint64_t> max_bytes;  ///< of the whole store
  std::optional<double> older_than_seconds;
  bool dry_run = false;
};

struct Trimmed {
  std::uint64_t bytes_before = 0, bytes_after = 0;
  std::uint64_t records = 0, objects = 0, folders = 0;  ///< removed, or what would be
  std::uint64_t kept_bytes = 0;                         ///< of what trim never removes: fetched toolchains, git caches
  std::optional<Error> problem;                         ///< STO003 (usage): the first that could not be removed
};

/// Removes what dead processes left and objects that no record names, unless they are younger than an hour (a build may
/// be about to name them); then what was not used for longest: results, and while nothing builds with this store
/// finished builds and prepared sources, until it fits. A result that a running build loses is made again. STO005 as
/// above; STO003 (usage) for results that this user may not read, and nothing is removed.
SAGEKIT_API Result<Trimmed> cache_trim(const std::filesystem::path& store, const TrimOptions& options);

struct CacheCheck {
  std::uint64_t objects = 0, records = 0, bytes = 0;  ///< read and found right
  std::vector<std::string> damaged;                   ///< paths below the store, sorted; they are removed
  std::optional<Error> problem;                       ///< STO003 (usage): the first that could not be read or removed
};

/// Hashes every object and reads every record; what is not what its name says is removed. STO005 as above.
SAGEKIT_API Result<CacheCheck> cache_verify(const std::filesystem::path& store);

struct Packed {
  std::uint64_t records = 0, objects = 0, bytes = 0;
};

/// Writes records and their objects into one tar file; `since_run`: those that the last run made. Errors: STO005,
/// STO006 (no_match) when there is no run to begin at, STO003 (usage) for what this user may not read, FIL002;
/// interrupted. Nothing is left of one that failed.
SAGEKIT_API Result<Packed> cache_export(const std::filesystem::path& store, const std::filesystem::path& file,
                                        bool since_run, const std::stop_token& stop = {});
/// Takes a pack in. Every object is hashed and every record read before the first record is added: a pack with anything
/// else in it adds none (STO007, failed).
SAGEKIT_API Result<Packed> cache_import(const std::filesystem::path& store, const std::filesystem::path& file);

/// {"schema":"sagekit.cache/1", "action": ...}: docs/json.md.
SAGEKIT_API std::string cache_json(const CacheStats& stats);
SAGEKIT_API std::string cache_json(const Trimmed& trimmed, bool dry_run);
SAGEKIT_API std::string cache_json(const CacheCheck& check);
SAGEKIT_API std::string cache_json(const Packed& packed, bool exported);

}  // namespace sagekit
