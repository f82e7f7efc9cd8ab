#include "pypa/published_hashes.hpp"
#include "release/facts_cache.hpp"
#include "release/read_wheel_facts.hpp"
#include "release/write_beside.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/parallel.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>

namespace sagekit {

namespace {

namespace fs = std::filesystem;
using Known = std::map<std::string, KnownWheel, std::less<>>;

constexpr std::string_view k_provenance = ".provenance", k_attested = ".whl.provenance";
constexpr std::int64_t k_second = 1'000'000'000;

/// A wheel that was found, what is known or was read of it, or why it is refused.
struct Found {
  std::string path;  ///< below the folder
  FileState state = {};
  bool attested = false;  ///< a provenance object lies beside it
  const KnownWheel* known = nullptr;
  ReleasedWheel wheel = {};
  std::string metadata = {};
  std::optional<Error> refused = {};
};

std::int64_t nanoseconds(const timespec& time) { return std::int64_t{time.tv_sec} * k_second + time.tv_nsec; }

FileState state_of(const struct stat& status) {
  return {static_cast<std::uint64_t>(status.st_size), nanoseconds(status.st_mtim), nanoseconds(status.st_ctim),
          status.st_ino};
}

std::string rfc3339(std::int64_t ns) {
  const std::time_t seconds = ns / k_second;
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec, ns % k_second / 1000);
}

/// Files below `folder`, by path. Hidden ones, and folders to be passed over, are not looked at.
Status list_wheels(const fs::path& folder, const std::string& prefix, const ScanOptions& options,
                   std::vector<Found>& found) {
  std::set<std::string> attested;
  const auto first = found.size();
  std::error_code error;
  fs::directory_iterator at(folder, error);
  if (error)
    return fail(ErrorKind::usage, "FIL001", fmt::format("cannot read {}: {}", folder.string(), error.message()));
  for (; at != fs::directory_iterator(); at.increment(error)) {
    const auto name = at->path().filename().string();
    if (name.starts_with('.')) continue;
    if (at->is_directory(error) && !at->is_symlink(error)) {
      const bool skipped = std::ranges::any_of(
          options.skip, [&](const fs::path& one) { return fs::equivalent(one, at->path(), error); });
      if (!skipped) TRY(list_wheels(at->path(), prefix + name + "/", options, found));
      continue;
    }
    if (name.ends_with(k_attested)) attested.insert(name.substr(0, name.size() - k_provenance.size()));
    if (!name.ends_with(".whl")) continue;
    Found one{.path = prefix + name};
    struct stat status{};
    if (::lstat(at->path().c_str(), &status) != 0 || !S_ISREG(status.st_mode))
      one.refused = Error{ErrorKind::failed, "REL014",
                          fmt::format("{} is no regular file, and may be another one tomorrow", one.path), one.path,
                          "put a copy of the wheel there"};
    one.state = state_of(status);
    found.push_back(std::move(one));
  }
  if (error)
    return fail(ErrorKind::usage, "FIL001", fmt::format("cannot read {}: {}", folder.string(), error.message()));
  for (auto i = first; i < found.size(); ++i)
    found[i].attested = attested.contains(found[i].path.substr(prefix.size()));
  return {};
}

/// Their places are sorted, for what is known of a wheel is large to move.
void sort_by_path(std::vector<Found>& found) {
  std::vector<std::size_t> order(found.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::string_view(found[i].path); });
  std::vector<Found> sorted;
  sorted.reserve(found.size());
  for (const auto i : order) sorted.push_back(std::move(found[i]));
  found = std::move(sorted);
}

std::string metadata_beside(const fs::path& wheel) { return wheel.string() + ".metadata"; }

