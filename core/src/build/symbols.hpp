#pragma once
// The symbols of a plan's argv (sagekit/plan.hpp) and what they stand for on this machine.

#include "store/store.hpp"

#include <sagekit/build.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sagekit {

/// A symbol's value: most are one word; {python-includes-..} is several, and stands alone in its item.
struct SymbolValue {
  std::vector<std::string> words;
  std::string identity;  ///< what an action key says in its place; "" = nothing but its name
  std::string device;    ///< what a key of device code says: nothing of the host's CPU
};

/// Can a flag list that is split at commas (-Xcompiler=) carry the path?
bool fits_a_flag_list(std::string_view path);

class SymbolTable {
 public:
  void set(const std::string& name, std::string word, std::string identity = {});
  void set_words(const std::string& name, std::vector<std::string> words, std::string identity);
  /// Instead of the identity, in keys of device code.
  void set_device(const std::string& name, std::string words) { m_values[name].device = std::move(words); }
  bool has(const std::string& name) const { return m_values.contains(name); }

  /// BLD002 (bug) for a symbol of the plan that has no value here. Other braces stay.
  Result<std::vector<std::string>> expand(const std::vector<std::string>& items) const;
  Result<std::string> expand_word(const std::string& item) const;
  /// (name, identity) of the symbols in these items, sorted, once each.
  std::vector<std::pair<std::string, std::string>> identities(const std::vector<std::string>& items) const;
  /// The same for device code; `platform` is left out of the names.
  std::vector<std::pair<std::string, std::string>> device_identities(const std::vector<std::string>& items,
                                                                     const std::string& platform) const;

  /// Folders whose content an identity in the key covers: headers below them need no hash of their own.
  void cover(const std::filesystem::path& folder);
  bool covers(const std::filesystem::path& file) const;

  /// A folder of headers that are checked one by one, and what it is: what lies below it is known as "{role}/..." on
  /// every machine. Folders that hold a whole system (/usr, /usr/include) are passed over: their names are the same
  /// everywhere.
  void set_role(const std::string& role, const std::filesystem::path& folder);
  /// "{cuda-include-13.0}/cuda_runtime.h", by the innermost folder; "" below none.
  std::string name_by_role(const std::filesystem::path& file) const;
  /// The way back; what begins with no role stays as it is.
  std::filesystem::path path_by_role(const std::string& name) const;

 private:
  std::map<std::string, SymbolValue> m_values;
  std::vector<std::string> m_covered;                        ///< with a slash at the end
  std::vector<std::pair<std::string, std::string>> m_roles;  ///< folder with a slash at the end, role
};

/// The table for these cells: the toolchains that the plan chose for them, the spec's shims (written to the store),
/// driver stubs where a step wants one. {source} and {work} are set by the caller. A root that a flag list cannot carry
/// (blank, comma, quote) is reached by a link below `links`, which is made when needed. Errors: BLD002 (bug) for a cell
/// without a toolchain, BLD005 when the stub cannot be made.
Result<SymbolTable> resolve_symbols(const Spec& spec, const Plan& plan, const std::vector<const Cell*>& cells,
                                    const std::string& own_platform, const Store& store,
                                    const std::filesystem::path& links);

}  // namespace sagekit
