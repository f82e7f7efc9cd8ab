#include "resolve/listing.hpp"

#include "index/curl_client.hpp"
#include "index/package_index.hpp"
#include "index/url.hpp"
#include "inspect/name_of_file.hpp"
#include "resolve/beside.hpp"
#include "resolve/look.hpp"
#include "resolve/release_reader.hpp"
#include "support/file.hpp"
#include "support/folder.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/nearest.hpp>
#include <sagekit/resolve.hpp>

#include <algorithm>
#include <set>

namespace sagekit {

namespace {

namespace fs = std::filesystem;

std::string sha256_at(const std::string& text) {
  const std::string hash = lower(text);
  return is_sha256(hash) ? hash : std::string();
}

std::unexpected<Error> no_listing(const std::string& base, const std::string& why) {
  const std::string name = is_address(base) ? printable_url(base) : base;
  return fail(ErrorKind::failed, "RES004", fmt::format("{} lists no wheels in a form that is known: {}", name, why),
              "a folder, a wheel, sagekit.release.json, a release as GitHub's API gives it, or a package index", name);
}

/// Where a listing is, and what lies beside it: a folder is read once, not asked for each of ten thousand files.
struct ListingPlace {
  explicit ListingPlace(std::string at) : base(std::move(at)) {
    if (is_address(base)) return;
    for (const auto& file : entries_of(base)) beside.insert(file.filename().string());
  }