bool has_metadata_beside(const fs::path& wheel, std::uint64_t bytes) {
  struct stat status{};
  return ::lstat(metadata_beside(wheel).c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         static_cast<std::uint64_t>(status.st_size) == bytes;
}

void read_one(const fs::path& folder, const ScanOptions& options, const WheelNameReader& reader, Inflater& inflater,
              Found& found) {
  const auto file = folder / found.path;
  auto reading = read_wheel_facts(file, reader, inflater);
  if (!reading) {
    found.refused = reading.error();
    if (found.refused->where.empty() || found.refused->where == file.filename().string())
      found.refused->where = file.string();
    return;
  }
  found.wheel = std::move(reading->wheel);
  if (options.with_metadata) found.metadata = std::move(reading->metadata);
  found.wheel.path = found.path;
  found.wheel.modified = rfc3339(found.state.modified_ns);
}

/// Reads those that are not known, side by side: each on a thread with an inflater of its own.
Status read_unknown(const fs::path& folder, const ScanOptions& options, std::vector<Found>& found) {
  std::vector<Found*> wanted;
  std::vector<std::uint64_t> costs;
  for (auto& one : found)
    if (one.known == nullptr && !one.refused) {
      wanted.push_back(&one);
      costs.push_back(one.state.size * 4);  // members grow when they are inflated
    }
  if (wanted.empty()) return {};
  TRY_ASSIGN(const auto reader, WheelNameReader::make(naming_schemes(options.schemes)));
  run_with_workers(costs, std::uint64_t{2} << 30, available_threads(), [&] {
    return [&, inflater = std::make_shared<Inflater>()](std::size_t i) {
      if (!options.stop.stop_requested()) read_one(folder, options, reader, *inflater, *wanted[i]);
    };
  });
  if (options.stop.stop_requested())
    return fail(ErrorKind::interrupted, "BLD006", "stopped while the wheels were read", "run it again");
  return {};
}

/// Two files of one name: the same wheel is listed once, another one is refused.
void join_same_names(std::vector<Found>& found, Scan& scan) {
  std::map<std::string_view, ReleasedWheel*> by_name;
  for (auto& one : found) {
    if (one.refused) {
      scan.refused.push_back(std::move(*one.refused));
      continue;
    }
    const auto [at, added] = by_name.emplace(one.wheel.file, &one.wheel);
    if (!added && at->second->sha256 != one.wheel.sha256)
      scan.refused.push_back(
          {ErrorKind::failed, "REL012",
           fmt::format("{} and {} have one name and are two different wheels (sha256 {} and {})", at->second->path,
                       one.path, at->second->sha256.substr(0, 12), one.wheel.sha256.substr(0, 12)),
           one.path, "keep one of them: installers know a wheel by its name"});
  }
  scan.release.wheels.reserve(by_name.size());
  for (auto& [name, wheel] : by_name) scan.release.wheels.push_back(std::move(*wheel));
}

/// The provenance object beside a wheel (PEP 740) must be about it: an index that links another one's lies.
void check_provenance(const fs::path& folder, Found& found) {
  const auto path = found.path + std::string(k_provenance);
  const auto refuse = [&](const std::string& why) {
    found.refused = Error{ErrorKind::failed, "REL022", fmt::format("{}: {}", path, why), path,
                          "attest the wheel again, or take the file away"};
  };
  const auto text = read_file(folder / path);
  if (!text) return refuse(text.error().message);
  const auto subjects = attested_subjects(*text);
  if (!subjects) return refuse(subjects.error().message);
  const bool about_it = std::ranges::any_of(*subjects, [&](const AttestedSubject& subject) {
    return subject.sha256 == found.wheel.sha256 && subject.name == found.wheel.file;
  });
  if (!about_it) return refuse("it is about another file than the wheel beside it");
  found.wheel.provenance = path;
}

/// What a manifest in the folder says of the wheels that lie there.
Status compare_with_manifest(const fs::path& folder, Scan& scan) {
  const auto path = folder / k_manifest_file;
  std::error_code error;
  if (!fs::exists(path, error)) return {};
  TRY_ASSIGN(const auto text, read_file(path));
  TRY_ASSIGN(const auto manifest, read_release(text, path.string()));
  std::map<std::string_view, const ReleasedWheel*> listed;
  for (const auto& wheel : manifest.wheels) listed.emplace(wheel.file, &wheel);
  for (auto& wheel : scan.release.wheels) {
    const auto found = listed.find(wheel.file);
    if (found == listed.end()) continue;
    const auto* said = found->second;
    if (said->sha256 != wheel.sha256)
      scan.refused.push_back(
          {ErrorKind::failed, "REL013",
           fmt::format("{} is not the wheel that {} lists: sha256 {} here, {} there", wheel.path, k_manifest_file,
                       wheel.sha256, said->sha256),
           wheel.path,
           fmt::format("if the new one is right, delete {} and make it again: sagekit release", path.string())});
    wheel.url = said->url;
    wheel.verdict = said->verdict;
    wheel.uploaded = said->uploaded;
  }
  return {};
}

/// Wheels that were changed a moment ago are left out: another change within the clock's step would not be seen.
Status remember(const fs::path& cache, const std::vector<Found>& found) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  Known known;
  for (const auto& one : found)
    if (!one.refused && one.state.changed_ns + k_second < nanoseconds(now))
      known.emplace(one.path, KnownWheel{one.state, one.wheel});
  TRY(make_directories(cache.parent_path()));
  return write_beside(cache, facts_text(known));
}

}  // namespace

Result<Scan> scan_wheels(const fs::path& folder, const ScanOptions& options) {
  Scan scan;
  std::vector<Found> found;
  TRY(list_wheels(folder, "", options, found));
  sort_by_path(found);

  Known known;
  if (!options.cache.empty())
    if (const auto text = MappedFile::open(options.cache)) known = read_facts(text->bytes());
  for (auto& one : found) {
    const auto at = known.find(one.path);
    if (one.refused || at == known.end() || at->second.state != one.state) continue;
    if (options.with_metadata && !has_metadata_beside(folder / one.path, at->second.wheel.metadata_bytes)) continue;
    one.known = &at->second;
    one.wheel = std::move(at->second.wheel);
  }
  scan.read = static_cast<std::size_t>(std::ranges::count(found, nullptr, &Found::known));
  TRY(read_unknown(folder, options, found));
  // The cache only saves time: a store that cannot be written is said where it matters, not here.
  if (!options.cache.empty() && (scan.read > 0 || known.size() != found.size()))
    if (const auto kept = remember(options.cache, found); !kept) remove_quietly(options.cache);
  for (auto& one : found)
    if (one.attested && !one.refused) check_provenance(folder, one);
  join_same_names(found, scan);
  TRY(compare_with_manifest(folder, scan));
  for (auto& one : found)
    if (!one.metadata.empty()) scan.metadata.push_back({metadata_beside(folder / one.path), std::move(one.metadata)});
  return scan;
}

}  // namespace sagekit
