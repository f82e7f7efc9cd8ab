#include "install/keepsake.hpp"

#include "support/file.hpp"
#include "support/folder.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/naming.hpp>

#include <algorithm>
#include <functional>
#include <set>

namespace sagekit {

namespace {

namespace fs = std::filesystem;

constexpr const char* k_journal = "journal.json";

bool lies_below(const fs::path& path, const fs::path& folder) {
  const auto relative = path.lexically_normal().lexically_relative(folder.lexically_normal()).generic_string();
  return !relative.empty() && relative != "." && relative != ".." && !relative.starts_with("../");
}

Status copy_one(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_directories(to.parent_path(), error);
  fs::remove(to, error);
  if (fs::is_symlink(from, error))
    fs::copy_symlink(from, to, error);
  else
    fs::copy_file(from, to, error);
  if (!error) return {};
  // libstdc++ calls a disk that fills in the middle of a copy an input/output error.
  std::error_code ignored;
  const auto size = fs::file_size(from, ignored);
  const bool full =
      error == std::errc::no_space_on_device || (!ignored && fs::space(to.parent_path(), ignored).available < size);
  return fail(full ? ErrorKind::machine : ErrorKind::failed, "FIL002",
              fmt::format("cannot copy {} to {}: {}", from.string(), to.string(),
                          full ? "no space is left there" : error.message()),
              full ? "free some space, or keep the store on another disk: --store DIR" : "");
}

/// Installers take a file out before they write another of its name, so that a second name keeps what it was. Where the
/// disk allows none, a copy does.
Status keep_one(const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (fs::symlink_status(from, error).type() == fs::file_type::regular) {
    fs::create_hard_link(from, to, error);
    if (!error) return {};
  }
  return copy_one(from, to);
}

/// Folders of the files that are not there yet, the deepest first.
std::vector<std::string> new_folders(const fs::path& site, const std::vector<std::string>& files) {
  std::set<std::string, std::greater<>> folders;
  std::error_code error;
  for (const auto& file : files)
    for (auto at = file.rfind('/'); at != file.npos && at > 0; at = file.rfind('/', at - 1))
      if (!fs::exists(fs::symlink_status(site / file.substr(0, at), error))) folders.insert(file.substr(0, at));
  return {folders.begin(), folders.end()};
}

/// Folders of site-packages that are remains of the package: a dist-info without its RECORD, and pip's "~ackage" of an
/// uninstall that was cut.
std::vector<fs::path> remains(const fs::path& site, const std::string& package) {
  std::vector<fs::path> found;
  const std::string stem = file_name_project(package);
  for (const auto& entry : entries_of(site)) {
    const std::string name = entry.filename().string();
    const bool info = name.ends_with(".dist-info") && file_name_project(name.substr(0, name.find('-'))) == stem;
    const bool cut = name.starts_with("~") && lower(name.substr(1)).starts_with(stem.substr(1));
    if (info || cut) found.push_back(entry);
  }
  return found;
}

}  // namespace

std::vector<std::string> uninstall_command(const InstallPlace& place, const std::vector<std::string>& names) {
  auto argv = place.installer;
  argv.emplace_back("uninstall");
  if (place.tool == "uv")
    argv.insert(argv.end(), {"--python", place.interpreter.string()});
  else
    argv.emplace_back("-y");
  argv.insert(argv.end(), names.begin(), names.end());
  return argv;
}

fs::path keepsake_folder(const fs::path& store, const fs::path& prefix) {
  return store / "installs" / sha256_hex(prefix.lexically_normal().string()).substr(0, 16);
}

Result<Keepsake> Keepsake::make(const fs::path& folder, const InstallPlace& place, const std::string& package,
                                const std::vector<std::string>& its_files,
                                const std::vector<InstalledPackage>& packages) {
  Keepsake keepsake(folder);
  keepsake.m_package = package;
  keepsake.m_its_files = its_files;
  keepsake.m_its_folders = new_folders(place.site, its_files);
  keepsake.m_before = place.packages;
  for (const auto& one : packages) keepsake.m_changing.insert(one.name);
  remove_quietly(folder);
  if (auto made = make_directories(folder); !made) {
    made.error().hint = "what an undo needs is kept there: name another store with --store DIR";
    return std::unexpected(std::move(made.error()));
  }
  Json kept = Json::array();
  const auto copy_all = [&]() -> Status {
    for (const auto& one : packages)
      for (const auto& file : files_of(one)) {
        std::error_code error;
        if (!lies_below(file, place.prefix) || !fs::exists(fs::symlink_status(file, error))) continue;
        const fs::path copy = folder / std::to_string(keepsake.m_kept.size());
        TRY(keep_one(file, copy));
        keepsake.m_kept.push_back({file, copy});
        kept.push_back({{"original", file.string()}, {"copy", copy.string()}});
      }
    return {};
  };
  if (auto copied = copy_all(); !copied) {
    remove_quietly(folder);
    return std::unexpected(copied.error());
  }
  Json journal{{"package", package},
               {"files", its_files},
               {"folders", keepsake.m_its_folders},
               {"kept", kept},
               {"changing", keepsake.m_changing}};
  journal["before"] = Json::object();
  for (const auto& [name, version] : place.packages) journal["before"][name] = version;
  // With the journal the copy is whole; without it a later run takes it for nothing.
  TRY(write_file_atomic(folder / k_journal, json_text(journal)));
  return keepsake;
}

Result<std::optional<Keepsake>> Keepsake::left_by_another(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder / k_journal, error)) return std::nullopt;
  TRY_ASSIGN(const std::string text, read_file(folder / k_journal));
  const Json json = parse_json(text);
  const auto before = json.is_object() ? json.find("before") : json.end();
  const auto kept = json.is_object() ? json.find("kept") : json.end();
  if (!json.is_object() || !json.contains("package") || !json["package"].is_string() || before == json.end() ||
      !before->is_object() || kept == json.end() || !kept->is_array())
    return fail(ErrorKind::failed, "IST010",
                fmt::format("{} cannot be read, which says what an install that was cut changed",
                            (folder / k_journal).string()),
                "put the package back by hand and remove that folder", folder.string());
  Keepsake keepsake(folder);
  keepsake.m_stale = true;
  keepsake.m_package = json["package"].get<std::string>();
  keepsake.m_its_files = texts_at(json, "files");
  keepsake.m_its_folders = texts_at(json, "folders");
  for (auto& name : texts_at(json, "changing")) keepsake.m_changing.insert(std::move(name));
  for (const auto& [name, version] : before->items())
    if (version.is_string()) keepsake.m_before.emplace(name, version.get<std::string>());
  for (const auto& one : *kept)
    if (auto original = text_at(one, "original"), copy = text_at(one, "copy"); !original.empty() && !copy.empty())
      keepsake.m_kept.push_back({std::move(original), std::move(copy)});
  return keepsake;
}