  std::string base;
  std::set<std::string> beside = {};
};

/// Where a listed file is: an address as it stands or relative to the listing, or a file beside it.
Status place(Candidate& candidate, const std::string& url, const ListingPlace& listing) {
  const std::string& base = listing.base;
  if (is_address(base)) {
    const auto resolved = resolve_url(base, url.empty() ? candidate.file : url);
    if (!resolved) return no_listing(base, fmt::format("{} has no address", candidate.file));
    if (parse_url(base)->scheme == "https" && parse_url(*resolved)->scheme == "http")
      return no_listing(base, fmt::format("{} would be read over http, and the list came over https", candidate.file));
    candidate.address = *resolved;
    candidate.remote = true;
  } else {
    candidate.remote = is_address(url) && !listing.beside.contains(candidate.file);
    candidate.address = candidate.remote ? url : (fs::path(base) / candidate.file).string();
  }
  candidate.place = candidate.remote ? printable_url(candidate.address) : candidate.address;
  return {};
}

bool is_plain_name(const std::string& name) {
  return name.ends_with(".whl") && name.size() < 256 && name.find_first_of("/\\") == std::string::npos &&
         !name.starts_with('.');
}

/// Our own manifest names wheels alone, each with its hash.
Result<std::vector<Candidate>> read_manifest(std::vector<ListedWheel> listed, const std::string& base) {
  const ListingPlace listing(base);
  std::vector<Candidate> wheels(listed.size());
  for (std::size_t i = 0; i < wheels.size(); ++i) {
    Candidate& wheel = wheels[i];
    wheel.file = std::move(listed[i].file);
    if (!is_plain_name(wheel.file)) return no_listing(base, fmt::format("\"{}\" is no wheel's file name", wheel.file));
    TRY(place(wheel, listed[i].url, listing));
    wheel.sha256 = sha256_at(listed[i].hash);
    if (wheel.sha256.empty()) return no_listing(base, wheel.file + " has no sha256");
    wheel.size_bytes = listed[i].size_bytes;
    wheel.manifest = std::move(listed[i].manifest);
  }
  return wheels;
}

/// GitHub's assets have name, browser_download_url, size and, since 2025, digest.
Result<std::vector<Candidate>> read_assets(std::vector<ListedWheel> listed, const std::string& base) {
  const ListingPlace listing(base);
  std::vector<Candidate> wheels;
  for (auto& asset : listed) {
    if (!is_plain_name(asset.file)) continue;  // checksums, notes, manifests
    if (!is_address(asset.url)) return no_listing(base, asset.file + " has no browser_download_url");
    Candidate wheel;
    wheel.file = std::move(asset.file);
    TRY(place(wheel, asset.url, listing));
    wheel.sha256 = asset.hash.starts_with("sha256:") ? sha256_at(asset.hash.substr(7)) : "";
    wheel.size_bytes = asset.size_bytes;
    wheels.push_back(std::move(wheel));
  }
  return wheels;
}

Candidate candidate_of(IndexFile file) {
  Candidate wheel;
  wheel.file = std::move(file.name);
  wheel.place = printable_url(file.url);
  wheel.address = std::move(file.url);
  wheel.remote = true;
  wheel.sha256 = std::move(file.sha256);
  wheel.other_hash = std::move(file.other_hash);
  wheel.hash_fault = std::move(file.hash_fault);
  wheel.size_bytes = file.size;
  wheel.requires_python = std::move(file.requires_python);
  wheel.yanked = file.yanked;
  wheel.core_metadata_sha256 = std::move(file.core_metadata);
  return wheel;
}

std::vector<Candidate> candidates_of(std::vector<IndexFile> files) {
  std::vector<Candidate> wheels;
  for (auto& file : files)
    if (file.name.ends_with(".whl")) wheels.push_back(candidate_of(std::move(file)));
  return wheels;
}

Candidate one_wheel(const std::string& from) {
  Candidate wheel;
  wheel.remote = is_address(from);
  wheel.address = from.substr(0, wheel.remote ? from.find('#') : from.npos);
  const std::string path = wheel.remote ? wheel.address.substr(0, wheel.address.find('?')) : wheel.address;
  wheel.file = wheel.remote ? percent_decoded(std::string_view(path).substr(path.rfind('/') + 1))
                            : fs::path(path).filename().string();
  wheel.place = wheel.remote ? printable_url(wheel.address) : wheel.address;
  return wheel;
}

fs::path folder_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : "."; }

/// An address with what it is held to behind its #: a hash that cannot be checked is no hash that was not given.
Result<Candidate> wheel_at(const std::string& address) {
  Candidate wheel = one_wheel(address);
  const auto hash = address.find('#');
  if (hash == address.npos) return wheel;
  for (const auto& part : split(address.substr(hash + 1), '&')) {
    const std::string kind = lower(part.substr(0, part.find('=')));
    if (!kind.starts_with("sha") && !kind.starts_with("md5") && !kind.starts_with("blake")) continue;
    const std::string said = sha256_at(part.substr(std::min(kind.size() + 1, part.size())));
    if (kind != "sha256" || said.empty() || (!wheel.sha256.empty() && said != wheel.sha256))
      return fail(
          ErrorKind::usage, "RES003",
          kind != "sha256" ? fmt::format("the address holds the file to its {}, and only sha256 is checked", kind)
          : said.empty()   ? fmt::format("\"{}\" is no sha256, which has 64 digits of 0-9 and a-f", part)
                           : "the address says two sha256, and they differ",
          "the address ends in #sha256= and what the file's maker says; without # nothing is checked", wheel.place);
    wheel.sha256 = said;
  }
  return wheel;
}

std::unexpected<Error> no_list_but_zip(const std::string& file) {
  if (const auto name = name_in_wheel(file); !name.empty())
    return fail(ErrorKind::failed, "RES004", file + " is a wheel under another name",
                fmt::format("rename it to {}, which its METADATA and WHEEL call it", name), file);
  return fail(ErrorKind::failed, "RES004", file + " is a zip archive, and no list of wheels",
              "unpack it, and give the folder", file);
}

/// Names for people, those like the wanted one first.
std::string some_of(std::vector<std::string> projects, const std::string& wanted) {
  constexpr std::size_t k_shown = 8;
  const std::size_t all = projects.size();
  if (wanted.empty())
    std::ranges::sort(projects);
  else
    projects = nearest_words(wanted, std::move(projects), k_shown);
  if (all <= k_shown) return join(projects, ", ");
  projects.resize(std::min(projects.size(), k_shown));
  return fmt::format("{} and {} more", join(projects, ", "), all - projects.size());
}

/// The list of an index's projects, where a page of wheels was meant.
std::unexpected<Error> root_page(const std::string& from, const std::vector<std::string>& packages,
                                 std::vector<std::string> projects) {
  const std::string place = printable_url(from);
  const std::string wanted = packages.empty() ? std::string() : packages.front();
  const std::string names = some_of(projects, wanted);
  return fail(
      ErrorKind::usage, "RES006",
      fmt::format("{} is the root of a package index: it has no wheels, but a page for each of {}", place, names),
      packages.empty() ? fmt::format("choose one: --package {}", projects.front())
                       : fmt::format("--from {} --package {}: the address of the index, without a file of it",
                                     place.substr(0, place.rfind('/') + 1), wanted),
      place);
}

Result<std::vector<Candidate>> ask_index(const std::string& from, const ResolveOptions& options, std::stop_token stop) {
  TRY_ASSIGN(IndexSettings settings, index_settings(options));
  settings.index_url = from;
  settings.extra_index_urls.clear();
  TRY_ASSIGN(const auto http, make_http_client(settings));
  const std::string path = from.substr(0, from.find_first_of("?#"));
  std::vector<Candidate> wheels;
  bool found = false, asked = false;
  if (!path.ends_with(".json") && !path.ends_with(".html"))
    for (const auto& package : options.packages) {
      asked = true;
      auto files = find_project(*http, settings, package, stop);
      if (!files && files.error().code == "IDX013") continue;
      if (!files) return std::unexpected(files.error());
      found = true;
      std::ranges::move(candidates_of(std::move(*files)), std::back_inserter(wheels));
    }
  if (found) return wheels;
  HttpRequest request;
  request.url = from;
  request.accept =
      "application/vnd.pypi.simple.v1+json, application/json;q=0.9, application/vnd.pypi.simple.v1+html;q=0.2, "
      "text/html;q=0.1";
  TRY_ASSIGN(const HttpResponse page, http->get(request, stop));
  auto listed = read_listing(page.body, page.content_type, from);
  if (listed ? !listed->empty() : !listed.error().code.starts_with("IDX")) return listed;
  // An index's own page has no files; that it has no such project was said a moment ago.
  auto projects = listed_projects(page.body, page.url);
  if (!asked && !projects.empty()) return root_page(from, options.packages, std::move(projects));
  if (!asked) {
    if (!listed) listed.error().hint = "of an index name the package, too: --package NAME";
    return listed;
  }
  return fail(ErrorKind::no_match, "RES005",
              fmt::format("{} has no wheel of {}", printable_url(from), join(options.packages, ", ")),
              projects.empty()
                  ? "is --package the name that the index has? The address is that of the index, or of a page of wheels"
                  : fmt::format("it is an index's root, which lists {}", some_of(projects, options.packages.front())));
}

}  // namespace

