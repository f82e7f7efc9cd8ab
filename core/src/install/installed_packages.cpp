#include "install/installed_packages.hpp"

#include "pypa/metadata_reader.hpp"
#include "support/file.hpp"
#include "support/folder.hpp"
#include "support/text.hpp"

#include <sagekit/naming.hpp>

#include <algorithm>
#include <optional>

namespace sagekit {

namespace {

namespace fs = std::filesystem;

/// A description may be long; all headers stand before it.
HeaderText headers_of(const fs::path& info) {
  std::error_code error;
  fs::path file = info;
  if (fs::is_directory(info, error)) file /= fs::exists(info / "METADATA", error) ? "METADATA" : "PKG-INFO";
  const auto text = MappedFile::open(file);
  if (!text) return {};
  const auto bytes = text->bytes();
  return read_headers(bytes.substr(0, std::min(bytes.find("\n\n"), bytes.find("\r\n\r\n"))));
}

std::optional<InstalledPackage> read_about(const fs::path& info) {
  const auto headers = headers_of(info);
  const auto name = headers.all("Name"), version = headers.all("Version");
  if (name.empty() || version.empty() || name.front().empty() || version.front().empty()) return std::nullopt;
  return InstalledPackage{normalized_project(name.front()), version.front(), info};
}

/// What in a folder says that something is installed there.
std::vector<fs::path> infos_in(const fs::path& folder) {
  std::vector<fs::path> infos;
  std::error_code error;
  if (folder.extension() == ".egg" && fs::is_directory(folder / "EGG-INFO", error))
    infos.push_back(folder / "EGG-INFO");
  for (const auto& entry : entries_of(folder)) {
    const std::string name = entry.filename().string();
    if (!name.starts_with('~') && (name.ends_with(".dist-info") || name.ends_with(".egg-info"))) infos.push_back(entry);
  }
  std::ranges::sort(infos);
  return infos;
}

}  // namespace

std::map<std::string, InstalledPackage> read_installed_packages(const std::vector<fs::path>& folders) {
  std::map<std::string, InstalledPackage> packages;
  for (const auto& folder : folders)
    for (const auto& info : infos_in(folder))
      if (auto package = read_about(info)) packages.emplace(package->name, std::move(*package));
  return packages;
}

std::map<std::string, std::string> installed_versions(const std::vector<fs::path>& folders) {
  std::map<std::string, std::string> versions;
  for (const auto& [name, package] : read_installed_packages(folders)) versions.emplace(name, package.version);
  return versions;
}

std::vector<std::string> requirements_of(const InstalledPackage& package) {
  return headers_of(package.info).all("Requires-Dist");
}

std::vector<fs::path> files_of(const InstalledPackage& package) {
  std::vector<fs::path> files;
  if (const auto record = read_file(package.info / "RECORD")) {
    for (const auto& row : read_record(*record).rows)
      files.push_back((package.info.parent_path() / row.path).lexically_normal());
  } else if (const auto list = read_file(package.info / "installed-files.txt")) {
    for (const auto& line : split(*list, '\n'))
      if (const auto path = trim(line); !path.empty()) files.push_back((package.info / path).lexically_normal());
  }
  return files;
}

}  // namespace sagekit