Status Keepsake::restore_files(const InstallPlace& place) const {
  std::error_code ignored;
  for (const auto& folder : remains(place.site, m_package)) fs::remove_all(folder, ignored);
  for (const auto& file : m_its_files)
    if (lies_below(place.site / file, place.site)) fs::remove(place.site / file, ignored);
  for (const auto& one : m_its_folders)
    if (const auto folder = place.site / one; lies_below(folder, place.site)) {
      fs::remove_all(folder / "__pycache__", ignored);
      fs::remove(folder, ignored);  // stays when somebody has put something there
    }
  for (const auto& one : m_kept) TRY(copy_one(one.copy, one.original));
  return {};
}

Status Keepsake::put_back(const InstallPlace& place, const InstallOptions& options, CommandRunner& runner) {
  const auto still = [&](const std::string& what) {
    return fail(ErrorKind::failed, "IST010",
                fmt::format("{} could not be put back as it was: {}", place.prefix.string(), what),
                fmt::format("the copies and journal.json, which says where they belong, are in {}", m_folder.string()),
                m_folder.string());
  };
  // Whoever came after an install that was cut may have changed anything: only what it was about to change is its.
  const auto mine = [&](const std::string& name) { return !m_stale || name == m_package || m_changing.contains(name); };
  std::vector<std::string> out;
  for (const auto& [name, version] : installed_versions(place.folders)) {
    if (!mine(name)) continue;
    const auto was = m_before.find(name);
    if (was == m_before.end() || was->second != version || name == m_package) out.push_back(name);
  }
  if (!out.empty()) {
    Command command;
    command.argv = uninstall_command(place, out);
    command.environment = options.environment;
    // Whatever it says, the comparison at the end decides.
    (void)runner.run(command);
  }
  if (const auto restored = restore_files(place); !restored) return still(restored.error().message);
  const auto now = installed_versions(place.folders);
  for (const auto& [name, version] : m_before) {
    if (!mine(name)) continue;
    const auto there = now.find(name);
    if (there == now.end()) return still(fmt::format("{} {} is missing", name, version));
    if (there->second != version) return still(fmt::format("{} is {}, it was {}", name, there->second, version));
  }
  for (const auto& [name, version] : now)
    if (mine(name) && !m_before.contains(name)) return still(fmt::format("{} {} was not there", name, version));
  forget();
  return {};
}

void Keepsake::forget() {
  std::error_code ignored;
  fs::remove(m_folder / k_journal, ignored);
  remove_quietly(m_folder);
}

}  // namespace sagekit
