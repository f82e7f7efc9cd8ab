#include "environment/probes.hpp"
#include "support/folder.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <sagekit/shell_word.hpp>

#include <algorithm>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

bool is_on_path(const ProbeOptions& options, const char* program) {
  return std::ranges::any_of(options.path, [&](const fs::path& folder) { return is_file(folder / program); });
}

bool has_package(const ProbedPython& probed, const char* package) {
  const auto holds = [&](const fs::path& folder) { return is_file(folder / package / "__init__.py"); };
  return std::ranges::any_of(probed.place.folders, holds) || std::ranges::any_of(probed.site_packages, holds);
}

/// uv is for Python 3.8 and newer.
bool runs_uv(const ProbedPython& probed) {
  return probed.python.source == ToolSource::system && version_numbers(probed.python.version) >= std::vector{3, 8};
}

/// uv itself by pip: where a distribution keeps its packages to itself (PEP 668), into an environment of its own.
std::string by_pip(const std::vector<ProbedPython>& pythons) {
  for (const auto& probed : pythons)
    if (runs_uv(probed) && probed.place.writable && !probed.place.externally_managed && has_package(probed, "pip"))
      return fmt::format("{0} -m pip install uv && {0} -m uv python install {{}}",
                         shell_word(probed.python.executable.string()));
  for (const auto& probed : pythons)
    if (runs_uv(probed) && has_package(probed, "ensurepip"))
      return fmt::format("{} -m venv uv-env && uv-env/bin/pip install uv && uv-env/bin/uv python install {{}}",
                         shell_word(probed.python.executable.string()));
  return {};
}

}  // namespace

void find_python_commands(const ProbeOptions& options, const std::vector<ProbedPython>& pythons,
                          Environment& environment) {
  if (is_on_path(options, "uv"))
    environment.python_command = "uv python install {}";
  else if (is_on_path(options, "pyenv"))
    environment.python_command = "pyenv install {}";
  else
    environment.python_command = by_pip(pythons);
  const auto programs = options.root / "usr/bin";
  if (!is_file(programs / "apt-get")) return;
  for (const auto& entry : entries_of(programs))
    if (const auto name = entry.filename().string(); name.starts_with("python3.") && is_digits(name.substr(8)))
      environment.packaged_pythons.push_back(name.substr(6));
}

}  // namespace sagekit
