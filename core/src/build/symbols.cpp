#include "build/symbols.hpp"

#include "build/cross_python.hpp"
#include "build/cuda_stub.hpp"
#include "build/microsoft_tools.hpp"
#include "compile/windows_host.hpp"
#include "environment/microsoft.hpp"
#include "spec/libc_floor.hpp"
#include "spec/platform.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

/// How the names of the plan's symbols begin; anything else in braces is not ours.
constexpr std::array<std::string_view, 13> k_symbols{
    "source",           "work", "nvcc-exe-", "nvcc-root-", "cuda-include-", "cuda-lib-", "torch-", "python-",
    "python-includes-", "cxx-", "shim-",     "mingw-",     "msvc-"};

bool is_symbol(std::string_view name) {
  return name.starts_with("stub-") || std::ranges::any_of(k_symbols, [&](std::string_view known) {
           return known.ends_with('-') ? name.starts_with(known) : name == known;
         });
}

/// Calls `visit(name)` for each symbol in the item.
template <class Visit>
void for_symbols(std::string_view item, Visit visit) {
  for (std::size_t at = item.find('{'); at != std::string_view::npos; at = item.find('{', at + 1)) {
    const auto end = item.find('}', at);
    if (end == std::string_view::npos) return;
    if (const auto name = item.substr(at + 1, end - at - 1); is_symbol(name)) visit(name);
  }
}

std::unexpected<Error> unknown(std::string_view name) {
  return fail(ErrorKind::bug, "BLD002", fmt::format("the plan names {{{}}}, which stands for nothing here", name));
}

/// The symbols in the steps of a cell: what no step names need not be made.
std::set<std::string> symbols_of(const Plan& plan, const Cell& cell) {
  std::set<std::string> names;
  for (const auto& step : plan.steps) {
    if (std::ranges::find(step.cells, cell.id) == step.cells.end()) continue;
    for (const auto* items : {&step.argv, &step.fallback_argv, &step.device_argv, &step.environment})
      for (const auto& item : *items) for_symbols(item, [&](std::string_view name) { names.emplace(name); });
  }
  return names;
}

class Resolver {
 public:
  Resolver(const Store& store, fs::path links, std::string own_platform)
      : m_store(store), m_links(std::move(links)), m_own_platform(std::move(own_platform)) {}

  Result<std::string> reachable(const fs::path& root) {
    if (fits_a_flag_list(root.string())) return root.string();
    const auto digest = sha256_hex(root.string());
    std::error_code error;
    fs::path link = m_links / digest.substr(0, 4);
    if (fs::read_symlink(link, error) != root && !error) link = m_links / digest;
    TRY(make_directories(m_links));
    error.clear();
    if (!fs::exists(fs::symlink_status(link, error))) fs::create_directory_symlink(root, link, error);
    if (error)
      return fail(ErrorKind::machine, "STO003", fmt::format("cannot link {}: {}", link.string(), error.message()));
    return link.string();
  }

  Status add_root(const std::string& name, const fs::path& root, const std::string& identity) {
    TRY_ASSIGN(const auto word, reachable(root));
    table.set(name, word, identity);
    table.cover(root);
    table.cover(word);
    return {};
  }

  /// The same for a folder whose headers the identity does not cover.
  Status add_checked(const std::string& name, const fs::path& root, const std::string& identity) {
    TRY_ASSIGN(const auto word, reachable(root));
    table.set(name, word, identity);
    table.set_role(name, root);
    table.set_role(name, word);
    return {};
  }

  void add_compiler(const HostCompiler& compiler, const std::string& platform) {
    table.set("cxx-" + platform, compiler.executable.string(), compiler.identity);
    table.set_device("cxx-" + platform, fmt::format("{} {}", to_string(compiler.kind), compiler.version));
    std::error_code error;
    const auto real = fs::weakly_canonical(compiler.executable, error);
    table.set_role("cxx-root-" + platform, real.parent_path().parent_path());
  }

