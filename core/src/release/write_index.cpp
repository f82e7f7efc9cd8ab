#include "index/url.hpp"
#include "release/index_pages.hpp"
#include "release/variant_index.hpp"
#include "release/write_beside.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/index.hpp>
#include <sagekit/naming.hpp>
#include <sagekit/release_index.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace sagekit {

namespace {

namespace fs = std::filesystem;

/// What was written last time, so that pages nobody needs any more can be told from other people's files.
constexpr std::string_view k_pages_file = ".sagekit-index";

using Pages = std::map<std::string, std::string>;  ///< path below the output -> bytes

/// "2.11.0" -> "torch2.11"
std::string torch_folder(const std::string& torch) {
  const auto minor = torch.find('.', torch.find('.') + 1);
  return "torch" + torch.substr(0, minor);
}

bool runs_anywhere(const ReleasedWheel& wheel) { return wheel.file.ends_with("-any.whl"); }

/// The torch it is for, or the first of those.
const std::string& first_torch(const ReleasedWheel& wheel) {
  return wheel.origin.torch.empty() ? wheel.origin.torch_min : wheel.origin.torch;
}

/// The index that a wheel belongs to: "cu130/torch2.11"; nothing when it does not say.
std::optional<std::string> channel_of(const ReleasedWheel& wheel, const std::vector<std::string>& per) {
  std::vector<std::string> parts;
  if (contains(per, "cuda")) {
    if (wheel.origin.cuda.empty()) return std::nullopt;
    parts.push_back("cu" + without_dots(wheel.origin.cuda));
  }
  if (contains(per, "torch")) {
    if (first_torch(wheel).empty()) return std::nullopt;
    parts.push_back(torch_folder(first_torch(wheel)));
  }
  return join(parts, "/");
}

/// A wheel for a torch and every newer one belongs to the indexes of those; is this one, whose first wheel is given?
bool reaches(const ReleasedWheel& wheel, const ReleasedWheel& first, const std::vector<std::string>& per) {
  if (contains(per, "cuda") && wheel.origin.cuda != first.origin.cuda) return false;
  const auto least = parse_version_number(wheel.origin.torch_min), has = parse_version_number(first_torch(first));
  return least && has && *has >= *least;
}

/// One for any machine belongs to all indexes, but for those of another torch than it says. `first` as above.
bool runs_beside(const ReleasedWheel& wheel, const ReleasedWheel& first, const std::vector<std::string>& per) {
  const auto& torch = wheel.origin.torch;
  return runs_anywhere(wheel) &&
         (torch.empty() || !contains(per, "torch") || torch_folder(torch) == torch_folder(first_torch(first)));
}

/// The wheels of each index.
std::map<std::string, std::vector<const ReleasedWheel*>> sorted_into_channels(const Release& release,
                                                                              const IndexOptions& options,
                                                                              IndexReport& report) {
  std::map<std::string, std::vector<const ReleasedWheel*>> channels;
  std::vector<const ReleasedWheel*> others;
  std::size_t variants = 0;
  if (options.per.empty()) channels[""];
  for (const auto& wheel : release.wheels) {
    if (!wheel.variants.empty() && !options.variants) {
      ++variants;
      continue;
    }
    const auto channel = channel_of(wheel, options.per);
    if (channel) channels[*channel].push_back(&wheel);
    if (!channel || (contains(options.per, "torch") && !wheel.origin.torch_min.empty())) others.push_back(&wheel);
  }
  if (variants > 0)
    report.warnings.push_back(fmt::format(
        "{} wheel variant{} left out: no released installer sees them; --variants lists them for those that do",
        variants, variants == 1 ? " is" : "s are"));
  std::set<const ReleasedWheel*> listed;
  for (auto& [name, wheels] : channels) {
    const ReleasedWheel* const first = wheels.empty() ? nullptr : wheels.front();
    for (const auto* wheel : others)
      if (first != nullptr && (runs_beside(*wheel, *first, options.per) || reaches(*wheel, *first, options.per))) {
        if (std::ranges::find(wheels, wheel) == wheels.end()) wheels.push_back(wheel);
        listed.insert(wheel);
      }
    std::ranges::sort(wheels, {}, &ReleasedWheel::file);
  }
  for (const auto* wheel : others)
    if (!listed.contains(wheel))
      report.warnings.push_back(
          fmt::format("{} is in no index: it does not say which {} it is for", wheel->file,
                      contains(options.per, "cuda") && wheel->origin.cuda.empty() ? "CUDA" : "torch"));
  return channels;
}

/// What sorts some of the wheels, where all that was asked for together sorts none.
std::string way_to_sort(const Release& release, const IndexOptions& options) {
  for (const auto& word : options.per) {
    IndexOptions alone = options;
    alone.per = {word};
    IndexReport ignored;
    if (!sorted_into_channels(release, alone, ignored).empty()) return "--per " + word;
  }
  return "leave --per out";
}

/// Links from a project's page.
class Links {
 public:
  Links(const IndexOptions& options, std::string_view channel)
      : m_options(options),
        m_up(options.wheels.empty()
                 ? fs::path()
                 : fs::absolute(options.wheels)
                       .lexically_normal()
                       .lexically_relative(fs::absolute(options.output / channel / "project").lexically_normal())) {}

