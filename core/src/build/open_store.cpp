#include "build/open_store.hpp"

#include "build/dry_run.hpp"
#include "index/url.hpp"
#include "store/housekeeping.hpp"
#include "store/http_level.hpp"
#include "store/store_files.hpp"
#include "support/folder.hpp"
#include "support/format.hpp"
#include "support/try.hpp"

#include <cstdint>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t k_free_bytes = std::uint64_t{1} << 30;

bool is_address(const std::string& place) { return place.find("://") != std::string::npos; }

Status add_levels(const BuildOptions& options, const Say& say, StoreOptions& store) {
  for (const auto& place : options.store_from) {
    if (is_address(place)) {
      if (!parse_url(place))
        return fail(ErrorKind::usage, "IDX017", printable_url(place) + " is no http or https address",
                    "write it as https://host/path, or name a folder");
      TRY_ASSIGN(auto level, http_level({place, options.store_token, options.connections}, say));
      if (options.store_push && !store.push) store.push = level;
      store.levels.push_back(std::move(level));
    } else {
      if (auto checked = check_is_store(place); !checked) {
        checked.error().message = "--store-from: " + checked.error().message;
        checked.error().hint = "--store-from names a store that a build has made, or a server's address";
        return checked;
      }
      store.levels.push_back(read_only_store(place, say));
    }
  }
  if (options.store_push && !store.push)
    return fail(ErrorKind::usage, "STO008", "--store-push has no server to hand results to",
                "name one with --store-from URL");
  return {};
}

/// Steps' temporary files lie below it: nvcc starts shells with their paths, and fatbinary splits its arguments.
Status check_path(const fs::path& store) {
  const auto path = store.string();
  const auto at = path.find_first_of(",\"$`");
  if (at == std::string::npos) return {};
  return fail(ErrorKind::usage, "STO009",
              fmt::format("nothing can be compiled in the store {}: nvcc misreads the {} in its path", path, path[at]),
              "--store DIR or SAGEKIT_STORE name another; what is in this one may be moved there");
}

}  // namespace

Status check_space(const fs::path& store) {
  std::error_code error;
  const auto folder = nearest_there(store, error);
  const auto space = fs::space(folder, error);
  if (error || space.available >= k_free_bytes) return {};
  return fail(ErrorKind::machine, "STO002",
              fmt::format("only {} MiB are free at {}, a build needs 1 GiB", space.available >> 20, store.string()),
              "free some space, or point --store at another disk");
}

Status check_store(const fs::path& store, bool fetches) {
  std::error_code ignored;
  const auto root = fs::absolute(store, ignored);
  TRY(check_path(root));
  const auto cannot = [](const fs::path& folder, const std::error_code& why) {
    return fail(ErrorKind::usage, "FIL002", fmt::format("cannot write to {}: {}", folder.string(), why.message()),
                "check its owner and permissions, or name another with --store DIR");
  };
  // What is only read counts, but nothing is fetched into it.
  const auto closed = cannot_write(root / "objects");
  if (closed && !check_is_store(root)) return cannot(root, closed);
  if (const auto error = cannot_write(root / "toolchains" / ".partial"); error && fetches)
    return cannot(root / "toolchains", error);
  // What is made beside a store that is only read lies in another place.
  return closed ? Status() : check_space(root);
}

Result<OpenedStore> open_store(const BuildOptions& options, const std::string& what, const Say& say) {
  StoreOptions store;
  store.say = say;
  store.learns = options.launcher.empty();
  TRY(add_levels(options, say, store));
  if (!options.dry_run) store.journal = RunJournal::begin(options.store / "runs", what);
  auto opened = Store::open(options.store, store);
  if (opened) {
    TRY(check_path(opened->root()));
    clean_up(opened->root());
    return OpenedStore{*std::move(opened), store.journal, nullptr};
  }
  // Read-only, or someone else's: what is in it still counts.
  if (opened.error().kind != ErrorKind::usage || !check_is_store(options.store)) return std::unexpected(opened.error());
  say(fmt::format("this build keeps nothing: {}", opened.error().message));
  store.levels.insert(store.levels.begin(), read_only_store(options.store, say));
  TRY_ASSIGN(auto folder, links_folder(options));
  const auto place = std::make_shared<const TemporaryFolder>(std::move(folder));
  TRY_ASSIGN(auto instead, Store::open(place->path() / "store", std::move(store)));
  std::error_code ignored;
  auto unwritten = fs::absolute(options.store, ignored);
  if (!check_path(unwritten)) unwritten.clear();  // its sources would be compiled where they lie
  return OpenedStore{std::move(instead), nullptr, place, std::move(unwritten)};
}

}  // namespace sagekit