  /// Microsoft's headers for clang, its libraries for lld, and import libraries of what else is linked against.
  Status add_microsoft(const Cell& cell, const Toolchain& t, const std::set<std::string>& wanted) {
    add_compiler(t.device_compiler, m_own_platform);
    const auto folders = microsoft_folders(t.mingw.executable).value_or(MicrosoftFolders());
    std::vector<std::string> includes, libraries;
    const auto role = "msvc-includes-" + cell.platform;
    for (const auto& folder : folders.includes) {
      TRY_ASSIGN(const auto word, reachable(folder));
      includes.insert(includes.end(), {"-isystem", word});
      table.set_role(includes.size() == 2 ? role : fmt::format("{}-{}", role, includes.size() / 2), word);
    }
    for (const auto& folder : folders.libraries) {
      TRY_ASSIGN(const auto word, reachable(folder));
      libraries.push_back("-L" + word);
    }
    table.set_words(role, includes, t.mingw.identity);
    table.set_words("msvc-libraries-" + cell.platform, libraries, t.mingw.identity);
    table.set("msvc-linker-" + cell.platform, t.windows_linker.parent_path().string(),
              linker_identity(t.windows_linker));
    const auto name =
        fmt::format("msvc-imports-{}-cu{}-{}-{}", cell.torch, without_dots(cell.cuda), cell.python, cell.platform);
    if (!wanted.contains(name)) return {};
    TRY_ASSIGN(const auto imports, make_import_libraries(t, cell.python, m_store));
    table.set(name, imports.string(), imports.filename().string());
    return {};
  }

  /// mingw's headers for clang, and what is linked against beside torch.
  Status add_windows(const Cell& cell, const Toolchain& t, const std::set<std::string>& wanted) {
    const auto& mingw = t.mingw;
    add_compiler(t.device_compiler, m_own_platform);
    table.set("mingw-" + cell.platform, mingw.executable.string(), mingw.identity);
    const auto name = "mingw-includes-" + cell.platform;
    const auto headers = mingw.library_dir / "include/c++";
    const auto system = mingw.executable.parent_path().parent_path() / mingw.target / "include";
    std::vector<std::string> words{"-nostdinc++"};
    for (const auto& folder : {headers, headers / mingw.target, system}) {
      words.insert(words.end(), {"-isystem", folder.string()});
      table.set_role(folder == headers ? name : fmt::format("{}-{}", name, words.size() / 2), folder);
    }
    table.set_words(name, words, mingw.identity);
    if (const auto stub = "stub-python-" + cell.python + "-" + cell.platform; wanted.contains(stub)) {
      TRY_ASSIGN(const auto folder, make_python_stub(cell.python, m_store));
      table.set(stub, folder.string(), "python3.dll");
    }
    return {};
  }

  Status add_toolchain(const Cell& cell, const Toolchain& t, const std::set<std::string>& wanted) {
    const auto& platform = cell.platform;
    add_compiler(t.host_compiler, platform);
    if (is_windows(platform))
      TRY(t.mingw.kind == CompilerKind::msvc ? add_microsoft(cell, t, wanted) : add_windows(cell, t, wanted));
    if (!cell.cuda.empty()) {
      table.set("nvcc-exe-" + cell.cuda, t.nvcc.executable.string(), t.nvcc.identity);
      // nvcc's identity is that of its programs: its headers are checked one by one.
      TRY(add_checked("nvcc-root-" + cell.cuda, t.nvcc.root, t.nvcc.identity));
      TRY(add_checked("cuda-include-" + cell.cuda, t.nvcc.include_dir, t.nvcc.identity));
      if (const auto name = "cuda-lib-" + cell.cuda + "-" + platform; wanted.contains(name)) {
        TRY_ASSIGN(const auto libraries, cuda_libraries(t.nvcc, platform));
        TRY_ASSIGN(const auto word, reachable(libraries));
        table.set(name, word, t.nvcc.identity);
      }
    }
    if (!t.torch.root.empty()) {
      const auto name = fmt::format("torch-{}-cu{}-{}", cell.torch, without_dots(cell.cuda), platform);
      TRY(add_root(name, t.torch.root, t.torch.identity));
      table.set_device(name, t.torch.version);
    }
    if (const auto name = "python-exe-" + cell.python + "-" + platform; wanted.contains(name)) {
      const bool imports_torch = !t.torch.interpreter.empty();
      table.set(name, imports_torch ? t.torch.interpreter.string() : t.python.executable.string(),
                imports_torch ? t.torch.identity + t.python.identity : t.python.identity);
    }
    auto folders = t.python.include_dirs;
    if (folders.empty()) return {};
    if (t.python.source == ToolSource::derived) {
      TRY_ASSIGN(auto made, make_cross_headers(t.python, platform, m_store));
      folders = {std::move(made)};
    } else if (t.python.executable.empty() && folders.size() > 1) {
      TRY_ASSIGN(auto made, make_own_headers(t.python, m_store));
      folders = {std::move(made)};
    }
    const auto name = "python-includes-" + cell.python + "-" + platform;
    std::vector<std::string> includes;
    for (std::size_t i = 0; i < folders.size(); ++i) {
      TRY_ASSIGN(const auto word, reachable(folders[i]));
      includes.insert(includes.end(), {"-isystem", word});
      const auto role = i == 0 ? name : fmt::format("{}-{}", name, i);
      table.set_role(role, folders[i]);
      table.set_role(role, word);
    }
    table.set_words(name, includes, t.python.identity);
    table.set_device(name, t.python.version);
    return {};
  }

