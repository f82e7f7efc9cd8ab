#include "verify/abi/torch_libraries.hpp"

#include "elf/elf_reader.hpp"
#include "spec/libraries.hpp"
#include "support/file.hpp"
#include "support/try.hpp"

#include <algorithm>
#include <set>

namespace sagekit {

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
  std::error_code error;
  for (fs::directory_iterator at(m_folder, error), end; !error && at != end; at.increment(error))
    if (auto name = at->path().filename().string(); is_torch_library(name)) names.push_back(std::move(name));
  std::ranges::sort(names);
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
