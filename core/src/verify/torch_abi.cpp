#include "verify/torch_abi.hpp"

#include "elf/elf_reader.hpp"
#include "pypa/requirement_reader.hpp"
#include "spec/data.hpp"
#include "spec/libraries.hpp"
#include "spec/symbol_lists.hpp"
#include "support/file.hpp"
#include "support/folder.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace sagekit {

namespace {

/// Itanium C++ ABI: a nested name, or a vtable, typeinfo or guard of one, that begins with one of torch's namespaces.
bool is_torch_cpp(std::string_view symbol) {
  if (!symbol.starts_with("_Z")) return false;
  symbol.remove_prefix(2);
  for (const std::string_view special : {"TV", "TI", "TS", "GV"})
    if (symbol.starts_with(special)) {
      symbol.remove_prefix(2);
      break;
    }
  if (!symbol.starts_with('N')) return false;
  symbol.remove_prefix(1);
  while (!symbol.empty() && std::string_view("KVrRO").find(symbol.front()) != std::string_view::npos)
    symbol.remove_prefix(1);
  return std::ranges::any_of(std::array<std::string_view, 4>{"3c10", "2at", "5torch", "6caffe2"},
                             [&](std::string_view name) { return symbol.starts_with(name); });
}

/// Microsoft's mangling ends a name with its namespaces, innermost first: ?what@Error@c10@@...
bool is_torch_cpp_windows(std::string_view symbol) {
  if (!symbol.starts_with('?')) return false;
  const auto name = symbol.substr(0, symbol.find("@@"));
  return std::ranges::any_of(std::array<std::string_view, 4>{"@c10", "@at", "@torch", "@caffe2"},
                             [&](std::string_view end) { return name.ends_with(end); });
}

bool is_torch_python(std::string_view symbol) { return symbol.starts_with("THP"); }

void sort_in(const std::string& symbol, TorchUse& use) {
  if (is_torch_cpp(symbol) || is_torch_cpp_windows(symbol) || is_torch_python(symbol)) {
    use.unstable.push_back(symbol);
  } else if (const auto since = torch_shim_since(symbol)) {
    use.stable.push_back(symbol);
    if (!use.since || *use.since < *since) use.since = *since, use.newest = symbol;
  }
}

bool same_minor(const VersionNumber& a, const VersionNumber& b) {
  return a.major() == b.major() && a.minor() == b.minor();
}

}  // namespace

TorchUse torch_use(const Artifact& artifact, const MemberFacts& member) {
  TorchUse use;
  if (member.pe)
    for (const auto& [library, names] : member.pe->imported)
      if (artifact.find_library(library) == nullptr)
        for (const auto& symbol : names) sort_in(symbol, use);
  if (!member.elf) return use;
  std::set<std::string_view> others(member.elf->undefined_weak.begin(), member.elf->undefined_weak.end());
  for (const auto& library : member.elf->needed)
    if (const auto* own = artifact.find_library(library))
      others.insert(own->elf->exports.begin(), own->elf->exports.end());
  for (const auto& symbol : member.elf->undefined)
    if (!others.contains(symbol)) sort_in(symbol, use);
  return use;
}

// A parameter list comes after the names, so "Ss" at the end, or behind a reference, is no part of an identifier.
bool wants_old_strings(const std::string& symbol) {
  return is_torch_cpp(symbol) && (symbol.ends_with("Ss") || symbol.find("RKSs") != std::string::npos);
}

bool wants_new_strings(const std::string& symbol) {
  return is_torch_cpp(symbol) && symbol.find("St7__cxx1112basic_string") != std::string::npos;
}

std::optional<std::string> TorchFingerprint::missing_in(const VersionNumber& release) const {
  for (const auto& [version, symbol] : lacks)
    if (same_minor(version, release)) return symbol;
  return {};
}

std::optional<TorchFingerprint> torch_fingerprint(const std::vector<std::string>& symbols) {
  const auto releases = known_torch_exports();
  std::vector<std::string> missing(releases.size());
  for (const auto& symbol : symbols) {
    const auto has = torch_releases_with(symbol);
    for (std::size_t i = 0; i < has.size() && i < missing.size(); ++i)
      if (!has[i] && missing[i].empty()) missing[i] = symbol;
  }
  TorchFingerprint print;
  for (std::size_t i = 0; i < releases.size(); ++i)
    if (missing[i].empty())
      print.fits.push_back(releases[i]);
    else
      print.lacks.emplace_back(releases[i], missing[i]);
  if (print.lacks.empty()) return {};
  return print;
}

std::optional<VersionNumber> promised_from(const Artifact& artifact) {
  auto least = artifact.provenance.claimed_torch_min();
  if (least.empty()) least = artifact.provenance.named.torch_min;
  const auto number = parse_version_number(least);
  return number ? std::optional(*number) : std::nullopt;
}