  /// A link takes the runtime's names, which are those of every CPU.
  Result<fs::path> cuda_libraries(const Nvcc& nvcc, const std::string& platform) {
    if (platform != m_own_platform)
      return nvcc.cross_library_dir.empty() ? make_runtime_stub(nvcc, platform, m_store) : nvcc.cross_library_dir;
    std::error_code error;
    if (fs::exists(nvcc.library_dir / "libcudart.so", error)) return nvcc.library_dir;
    // Wheels have libcudart.so.13 alone.
    const fs::path folder = m_links / ("cudart-" + nvcc.version);
    TRY(make_directories(folder));
    TRY_ASSIGN(const auto library, runtime_library(nvcc));
    fs::create_symlink(library, folder / "libcudart.so", error);
    fs::create_symlink(nvcc.library_dir / "libcudart_static.a", folder / "libcudart_static.a", error);
    return folder;
  }

  Status add_shims(const std::vector<Shim>& shims) {
    std::map<std::string, std::vector<const Shim*>> folders;
    for (const auto& shim : shims) folders[shim.name].push_back(&shim);
    for (const auto& [name, files] : folders) {
      Sha256 hash;
      for (const auto* shim : files) {
        hash.field(shim->file);
        hash.field(shim->text);
      }
      const auto identity = hash.hex();
      const fs::path folder = m_store.folder("shims") / identity.substr(0, 32);
      std::error_code error;
      if (!fs::exists(folder, error)) {
        TRY_ASSIGN(const TemporaryFolder scratch, m_store.temporary());
        for (const auto* shim : files) TRY(write_file_atomic(scratch.path() / "shim" / shim->file, shim->text));
        TRY(publish_folder(scratch.path() / "shim", folder));
      }
      TRY(add_root("shim-" + name, folder, identity));
    }
    return {};
  }

  SymbolTable table;

 private:
  const Store& m_store;
  fs::path m_links;
  std::string m_own_platform;
};

}  // namespace

bool fits_a_flag_list(std::string_view path) { return path.find_first_of(" ,\"'\t\n\\") == std::string_view::npos; }

void SymbolTable::set(const std::string& name, std::string word, std::string identity) {
  set_words(name, {std::move(word)}, std::move(identity));
}

void SymbolTable::set_words(const std::string& name, std::vector<std::string> words, std::string identity) {
  auto device = identity;
  m_values[name] = {std::move(words), std::move(identity), std::move(device)};
}

Result<std::string> SymbolTable::expand_word(const std::string& item) const {
  std::string text = item;
  std::string missing;
  for_symbols(item, [&](std::string_view name) {
    const auto found = m_values.find(std::string(name));
    if (found == m_values.end() || found->second.words.size() != 1)
      missing = name;
    else
      text = replace_all(std::move(text), fmt::format("{{{}}}", name), found->second.words.front());
  });
  if (!missing.empty()) return unknown(missing);
  return text;
}

Result<std::vector<std::string>> SymbolTable::expand(const std::vector<std::string>& items) const {
  std::vector<std::string> words;
  for (const auto& item : items) {
    const bool alone = item.size() > 2 && item.front() == '{' && item.find('}') == item.size() - 1;
    const auto found = alone ? m_values.find(item.substr(1, item.size() - 2)) : m_values.end();
    if (found != m_values.end()) {
      words.insert(words.end(), found->second.words.begin(), found->second.words.end());
      continue;
    }
    TRY_ASSIGN(auto word, expand_word(item));
    words.push_back(std::move(word));
  }
  return words;
}

std::vector<std::pair<std::string, std::string>> SymbolTable::identities(const std::vector<std::string>& items) const {
  std::map<std::string, std::string> result;
  for (const auto& item : items)
    for_symbols(item, [&](std::string_view name) {
      const auto found = m_values.find(std::string(name));
      result.emplace(name, found == m_values.end() ? std::string() : found->second.identity);
    });
  return {result.begin(), result.end()};
}

