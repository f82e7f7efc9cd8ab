// What hides what: two installs, the current folder, PYTHONPATH, LD_LIBRARY_PATH; and room for a build.
#include "checkup/looks.hpp"
#include "environment/probe.hpp"
#include "support/folder.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <cctype>

namespace sagekit {

namespace {

namespace fs = std::filesystem;
using enum CheckupState;

std::vector<fs::path> folders_of(const std::string& variable) {
  std::vector<fs::path> folders;
  for (const auto& folder : split(variable, ':'))
    if (!folder.empty()) folders.emplace_back(folder);
  return folders;
}

void look_at_two_installs(Look& look, const std::string& name) {
  const auto found = look.python.named(name);
  if (found.size() < 2) return;
  std::vector<std::string> texts;
  for (const auto* one : found) texts.push_back(fmt::format("{} in {}", one->version, one->place.string()));
  look.add("shadow", name, warning, fmt::format("{} times: {}", found.size(), join(texts, "; ")),
           "Python takes the first, pip shows one of them, and an upgrade may change the other",
           look.pip("uninstall " + name) + " (until none is left, then install one)", "WHY526");
}

/// Where `import` finds a module that is not where it was installed.
void look_at_origin(Look& look, const std::string& name, const std::string& module_name) {
  const auto* module = look.python.module(module_name);
  if (module == nullptr) return;
  const auto found = look.python.named(name);
  if (!found.empty() && is_below(module->folder, found.front()->place)) {
    if (found.front()->place == look.python.user_site && !look.python.user_site.empty())
      look.add("path", name, note, fmt::format("is in {}", look.python.user_site.string()),
               fmt::format("the user's own folder is seen by every Python {} outside of virtual environments",
                           look.python.minor));
    return;
  }
  const std::string where = module->folder.string();
  if (!look.options.folder.empty() && is_below(module->folder, look.options.folder)) {
    look.add("shadow", "import " + module_name, found.empty() ? warning : wrong,
             fmt::format("started in {}, Python takes {}{}", look.options.folder.string(), where,
                         found.empty() ? "" : ", not what is installed in " + found.front()->place.string()),
             "a source tree has no compiled modules, or old ones", "cd /", "WHY423");
    return;
  }
  for (const auto& folder : folders_of(look.variable("PYTHONPATH")))
    if (is_below(module->folder, folder)) {
      look.add("shadow", "import " + module_name, found.empty() ? warning : wrong,
               fmt::format("PYTHONPATH makes Python take {}", where), "what is installed is not what runs",
               "unset PYTHONPATH");
      return;
    }
  look.add(
      "shadow", "import " + module_name, note, fmt::format("comes from {}", where),
      found.empty() ? "nothing is installed under that name" : "an editable install: its files are not the wheel's");
}

/// setup.py takes what lies in build/ for done.
void look_at_stale_build(Look& look) {
  std::error_code error;
  for (const auto& entry : entries_of(look.options.folder / "build")) {
    const auto name = entry.filename().string();
    if (!name.starts_with("lib.") && !name.starts_with("temp.")) continue;
    look.add("path", "build folder", warning, fmt::format("{} is of an earlier build", entry.string()),
             "setup.py reuses its objects, also when torch, CUDA or the arch list changed since",
             "rm -rf build *.egg-info");
    return;
  }
}

/// "3.11" of a path with .../python3.11/site-packages.
std::string python_of(const fs::path& folder) {
  for (const auto& part : folder)
    if (const auto text = part.string(); text.starts_with("python3."))
      return leading_version(std::string_view(text).substr(6));
  return {};
}

void look_at_variables(Look& look) {
  const auto path = look.variable("PYTHONPATH");
  if (!path.empty()) {
    std::string other;
    for (const auto& folder : folders_of(path))
      if (const auto minor = python_of(folder); !minor.empty() && minor != look.python.minor) other = minor;
    look.add("path", "PYTHONPATH", other.empty() ? note : wrong, path,
             other.empty()
                 ? "these folders come before what is installed"
                 : fmt::format("packages of Python {} come before those of this {}", other, look.python.minor),
             other.empty() ? "" : "unset PYTHONPATH");
  }
  if (look.has_variable("PYTHONHOME"))
    look.add("path", "PYTHONHOME", warning, look.variable("PYTHONHOME"), "Python takes its own library from there",
             "unset PYTHONHOME");
  for (const auto& folder : folders_of(look.variable("LD_LIBRARY_PATH"))) {
    if (is_file(folder / "libc10.so") && (!look.torch || !is_below(folder, look.torch->root)))
      look.add("path", "LD_LIBRARY_PATH", wrong, fmt::format("{} has libraries of a torch", folder.string()),
               "modules are loaded with that torch's libraries, not with the installed one's", "unset LD_LIBRARY_PATH");
    else
      for (const auto& file : entries_of(folder))
        if (file.filename().string().starts_with("libcudart.so.")) {
          look.add("path", "LD_LIBRARY_PATH", note, fmt::format("{} has {}", folder.string(), file.filename().string()),
                   "it may come before the CUDA libraries that torch brings");
          break;
        }
  }
}

std::string gigabytes(std::uint64_t bytes) {
  return bytes < 1'000'000'000 ? fmt::format("{} MB", bytes / 1'000'000)
                               : fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9);
}

}  // namespace

void look_at_paths(Look& look) {
  std::set<std::string> seen;
  for (const auto* name : {"torch", "triton"}) {
    look_at_two_installs(look, name);
    look_at_origin(look, name, name);
  }
  for (const auto& known : look.known) {
    look_at_two_installs(look, known.name);
    look_at_origin(look, known.name, known.module);
  }
  look_at_stale_build(look);
  look_at_variables(look);
}

void look_at_room(Look& look) {
  for (const auto& folder : look.options.work_folders) {
    // A store that is not there yet lies on its parent's disk.
    fs::path place = folder;
    std::error_code error;
    while (!place.empty() && place != place.parent_path() && !fs::exists(place, error)) place = place.parent_path();
    const auto space = fs::space(place, error);
    if (error || space.available >= look.options.build_disk_bytes) continue;
    look.add("disk", folder.string(), warning, fmt::format("{} are free", gigabytes(space.available)),
             fmt::format("a build may write {} there", gigabytes(look.options.build_disk_bytes)),
             "TMPDIR and SAGEKIT_STORE name folders on a larger disk");
  }
  std::uint64_t largest = 0;
  for (const auto& known : look.known)
    for (const Spec* spec : known.specs)
      for (const auto& kernel : spec->kernels) largest = std::max(largest, kernel.source_cost.peak_bytes());
  const auto cpus = static_cast<std::uint64_t>(look.machine.cpus);
  const auto fitting = largest == 0 ? cpus : look.machine.memory_bytes / largest;
  const auto text = fmt::format("{} for {} CPUs", gigabytes(look.machine.memory_bytes), cpus);
  if (fitting < cpus && fitting < 1)
    look.add("memory", "memory for a build", warning, text, fmt::format("one compiler takes {}", gigabytes(largest)),
             "build on a machine with more memory", "WHY210");
  else if (fitting < cpus)
    look.add("memory", "memory for a build", warning, text,
             fmt::format("setup.py starts a compiler for each CPU, of {} each; sagekit build starts as many as fit",
                         gigabytes(largest)),
             fmt::format("export MAX_JOBS={}", fitting), "WHY210");
}

}  // namespace sagekit
