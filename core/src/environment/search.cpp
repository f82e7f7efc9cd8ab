#include "environment/search.hpp"

#include "environment/microsoft.hpp"
#include "support/folder.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

// "g++", "g++-12", "clang++-19", "aarch64-linux-gnu-g++", "x86_64-w64-mingw32-g++-posix", "x86_64-w64-mingw32ucrt-g++":
// C++ drivers; their C twins compile nothing else. Of mingw those alone whose threads are C++'s: the others have no
// std::mutex.
bool is_compiler_name(std::string name) {
  if (name.starts_with("x86_64-w64-mingw32")) return name.ends_with("-g++") || name.ends_with("-g++-posix");
  const std::size_t dash = name.rfind('-');
  if (dash != std::string::npos && is_digits(std::string_view(name).substr(dash + 1))) name.resize(dash);
  return name == "g++" || name == "clang++" || name.ends_with("-linux-gnu-g++");
}

// "python3", "python3.12", "python3.13t".
bool is_python_name(std::string_view name) {
  if (name == "python3") return true;
  if (name.ends_with('t')) name.remove_suffix(1);
  return name.starts_with("python3.") && is_digits(name.substr(8));
}

// Programs of a folder by name, shorter names first: "g++" rather than the "x86_64-linux-gnu-g++-12" it leads to.
template <class Wanted>
std::vector<fs::path> programs_in(const fs::path& folder, Wanted wanted) {
  std::vector<fs::path> programs;
  for (const auto& entry : entries_of(folder))
    if (wanted(entry.filename().string()) && is_file(entry)) programs.push_back(entry);
  std::ranges::sort(programs, {}, [](const fs::path& program) {
    auto name = program.filename().string();
    return std::pair(name.size(), std::move(name));
  });
  return programs;
}

// pyenv's launchers: a script of a kilobyte that takes a tenth of a second to say which interpreter it starts, or none.
bool is_shim(const fs::path& program) {
  const fs::path folder = program.parent_path();
  return folder.filename() == "shims" && is_folder(folder.parent_path() / "versions");
}

class Search {
 public:
  explicit Search(const ProbeOptions& options) : m_options(options) {}

  Candidates run() {
    for (const auto& folder : m_options.folders) look_into_folder(folder, ToolSource::folder);
    for (const auto& folder : m_options.python_headers) look_for_headers(folder);
    for (const auto& [folder, source] : m_options.provisioned) {
      look_into_folder(folder, source);
      // A fetched tree that lost its nvcc is shown as one that cannot be used: a fetch would find it in its place.
      if (const auto nvcc = folder / "bin/nvcc"; folder.filename().string().starts_with("nvcc-") && !is_file(nvcc))
        m_found.nvcc.push_back({nvcc, source, std::string(to_string(source))});
    }
    if (m_options.system) look_at_machine();
    return std::move(m_found);
  }

 private:
  void look_at_machine() {
    std::set<fs::path> seen;
    for (const auto& folder : m_options.path) {
      if (!folder.is_absolute() || !seen.insert(real_path(folder)).second) continue;
      add_nvcc(folder / "nvcc", ToolSource::system, "PATH");
      for (const auto& program : programs_in(folder, is_compiler_name))
        add_compiler(program, ToolSource::system, "PATH");
      for (const auto& program : programs_in(folder, is_python_name))
        if (!shim_of_installed(program)) add_python(program, ToolSource::system, "PATH");
    }
    for (const auto& home : m_options.cuda_homes)
      if (!add_nvcc(home / "bin/nvcc", ToolSource::system, "CUDA_HOME"))
        m_found.notes.push_back(fmt::format("CUDA_HOME or CUDA_PATH names {}, which has no bin/nvcc", home.string()));
    for (const auto* place : {"usr/local", "opt"})
      for (const auto& entry : entries_of(m_options.root / place))
        if (entry.filename().string().starts_with("cuda"))
          add_nvcc(entry / "bin/nvcc", ToolSource::system, std::string("/") + place);
    if (m_options.home.empty()) return;
    for (const auto& entry : entries_of(m_options.home / ".pyenv/versions"))
      add_prefix(entry, ToolSource::system, "pyenv");
    for (const auto& entry : entries_of(m_options.home / ".local/share/uv/python"))
      add_prefix(entry, ToolSource::system, "uv");
  }

  // The folder itself, or what it holds one level down.
  void look_into_folder(const fs::path& folder, ToolSource source) {
    const auto count = [&] {
      return m_found.nvcc.size() + m_found.pythons.size() + m_found.torches.size() + m_found.host_compilers.size();
    };
    const std::size_t before = count();
    look_at(folder, source);
    for (const auto& entry : entries_of(folder))
      if (is_folder(entry)) look_at(entry, source);
    if (count() == before)
      m_found.notes.push_back(fmt::format(
          "{} {}", folder.string(),
          is_folder(folder) ? "holds no nvcc, compiler, torch or Python, nor does a folder in it" : "is not a folder"));
  }