std::vector<std::pair<std::string, std::string>> SymbolTable::device_identities(const std::vector<std::string>& items,
                                                                                const std::string& platform) const {
  std::vector<std::pair<std::string, std::string>> result;
  for (auto& [name, identity] : identities(items)) {
    const auto found = m_values.find(name);
    if (name.ends_with("-" + platform)) name.resize(name.size() - platform.size() - 1);
    result.emplace_back(std::move(name), found == m_values.end() ? std::string() : found->second.device);
  }
  return result;
}

namespace {

/// A folder's two spellings with a slash at the end. Folders that a distribution shares with everything else are none.
std::set<std::string> spellings(const fs::path& folder) {
  static const std::set<std::string> k_shared{"", "/", "/usr", "/usr/include", "/usr/local", "/usr/local/include"};
  std::error_code error;
  std::set<std::string> found;
  for (const auto& path : {folder.lexically_normal(), fs::weakly_canonical(folder, error)}) {
    auto text = path.string();
    if (text.ends_with('/')) text.pop_back();
    if (!k_shared.contains(text)) found.insert(text + "/");
  }
  return found;
}

}  // namespace

void SymbolTable::cover(const fs::path& folder) {
  for (const auto& text : spellings(folder))
    if (std::ranges::find(m_covered, text) == m_covered.end()) m_covered.push_back(text);
}

bool SymbolTable::covers(const fs::path& file) const {
  const auto text = file.string();
  return std::ranges::any_of(m_covered, [&](const std::string& folder) { return text.starts_with(folder); });
}

void SymbolTable::set_role(const std::string& role, const fs::path& folder) {
  for (const auto& text : spellings(folder))
    if (std::ranges::find(m_roles, std::pair(text, role)) == m_roles.end()) m_roles.emplace_back(text, role);
}

std::string SymbolTable::name_by_role(const fs::path& file) const {
  const auto text = file.string();
  const std::pair<std::string, std::string>* innermost = nullptr;
  for (const auto& row : m_roles)
    if (text.starts_with(row.first) && (innermost == nullptr || row.first.size() > innermost->first.size()))
      innermost = &row;
  if (innermost == nullptr) return {};
  return fmt::format("{{{}}}/{}", innermost->second, text.substr(innermost->first.size()));
}

fs::path SymbolTable::path_by_role(const std::string& name) const {
  const auto end = name.find("}/");
  if (!name.starts_with('{') || end == std::string::npos) return name;
  const auto role = name.substr(1, end - 1);
  for (const auto& [folder, known] : m_roles)
    if (known == role) return folder + name.substr(end + 2);
  return name;
}

Result<SymbolTable> resolve_symbols(const Spec& spec, const Plan& plan, const std::vector<const Cell*>& cells,
                                    const std::string& own_platform, const Store& store, const fs::path& links) {
  Resolver resolver(store, links, own_platform);
  std::map<std::string, std::pair<Nvcc, std::string>> stubs;  // by symbol; nvcc and platform
  for (const auto* cell : cells) {
    if (!cell->toolchain) return fail(ErrorKind::bug, "BLD002", fmt::format("the plan has no tools for {}", cell->id));
    const auto& nvcc = cell->toolchain->nvcc;
    const auto wanted = symbols_of(plan, *cell);
    TRY(resolver.add_toolchain(*cell, *cell->toolchain, wanted));
    const auto stub = "stub-cuda-" + cell->platform;
    auto& chosen = stubs[stub];
    const auto newest = parse_version_number(chosen.first.version), this_one = parse_version_number(nvcc.version);
    if (wanted.contains(stub) && this_one && (!newest || *newest < *this_one)) chosen = {nvcc, cell->platform};
  }
  TRY(resolver.add_shims(spec.build.shims));
  TRY(resolver.add_shims(floor_shims(spec.build.glibc_floor)));
  TRY(resolver.add_shims(windows_shims()));
  for (const auto& [name, tools] : stubs) {
    if (tools.first.version.empty()) continue;
    TRY_ASSIGN(const auto folder, make_driver_stub(tools.first, tools.second, store));
    // A link takes from it only names and types that are the same in every stub.
    resolver.table.set(name, folder.string(), "libcuda.so.1");
  }
  return std::move(resolver.table);
}

}  // namespace sagekit