std::string listing_address(const std::string& from) {
  constexpr std::string_view k_github = "https://github.com/", k_releases = "releases";
  if (!from.starts_with(k_github)) return from;
  auto parts = split(from.substr(k_github.size(), from.find_first_of("?#") - k_github.size()), '/');
  if (parts.back().empty()) parts.pop_back();
  if (parts.size() < 3 || parts[2] != k_releases) return from;
  const auto releases = fmt::format("https://api.github.com/repos/{}/{}/releases", parts[0], parts[1]);
  if (parts.size() == 3) return releases;
  if (parts.size() == 4 && parts[3] == "latest") return releases + "/latest";
  return parts.size() == 5 && parts[3] == "tag" ? releases + "/tags/" + parts[4] : from;
}

bool is_address(std::string_view text) { return text.starts_with("http://") || text.starts_with("https://"); }

Result<IndexSettings> index_settings(const ResolveOptions& options) {
  if (options.find_index) return options.find_index();
  return IndexSettings{};
}

Result<std::vector<Candidate>> read_listing(std::string_view text, std::string_view content_type,
                                            const std::string& base) {
  const std::size_t start = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  const char first = start == text.npos ? '\0' : text[start];
  if (first == '{' || first == '[') {
    auto release = read_listed_release(text.substr(start));
    if (!release) return no_listing(base, "it is no JSON that can be parsed");
    if (release->too_many) return no_listing(base, "it names too many wheels");
    using Form = ListedRelease::Form;
    if (release->form == Form::manifest && !release->has_list)
      return no_listing(base, "the manifest has no list of wheels");
    if (release->form == Form::manifest) return read_manifest(std::move(release->wheels), base);
    if (!release->all_objects) return no_listing(base, "a release is no object");
    if (release->form == Form::assets && !release->has_list)
      return no_listing(base, "the release has no list of assets");
    if (release->form == Form::assets) return read_assets(std::move(release->wheels), base);
    if (!release->schema.empty())
      return no_listing(
          base, fmt::format("its schema is \"{}\", {} is known", release->schema.substr(0, 40), k_release_schema));
  }
  if (!is_address(base)) return no_listing(base, "a page of an index is read from its address, not from a file");
  TRY_ASSIGN(auto files, read_project_page(text, content_type, base));
  return candidates_of(std::move(files));
}