  void look_at(const fs::path& folder, ToolSource source) {
    const std::string found_by(to_string(source));
    add_nvcc(folder / "bin/nvcc", source, found_by);
    for (const auto& program : programs_in(folder / "bin", is_compiler_name)) add_compiler(program, source, found_by);
    if (microsoft_folders(folder)) add_once(m_found.host_compilers, {folder, source, found_by}, real_path(folder));
    add_prefix(folder, source, found_by);
    const bool libraries = is_file(folder / "lib/libc10.so") || is_file(folder / "lib/c10.dll");
    if (is_file(folder / "version.py") && (libraries || is_folder(folder / "include/torch"))) add_torch(folder, source);
    auto packages = find_packages(folder, source);
    for (auto& found : packages.nvcc) add_once(m_found.nvcc, found, real_path(found.path));
    for (const auto& found : packages.torches) add_torch(found.path, source);
    std::ranges::move(packages.notes, std::back_inserter(m_found.notes));
  }

  // An include folder, a prefix, or the contents of a package; what is none of them is shown as a Python that cannot
  // be used, so that nothing else is taken in its place.
  void look_for_headers(const fs::path& given) {
    std::vector<fs::path> folders;
    if (is_file(given / "Python.h")) folders.push_back(given);
    for (const auto* below : {"", "include", "usr/include"})
      for (const auto& entry : entries_of(given / below))
        if (entry.filename().string().starts_with("python3.") && is_file(entry / "Python.h")) folders.push_back(entry);
    if (folders.empty()) folders.push_back(given);
    for (const auto& folder : folders)
      add_once(m_found.python_headers, {folder, ToolSource::folder, "--python-headers"}, real_path(folder));
  }

  bool add_nvcc(const fs::path& program, ToolSource source, const std::string& found_by) {
    if (!is_file(program)) return false;
    add_once(m_found.nvcc, {program, source, found_by}, real_path(program));
    return true;
  }

  // ccache and distcc are one program under many names: only a link that ends at a compiler says which one it is.
  void add_compiler(const fs::path& program, ToolSource source, const std::string& found_by) {
    const fs::path real = real_path(program);
    const std::string name = real.filename().string();
    const bool compiler = name.find("g++") != std::string::npos || name.find("clang") != std::string::npos;
    add_once(m_found.host_compilers, {program, source, found_by}, compiler ? real : program);
  }

  // A virtual environment's interpreter is a link to its base, yet another Python: it has other packages.
  void add_python(const fs::path& program, ToolSource source, const std::string& found_by) {
    const bool venv = is_file(program.parent_path().parent_path() / "pyvenv.cfg");
    add_once(m_found.pythons, {program, source, found_by},
             venv ? real_path(program.parent_path()) : real_path(program));
  }

  void add_prefix(const fs::path& prefix, ToolSource source, const std::string& found_by) {
    const auto programs = programs_in(prefix / "bin", is_python_name);
    if (!programs.empty()) add_python(programs.front(), source, found_by);
  }

  void add_torch(const fs::path& root, ToolSource source) {
    add_once(m_found.torches, {root, source, "folder"}, real_path(root));
  }

  bool shim_of_installed(const fs::path& program) const {
    if (!is_shim(program) || program.filename() == "python3") return false;
    const fs::path versions = program.parent_path().parent_path() / "versions";
    return std::ranges::any_of(entries_of(versions),
                               [&](const fs::path& version) { return is_file(version / "bin" / program.filename()); });
  }

  void add_once(std::vector<Found>& list, Found found, const fs::path& key) {
    if (m_seen.insert({&list, key}).second) list.push_back(std::move(found));
  }

  const ProbeOptions& m_options;
  Candidates m_found;
  std::set<std::pair<const std::vector<Found>*, fs::path>> m_seen;
};

}  // namespace

Candidates find_candidates(const ProbeOptions& options) { return Search(options).run(); }

Candidates find_packages(const fs::path& folder, ToolSource source) {
  Candidates found;
  if (is_file(folder / "torch/version.py")) found.torches.push_back({folder / "torch", source, "site-packages"});
  for (const auto& entry : entries_of(folder / "nvidia"))
    if (entry.filename().string().starts_with("cu") && is_file(entry / "bin/nvcc"))
      found.nvcc.push_back({entry / "bin/nvcc", source, "site-packages"});
  // The CUDA 12 compiler wheel has ptxas and headers only (NVIDIA/cuda-python issue 2100).
  const fs::path old = folder / "nvidia/cuda_nvcc";
  if (is_file(old / "bin/ptxas") && !is_file(old / "bin/nvcc"))
    found.notes.push_back(fmt::format("{} is the CUDA 12 compiler package: it holds no nvcc", old.string()));
  return found;
}

}  // namespace sagekit