  /// The address of a file of the folder; "" = it has none.
  std::string to(const std::string& path) const {
    if (path.empty()) return {};
    if (!m_options.base_url.empty()) return m_options.base_url + url_path(path);
    return m_options.wheels.empty() ? std::string() : url_path((m_up / path).generic_string());
  }
  std::string to(const ReleasedWheel& wheel) const {
    if (!m_options.base_url.empty()) return to(wheel.path.empty() ? wheel.file : wheel.path);
    return m_options.wheels.empty() || wheel.path.empty() ? wheel.url : to(wheel.path);
  }

 private:
  const IndexOptions& m_options;
  fs::path m_up;
};

Result<IndexRow> row_of(const ReleasedWheel& wheel, const IndexOptions& options, const Links& links,
                        std::vector<bool>& yanks_used) {
  IndexRow row{.file = wheel.file, .url = links.to(wheel), .sha256 = wheel.sha256};
  if (row.url.empty())
    return fail(ErrorKind::usage, "REL018", fmt::format("{} has no address", wheel.file),
                "say where the wheels are with --base-url, or give the folder that holds them", wheel.file);
  row.size_bytes = wheel.size_bytes;
  row.version = wheel.version;
  row.requires_python = wheel.requires_python;
  // A wheel that only a manifest knows lies where nobody put its metadata beside it.
  if (!wheel.path.empty()) row.metadata_sha256 = wheel.metadata_sha256;
  row.uploaded = wheel.uploaded.empty() ? wheel.modified : wheel.uploaded;
  row.provenance = links.to(wheel.provenance);
  for (std::size_t i = 0; i < options.yanked.size(); ++i)
    if (glob_match(options.yanked[i].files, wheel.file)) {
      row.yanked = true;
      row.yanked_reason = options.yanked[i].reason;
      yanks_used[i] = true;
    }
  return row;
}

Status add_pages(const std::string& channel, const std::vector<const ReleasedWheel*>& wheels,
                 const IndexOptions& options, std::vector<bool>& yanks_used, Pages& pages) {
  std::map<std::string, std::vector<IndexRow>> projects;
  const Links links(options, channel);
  for (const auto* wheel : wheels) {
    TRY_ASSIGN(auto row, row_of(*wheel, options, links, yanks_used));
    projects[wheel->project].push_back(std::move(row));
  }
  const std::string folder = channel.empty() ? "" : channel + "/";
  if (options.variants) {
    TRY_ASSIGN(auto variants, variant_indexes(wheels));
    for (auto& one : variants) {
      projects[one.project].push_back(
          {.file = one.file, .url = url_path(one.file), .sha256 = sha256_hex(one.text), .size_bytes = one.text.size()});
      pages[folder + one.project + "/" + one.file] = std::move(one.text);
    }
  }
  std::vector<std::string> names;
  for (const auto& [name, rows] : projects) {
    names.push_back(name);
    pages[folder + name + "/index.html"] = project_html(name, rows);
    pages[folder + name + "/index.json"] = project_json(name, rows);
  }
  pages[folder + "index.html"] = root_html(names);
  pages[folder + "index.json"] = root_json(names);
  return {};
}

/// Pages of an earlier run, each a path below the output that sagekit would write.
std::set<std::string> pages_before(const fs::path& output) {
  std::set<std::string> before;
  if (const auto text = MappedFile::open(output / k_pages_file))
    for (const auto& line : split_words(text->bytes(), "\n"))
      if ((line.ends_with("index.html") || line.ends_with("index.json") || line.ends_with(k_variants_ending)) &&
          line.find("..") == std::string::npos && !line.starts_with('/'))
        before.insert(line);
  return before;
}

/// Somebody's site must not be written over.
Status check_ours(const fs::path& output, const Pages& pages, const std::set<std::string>& before) {
  for (const auto& [path, bytes] : pages) {
    std::error_code error;
    if (before.contains(path) || !fs::exists(fs::symlink_status(output / path, error))) continue;
    const auto there = MappedFile::open(output / path);
    const bool ours = there && (there->bytes().find(k_page_mark) != std::string_view::npos ||
                                there->bytes().find("\"api-version\"") != std::string_view::npos);
    if (!ours)
      return fail(ErrorKind::failed, "REL017",
                  fmt::format("{} is there and is no page of sagekit's", (output / path).string()),
                  "write the index into a folder of its own with -o", (output / path).string());
  }
  return {};
}

std::string list_of(const Pages& pages, const std::set<std::string>& more) {
  std::set<std::string> all = more;
  for (const auto& [path, bytes] : pages) all.insert(path);
  std::string text;
  for (const auto& path : all) text += path + "\n";
  return text;
}

void remove_empty_folders(fs::path folder, const fs::path& output) {
  std::error_code error;
  for (; folder != output; folder = folder.parent_path())
    if (!fs::remove(folder, error)) break;  // others' files are in it
}

/// Every page that changes, under a hidden name, and the list of all that may be there.
Status write_new_pages(const std::vector<const Pages::value_type*>& changed, const fs::path& output,
                       const std::string& list) {
  TRY(make_directories(output));
  for (const auto* page : changed) {
    TRY(make_directories((output / page->first).parent_path()));
    TRY(write_hidden(output / page->first, page->second));
  }
  return write_beside(output / k_pages_file, list);
}

Status write_metadata(const std::vector<MetadataBeside>& metadata) {
  for (const auto& one : metadata)
    if (auto written = write_beside(one.path, one.bytes); !written) {
      if (written.error().kind == ErrorKind::usage)
        written.error().hint =
            "each wheel's METADATA lies beside it for installers (PEP 658): let this user write there, or copy the "
            "wheels";
      return written;
    }
  return {};
}

Status write_pages(const Pages& pages, const IndexOptions& options, IndexReport& report) {
  const auto before = pages_before(options.output);
  TRY(check_ours(options.output, pages, before));
  TRY(write_metadata(options.metadata));
  std::vector<const Pages::value_type*> changed;
  for (const auto& page : pages)
    if (const auto there = MappedFile::open(options.output / page.first); !there || there->bytes() != page.second)
      changed.push_back(&page);
  report.written = changed.size();
  report.unchanged = pages.size() - changed.size();
  // First the list of all that may be there, last that of what is: a run that is killed leaves no page unlisted. On a
  // disk that fills up meanwhile no page has taken its place yet.
  if (auto written = write_new_pages(changed, options.output, list_of(pages, before)); !written) {
    for (const auto* page : changed) {
      forget_hidden(options.output / page->first);
      remove_empty_folders((options.output / page->first).parent_path(), options.output);
    }
    return written;
  }
  for (const auto* page : changed) TRY(show_hidden(options.output / page->first));
  for (const auto& path : before) {
    if (pages.contains(path)) continue;
    std::error_code error;
    report.removed += fs::remove(options.output / path, error);
    remove_empty_folders((options.output / path).parent_path(), options.output);
  }
  return write_beside(options.output / k_pages_file, list_of(pages, {}));
}

}  // namespace

