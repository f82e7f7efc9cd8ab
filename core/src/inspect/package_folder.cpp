#include "inspect/package_folder.hpp"

#include "pypa/metadata_reader.hpp"
#include "pypa/wheel_paths.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/naming.hpp>

#include <algorithm>

namespace sagekit {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_suffix = ".dist-info";

/// "Sage-Attention-2.2.0.dist-info" -> "sage-attention".
std::string project_of(std::string_view dist_info) {
  return normalized_project(dist_info.substr(0, dist_info.find('-')));
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

Result<std::vector<std::string>> dist_infos(const fs::path& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const auto name = at->path().filename().string();
    std::error_code ignored;
    if (name.ends_with(k_suffix) && at->is_directory(ignored)) found.push_back(name);
  }
  if (error)
    return fail(ErrorKind::usage, "FIL001", fmt::format("cannot read {}: {}", folder.string(), error.message()));
  std::ranges::sort(found);
  return found;
}

bool has_modules(const fs::path& root, const std::string& dist_info) {
  const auto record = read_file(root / dist_info / "RECORD");
  return record &&
         std::ranges::any_of(read_record(*record).rows, [](const RecordRow& row) { return is_native(row.path); });
}

PackageFolder package_in(const fs::path& root, const std::string& dist_info, bool alone) {
  // Who installs leaves his name; an unpacked wheel has nobody's.
  const bool installed = !alone || is_there(root / dist_info / "INSTALLER");
  return {root, dist_info, installed ? PackageFolder::Kind::installed : PackageFolder::Kind::unpacked};
}

Result<std::vector<PackageFolder>> choose(const fs::path& folder, const std::vector<std::string>& names,
                                          const std::vector<std::string>& chosen_projects) {
  std::vector<PackageFolder> chosen;
  std::vector<std::string> projects;
  for (const auto& name : names) projects.push_back(project_of(name));
  for (const auto& wanted : chosen_projects) {
    const auto before = chosen.size();
    for (std::size_t i = 0; i < names.size(); ++i)
      if (projects[i] == normalized_project(wanted)) chosen.push_back(package_in(folder, names[i], names.size() == 1));
    const auto near = nearest_word(normalized_project(wanted), projects);
    if (chosen.size() == before)
      return fail(ErrorKind::no_match, "VFY004", fmt::format("no package {} is in {}", wanted, folder.string()),
                  near.empty() ? "spell it as pip list does" : fmt::format("did you mean \"{}\"?", near),
                  folder.string());
  }
  if (!chosen_projects.empty()) return chosen;
  for (const auto& name : names)
    if (names.size() == 1 || has_modules(folder, name)) chosen.push_back(package_in(folder, name, names.size() == 1));
  if (chosen.empty())
    return fail(ErrorKind::failed, "VFY005",
                fmt::format("none of the {} packages in {} has modules of machine code", names.size(), folder.string()),
                "choose one all the same with --package NAME", folder.string());
  return chosen;
}

}  // namespace

Result<std::vector<PackageFolder>> find_packages(const fs::path& folder,
                                                 const std::vector<std::string>& chosen_projects) {
  fs::path path = folder.lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  if (path.filename().string().ends_with(k_suffix)) {
    const fs::path root = path.has_parent_path() ? path.parent_path() : fs::path(".");
    TRY_ASSIGN(const auto names, dist_infos(root));
    const auto name = path.filename().string();
    if (std::ranges::count(names, name) == 0)
      return fail(ErrorKind::usage, "FIL001", fmt::format("cannot read {}: it is no folder", folder.string()));
    return std::vector{package_in(root, name, names.size() == 1)};
  }
  TRY_ASSIGN(const auto names, dist_infos(path));
  if (!names.empty()) return choose(path, names, chosen_projects);
  if (!chosen_projects.empty())
    return fail(
        ErrorKind::no_match, "VFY004",
        fmt::format("no package {} is in {}: it has no .dist-info folder", chosen_projects.front(), folder.string()),
        {}, folder.string());
  // What `wheel unpack` and archive programs leave: NAME-VERSION/ around it.
  std::vector<PackageFolder> inside;
  std::error_code error;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    if (!fs::is_directory(at->path(), error)) continue;
    if (const auto own = dist_infos(at->path()); own && own->size() == 1)
      inside.push_back(package_in(at->path(), own->front(), true));
  }
  std::ranges::sort(inside, {}, &PackageFolder::root);
  if (!inside.empty()) return inside;
  return std::vector{PackageFolder{path, {}, PackageFolder::Kind::plain}};
}

}  // namespace sagekit