std::optional<VersionNumber> oldest_torch(const Artifact& artifact) {
  if (const auto least = promised_from(artifact)) return least;
  if (const auto declared = declared_torch(artifact))
    if (const auto number = parse_version_number(declared->version)) return *number;
  const auto& lines = artifact.wheel != nullptr ? artifact.wheel->requires_dist : artifact.provenance.requires_dist;
  const auto* requirement = find_requirement(lines, "torch");
  if (requirement == nullptr) return {};
  for (const auto& term : split(requirement_range(*requirement), ',')) {
    if (!term.starts_with(">=") && !term.starts_with("~=")) continue;
    const auto number = parse_version_number(std::string_view(term).substr(2));
    if (number) return *number;
  }
  return {};
}

namespace fs = std::filesystem;

namespace {

/// Is `version` the declared one, or one of it when only "2.11" is declared?
bool is_version(std::string_view version, std::string_view declared) {
  if (version == declared) return true;
  return version.starts_with(declared) && version.substr(declared.size()).starts_with('.');
}

}  // namespace

std::string DeclaredTorch::text() const {
  return cuda.empty() ? "torch " + version : fmt::format("torch {} for CUDA {}", version, cuda);
}

std::optional<DeclaredTorch> declared_torch(const Artifact& artifact) {
  const Provenance& provenance = artifact.provenance;
  if (provenance.torch.empty()) return {};
  return DeclaredTorch{provenance.torch, provenance.cuda, provenance.torch_from, provenance.cuda_from};
}

const TorchSysroot* find_sysroot(const DeclaredTorch& torch, const std::vector<TorchSysroot>& sysroots,
                                 std::string_view platform) {
  const auto found = std::ranges::find_if(sysroots, [&](const TorchSysroot& sysroot) {
    return sysroot.ready && sysroot.platform == platform && (torch.cuda.empty() || sysroot.cuda == torch.cuda) &&
           is_version(sysroot.version, torch.version);
  });
  return found == sysroots.end() ? nullptr : &*found;
}

std::string newest_release(const std::string& torch) {
  std::string newest = torch;
  for (const auto& release : core_data().torches)
    if (release.version.starts_with(torch + ".")) newest = release.version;
  return newest;
}

std::string wheel_platform(const TorchSysroot& sysroot) {
  for (const auto& entry : entries_of(sysroot.root.parent_path())) {
    const auto name = entry.filename().string();
    if (!name.starts_with("torch-" + sysroot.version) || !name.ends_with(".dist-info")) continue;
    const auto text = read_file(entry / "WHEEL");
    if (!text) continue;
    for (const auto& line : split(*text, '\n'))
      if (line.starts_with("Tag:")) return trim(line.substr(line.find_last_of('-') + 1));
  }
  return {};
}

namespace fs = std::filesystem;

namespace {

bool offers(const ExportList& exports, const std::string& symbol) {
  auto at = std::ranges::lower_bound(exports.symbols, symbol, {}, &ExportedSymbol::name);
  for (; at != exports.symbols.end() && at->name == symbol; ++at)
    if (!at->hidden) return true;
  return false;
}

}  // namespace

bool TorchLibraries::has(const std::string& library) const {
  std::error_code error;
  return fs::is_regular_file(m_folder / library, error);
}

std::vector<std::string> TorchLibraries::all() const {
  std::vector<std::string> names;
  for (const auto& entry : entries_of(m_folder))
    if (auto name = entry.filename().string(); is_torch_library(name)) names.push_back(std::move(name));
  return names;
}

Result<const ExportList*> TorchLibraries::exports(const std::string& library) {
  if (const auto known = m_exports.find(library); known != m_exports.end()) return &known->second;
  TRY_ASSIGN(const auto file, MappedFile::open(m_folder / library));
  TRY_ASSIGN(auto list, read_exports(file.bytes()));
  return &m_exports.emplace(library, std::move(list)).first->second;
}

Result<std::vector<std::string>> TorchLibraries::needed_by(const std::string& library) const {
  TRY_ASSIGN(const auto file, MappedFile::open(m_folder / library));
  Problems problems(library);  // read_exports has judged these bytes
  const auto elf = ElfFile::read(Bytes(file.bytes()), problems);
  auto needed = elf ? read_elf_facts(*elf, false, problems).needed : std::vector<std::string>();
  return needed.empty() ? all() : needed;
}

Result<std::vector<std::string>> TorchLibraries::missing(std::vector<std::string> symbols,
                                                         const std::vector<std::string>& libraries) {
  std::set<std::string> seen;
  // One ring of libraries after the other: mostly the first has everything, and no other is read.
  for (auto ring = libraries; !ring.empty() && !symbols.empty();) {
    std::vector<std::string> here;
    for (const auto& library : ring) {
      if (!has(library) || !seen.insert(library).second) continue;
      here.push_back(library);
      TRY_ASSIGN(const ExportList* list, exports(library));
      std::erase_if(symbols, [&](const std::string& symbol) { return offers(*list, symbol); });
    }
    ring.clear();
    for (const auto& library : here) {
      if (symbols.empty()) break;
      TRY_ASSIGN(const auto needed, needed_by(library));
      ring.insert(ring.end(), needed.begin(), needed.end());
    }
  }
  return symbols;
}

}  // namespace sagekit