Result<std::vector<Candidate>> wheels_listed_in(const std::string& file) {
  TRY_ASSIGN(const std::string text, read_file(file));
  if (text.starts_with("PK")) return no_list_but_zip(file);
  auto listed = read_listing(text, "", folder_of(file).string());
  if (listed) return listed;
  // It was told the folder, for that is where listed files lie.
  Error why = std::move(listed).error();
  if (why.message.starts_with(why.where)) why.message = file + why.message.substr(why.where.size());
  why.where = file;
  return std::unexpected(std::move(why));
}

Result<std::vector<Candidate>> find_wheels(const std::string& from, const ResolveOptions& options,
                                           std::stop_token stop) {
  std::vector<Candidate> wheels;
  std::error_code error;
  if (is_address(from)) {
    const std::string path = from.substr(0, from.find_first_of("?#"));
    if (path.ends_with(".whl")) {
      TRY_ASSIGN(auto wheel, wheel_at(from));
      return std::vector{std::move(wheel)};
    }
    TRY_ASSIGN(wheels, ask_index(listing_address(from), options, std::move(stop)));
  } else if (fs::is_directory(from, error)) {
    for (fs::directory_iterator at(from, error), end; !error && at != end; at.increment(error)) {
      std::error_code ignored;
      if (at->path().extension() == ".whl" && fs::is_regular_file(at->path(), ignored))
        wheels.push_back(one_wheel(at->path().string()));
    }
    if (error)
      return fail(ErrorKind::usage, "RES003", fmt::format("cannot read the folder {}: {}", from, error.message()), {},
                  from);
    std::ranges::sort(wheels, {}, &Candidate::file);
    TRY(hold_to_manifest(wheels, from));
    TRY(mark_yanked(wheels, from));
  } else if (fs::is_regular_file(from, error)) {
    if (from.ends_with(".whl")) {  // named exactly, it is taken though it is yanked
      wheels.push_back(one_wheel(from));
      TRY(hold_to_manifest(wheels, folder_of(from)));
      return wheels;
    }
    TRY_ASSIGN(wheels, wheels_listed_in(from));
    TRY(mark_yanked(wheels, folder_of(from)));
  } else {
    // What was probably meant is said as for any file that is not there.
    const auto file = MappedFile::open(from);
    const std::string near = file ? "" : file.error().hint;
    return fail(ErrorKind::usage, "RES003",
                fmt::format("{}: there is no such file or folder, and it is no http address", from),
                !near.empty() && (fs::path(from).has_parent_path() || from.ends_with(".whl"))
                    ? near
                    : "a folder, a wheel, sagekit.release.json, or an index: --from https://... --package NAME",
                from);
  }
  if (wheels.empty())
    return fail(
        ErrorKind::no_match, "RES005", fmt::format("{} has no wheel", is_address(from) ? printable_url(from) : from),
        is_address(from) ? "of an index name the package, too: --package NAME"
                         : "wheels lie in the folder itself and end in .whl; those in folders below it do not count");
  return wheels;
}

}  // namespace sagekit
