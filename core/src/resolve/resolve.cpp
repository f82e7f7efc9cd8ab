#include "inspect/name_of_file.hpp"
#include "resolve/judge.hpp"
#include "resolve/look.hpp"
#include "resolve/rulings.hpp"
#include "support/file.hpp"
#include "support/file_kind.hpp"
#include "support/format.hpp"
#include "support/parallel.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/naming.hpp>
#include <sagekit/nearest.hpp>
#include <sagekit/resolve.hpp>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <set>

namespace sagekit {

namespace {

/// A candidate on its way.
struct Entry {
  Candidate candidate;
  Traits traits;
  Ruling ruling;
};

/// Names say all there is to know of most wheels, and reading ten thousand takes a while.
void for_all(std::size_t count, const std::function<void(std::size_t)>& work) {
  constexpr std::size_t k_at_once = 256;
  const std::size_t pieces = (count + k_at_once - 1) / k_at_once;
  run_in_parallel(pieces, pieces < 2 ? 1 : available_threads(), [&](std::size_t piece) {
    const auto end = std::min(count, (piece + 1) * k_at_once);
    for (std::size_t i = piece * k_at_once; i < end; ++i) work(i);
  });
}

std::string join_words(const std::string& message, const std::string& hint) {
  return hint.empty() ? message : message + ": " + hint;
}

/// What lies under a wheel's name and is none, with what to do; "" = a zip archive, or something for who looks into it.
/// Its ends tell: a name is not all that is judged of a download that failed.
std::string other_file(const Candidate& candidate) {
  constexpr std::size_t k_longest_end = 22 + 0xffff;  // the end record and its comment
  if (candidate.remote) return {};
  const auto file = MappedFile::open(candidate.address);
  if (!file) return {};
  const std::string_view bytes = file->bytes();
  const auto end = bytes.substr(bytes.size() - std::min(bytes.size(), k_longest_end));
  if (bytes.starts_with("PK") && end.rfind("PK\x05\x06") != end.npos) return {};
  const auto kind = other_kind(Bytes(bytes));
  return kind ? fmt::format("this is no wheel but {}: {}", kind->what, kind->hint) : std::string();
}

Judged judged(Entry& entry) {
  return {std::move(entry.candidate),
          std::move(entry.ruling.code),
          std::move(entry.ruling.reason),
          std::move(entry.ruling.would_tell),
          std::move(entry.ruling.facts),
          std::move(entry.traits.sha256),
          entry.traits.may_have_gpu_code(),
          entry.traits.has_metadata ? std::optional(std::move(entry.traits.requires_dist)) : std::nullopt};
}

Result<std::string> choose_package(const std::set<std::string>& there) {
  if (there.size() < 2) return there.empty() ? std::string() : *there.begin();
  return fail(ErrorKind::usage, "RES006",
              fmt::format("wheels of several packages are there: {}", join({there.begin(), there.end()}, ", ")),
              "choose one: --package " + join({there.begin(), there.end()}, ", or --package "));
}

/// One name and two contents: nobody can know which one a person means.
void mark_repeated(std::vector<Entry>& entries) {
  std::map<std::string, std::string> hashes;
  std::set<std::string> twice;
  for (const auto& entry : entries) {
    if (entry.candidate.sha256.empty()) continue;
    const auto [at, fresh] = hashes.emplace(entry.candidate.file, entry.candidate.sha256);
    if (!fresh && at->second != entry.candidate.sha256) twice.insert(entry.candidate.file);
  }
  std::set<std::string> seen;
  std::erase_if(entries, [&](const Entry& entry) {
    return !twice.contains(entry.candidate.file) && !seen.insert(entry.candidate.file).second;
  });
  for (auto& entry : entries)
    if (twice.contains(entry.candidate.file)) entry.traits.contradiction = "two different wheels have this name";
}

/// Looks into one wheel as long as that can still change something.
Status look_into(Entry& entry, const Target& target, Looker& looker) {
  for (int look = 0; look < 2 && entry.ruling.fit != Fit::refused; ++look) {
    const bool had_metadata = entry.traits.has_metadata;
    if (auto looked = looker.look(entry.candidate, entry.traits); !looked) {
      if (looked.error().kind == ErrorKind::interrupted) return looked;
      // A wheel that nobody could read is no fit, whatever its name promises.
      entry.ruling = {
          Fit::unknown,        "RES211",           fmt::format("it could not be read: {}", looked.error().message),
          looked.error().hint, entry.ruling.facts, entry.ruling.sass};
      return {};
    }
    entry.ruling = judge_wheel_for(entry.traits, entry.candidate, target);
    // METADATA beside the wheel was the first look; the wheel is the second.
    if (!entry.candidate.remote || had_metadata || entry.candidate.core_metadata_sha256.empty()) break;
  }
  return {};
}

/// METADATA that an index offers beside a wheel (PEP 658) costs one short answer, and rules out the wheels of other
/// torch releases, which would take the places of those that are worth a look.
void ask_for_metadata(const std::vector<std::pair<Rank, Entry*>>& open, const Target& target,
                      const ResolveOptions& options, Looker& looker) {
  constexpr unsigned k_at_once = 8;
  std::vector<Entry*> offered;
  for (const auto& [rank, entry] : open)
    if (entry->candidate.remote && !entry->candidate.core_metadata_sha256.empty() &&
        offered.size() < options.most_metadata)
      offered.push_back(entry);
  if (offered.empty()) return;
  if (options.say) options.say(fmt::format("asking for the metadata of {} wheels", offered.size()));
  std::atomic<bool> in_vain = false;
  run_in_parallel(offered.size(), k_at_once, [&](std::size_t i) {
    Entry& entry = *offered[i];
    // A server that fails is not asked a thousand times: who looks into the best of them tells of it.
    if (in_vain) return;
    if (const auto asked = looker.ask_for_metadata(entry.candidate, entry.traits))
      entry.ruling = judge_wheel_for(entry.traits, entry.candidate, target);
    else if (asked.error().code != "IDX004")  // that one is not there
      in_vain = true;
  });
}

}  // namespace

Result<Resolution> resolve(std::vector<Candidate> candidates, const Target& target, const ResolveOptions& options,
                           CommandRunner& runner, std::stop_token stop) {
  Resolution resolution;
  resolution.target = target;
  std::set<std::string> wanted;
  for (const auto& package : options.packages) wanted.insert(normalized_project(package));
  TRY_ASSIGN(const auto reader, WheelNameReader::make(naming_schemes(options.schemes)));
  std::vector<Entry> entries(candidates.size());
  for_all(entries.size(), [&](std::size_t i) {
    Entry& entry = entries[i];
    entry.candidate = std::move(candidates[i]);
    const std::string other = options.read_files ? other_file(entry.candidate) : std::string();
    if (auto traits = traits_of(entry.candidate)) {
      entry.traits = std::move(*traits);
      entry.traits.damage = other;
    } else {
      const Error& error = traits.error();
      const bool readable = options.read_files && other.empty() && !entry.candidate.remote;
      const auto own = readable ? name_in_wheel(entry.candidate.address) : std::string();
      const auto hint = entry.candidate.remote ? error.hint : mend_of_name(entry.candidate.address, own, error.hint);
      entry.ruling = other.empty() ? refused("RES113", join_words(error.message, hint)) : refused("RES114", other);
      // A second download is of the package that its first one names.
      if (auto name = parse_wheel_name(without_copy_number(entry.candidate.file))) entry.traits.name = std::move(*name);
    }
  });
  std::set<std::string> there, others_there;  // packages
  std::vector<Entry> misnamed;
  std::size_t kept = 0;
  for (auto& entry : entries) {
    auto project = normalized_project(entry.traits.name.distribution);
    if (!project.empty() && !wanted.empty() && !wanted.contains(project)) {
      others_there.insert(std::move(project));
      continue;
    }
    if (!project.empty()) there.insert(std::move(project));
    if (entry.ruling.fit == Fit::refused)
      misnamed.push_back(std::move(entry));
    else if (&entry != &entries[kept++])
      entries[kept - 1] = std::move(entry);
  }
  entries.resize(kept);
  if (there.empty() && !others_there.empty())
    return fail(ErrorKind::no_match, "RES005",
                fmt::format("no wheel of {} is there", join({wanted.begin(), wanted.end()}, ", ")),
                suggestion(*wanted.begin(), {others_there.begin(), others_there.end()}));
  if (options.packages.size() != 1) {
    TRY_ASSIGN(resolution.package, choose_package(there));
  } else {
    resolution.package = *wanted.begin();
  }
  mark_repeated(entries);
  const bool runs_here = !target.platform.starts_with("win");  // verify does not
  bool has_cases = false;
  std::vector<Capability> without_modules;
  for (const Plugin* plugin : options.plugins) {
    const Spec& spec = plugin->spec();
    if (normalized_project(spec.metadata.name) != resolution.package) continue;
    has_cases |= runs_here && !spec.verify.gpu.empty();
    for (const auto& row : spec.dispatch)
      if (row.modules.empty() && row.refused.empty()) without_modules.push_back(row.capability);
  }
  for_all(entries.size(), [&](std::size_t i) {
    auto& [candidate, traits, ruling] = entries[i];
    ruling = judge_tags(traits, candidate, target);
    if (ruling.fit == Fit::refused) return;
    traits.has_cases = has_cases;
    traits.without_modules = without_modules;
    traits.names_only = !options.read_files;
    add_said(traits, candidate, reader);
    ruling = judge_wheel_for(traits, candidate, target);
  });

  std::vector<std::pair<Rank, Entry*>> open;
  const auto sort_open = [&] {
    for (auto& [rank, entry] : open) rank = Rank(entry->traits, entry->ruling, target);
    std::ranges::stable_sort(open, [](const auto& a, const auto& b) { return a.first > b.first; });
  };
  for (auto& entry : entries)
    if (entry.ruling.fit != Fit::refused) open.emplace_back(Rank(entry.traits, entry.ruling, target), &entry);
  sort_open();
  Looker looker(target, options, runner, stop);
  if (options.read_files) {
    ask_for_metadata(open, target, options, looker);
    sort_open();
  }
  std::size_t looked = 0;
  for (std::size_t i = 0; options.read_files && i < open.size(); ++i) {
    Entry& entry = *open[i].second;
    if (entry.ruling.fit == Fit::refused) continue;
    if (looked >= options.most_files) {
      if (entry.ruling.fit == Fit::fits && entry.candidate.manifest) continue;
      entry.ruling = {Fit::unknown,
                      "RES213",
                      fmt::format("it was not looked into: {} that come before it were", options.most_files),
                      "give its file or address alone",
                      {},
                      true};
      continue;
    }
    // What was measured when it was published, and hashed, needs no second look.
    if (entry.ruling.fit == Fit::fits && entry.candidate.remote && entry.candidate.manifest) continue;
    ++looked;
    if (options.say) options.say("looking into " + entry.candidate.file);
    TRY(look_into(entry, target, looker));
  }
  sort_open();
  for (auto& [rank, entry] : open)
    if (entry->ruling.fit != Fit::refused)
      (entry->ruling.fit == Fit::fits ? resolution.fits : resolution.unknown).push_back(judged(*entry));
  std::vector<Entry*> no;
  for (auto* list : {&misnamed, &entries})
    for (auto& entry : *list)
      if (entry.ruling.fit == Fit::refused) no.push_back(&entry);
  std::ranges::stable_sort(
      no, {}, [](const Entry* one) -> const auto& { return one->candidate.file; });
  resolution.refused.reserve(no.size());
  for (auto* entry : no) resolution.refused.push_back(judged(*entry));
  return resolution;
}

}  // namespace sagekit
