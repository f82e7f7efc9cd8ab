#include "pypa/wheel_paths.hpp"

#include "support/text.hpp"

namespace sagekit {

std::string_view base_name(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

bool is_native(std::string_view archive_path) {
  const auto name = base_name(archive_path);
  return name.ends_with(".so") || name.ends_with(".pyd") || name.ends_with(".dll") ||
         name.find(".so.") != std::string_view::npos;
}

std::string installed_path(const std::string& path) {
  const auto slash = path.find('/');
  if (slash == std::string::npos || !std::string_view(path).substr(0, slash).ends_with(".data")) return path;
  const std::string rest = path.substr(slash + 1);
  for (const std::string_view part : {"purelib/", "platlib/"})
    if (rest.starts_with(part)) return rest.substr(part.size());
  return {};
}

std::string module_name(std::string_view member) {
  const auto installed = installed_path(std::string(member));
  const std::string_view archive_path = installed.empty() ? member : installed;
  const auto name = base_name(archive_path);
  const auto folder = archive_path.substr(0, archive_path.size() - name.size());
  return replace_all(std::string(folder), "/", ".") + std::string(name.substr(0, name.find('.')));
}

}  // namespace sagekit