Result<std::string> base_address(const std::string& url) {
  const auto parsed = parse_url(url);
  const bool secret = parsed && parsed->has_user;
  if (parsed && !secret && url.find_first_of("?#") == std::string::npos)
    return parsed->without_user() + (parsed->target.ends_with('/') ? "" : "/");
  return fail(ErrorKind::usage, "REL019",
              secret ? "the address of --base-url holds a user name, and would be published"
                     : fmt::format("\"{}\" is no http or https address",
                                   url.find('@') == std::string::npos ? url : printable_url(url)),
              "for example --base-url https://example.org/wheels/");
}

Result<IndexReport> write_index(const Release& release, const IndexOptions& given) {
  IndexOptions options = given;
  if (!options.base_url.empty()) {
    TRY_ASSIGN(options.base_url, base_address(given.base_url));
  }
  IndexReport report;
  report.wheels = release.wheels.size();
  const auto channels = sorted_into_channels(release, options, report);
  if (channels.empty())
    return fail(ErrorKind::no_match, "REL016",
                fmt::format("no wheel would be in an index for each {}: none says {}", join(options.per, " and "),
                            options.per.size() > 1 ? "both" : "which it is for"),
                way_to_sort(release, options));
  std::vector<bool> yanks_used(options.yanked.size());
  Pages pages;
  for (const auto& [channel, wheels] : channels) {
    TRY(add_pages(channel, wheels, options, yanks_used, pages));
    report.folders.push_back(channel);
  }
  for (const auto& [path, text] : pages)
    if (path.ends_with(k_variants_ending)) report.variants.push_back(path);
  std::set<std::string> projects;
  for (const auto& wheel : release.wheels) projects.insert(wheel.project);
  report.projects = projects.size();
  for (std::size_t i = 0; i < options.yanked.size(); ++i)
    if (!yanks_used[i])
      report.warnings.push_back(fmt::format("{}:{}: \"{}\" is no file of this index", k_yanked_file,
                                            options.yanked[i].line, options.yanked[i].files));
  TRY(write_pages(pages, options, report));
  return report;
}

}  // namespace sagekit
