#include "verify/rules.hpp"

#include "support/format.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <array>

namespace sagekit {

namespace {

using enum Weight;

// Families share their numbers with the readers: below 100 is what a reader says, and is here only where the policy
// changes its weight; from 100 on is judged in this room.
constexpr auto k_rules = std::to_array<Rule>({
    // code      own      others   pypi     what holds when it passes
    {"CNT001", error, warning, warning, "no build leftovers or foreign files are inside"},
    {"CNT002", error, error, error, "every extension module the cell needs is there"},
    {"CNT003", error, error, error, "the package's Python files are there"},
    {"CNT004", warning, note, note, "the size is what the plugin expects"},
    {"CNT005", error, note, note, "only the package's own names are at the top"},
    {"CNT006", error, warning, warning, "no extension module is there that the plugin does not know"},
    {"CNT007", error, error, error, "the files are those that the build recorded"},
    {"CNT008", warning, off, error, "the wheel is not larger than the public index takes (100 MiB)"},
    {"ELF001", error, error, error, "modules are for the machine the wheel is tagged for"},
    {"ELF002", error, warning, warning, "modules need only libraries that will be there"},
    {"ELF003", error, warning, warning, "no module looks for libraries in a place of the build machine"},
    {"ELF004", error, warning, warning, "no module asks for an executable stack"},
    {"ELF005", warning, note, note, "modules carry no debug information"},
    {"ELF006", error, error, error, "modules are in the operating system's own format"},
    {"ELF007", error, error, error, "every symbol that modules leave open is in the torch they are for"},
    {"FAT101", error, error, error, "each module has machine code for every arch it was built for"},
    {"FAT102", error, warning, warning, "no module has machine code nobody asked for"},
    {"FAT103", error, error, error, "no extension module is hollow"},
    {"FAT104", error, warning, warning, "each module has the PTX that was asked for, and no other"},
    {"FAT105", warning, warning, warning, "GPU code lies where the CUDA runtime finds it"},
    {"IMP001", error, error, error, "each module imports in a fresh interpreter"},
    {"INF003", error, warning, error, "the dist-info folder has the file name's name and version"},
    {"INF009", error, warning, warning, "WHEEL has the file name's tags"},
    {"INF010", error, warning, warning, "WHEEL has the file name's build tag"},
    {"INF023", error, warning, error, "the licence files that METADATA names are there"},
    {"INF100", error, error, error, "dist-info agrees with the file name and with the content"},
    {"INF101", error, warning, warning, "Requires-Dist pins the torch that the modules were linked with"},
    {"INF102", error, off, off, "METADATA names the licence files"},
    {"INF103", error, off, off, "WHEEL says which sagekit made it"},
    {"INF104", error, error, error, "a wheel with modules is no pure-Python wheel"},
    {"INF105", error, off, off, "requirements are those of the cell"},
    {"LBC001", note, note, note, "the C library that the modules need"},
    {"LBC002", error, warning, warning, "modules need no newer glibc than the plugin allows"},
    {"LBC003", error, warning, error, "the platform tag promises no older glibc than the modules need"},
    {"LBC004", error, note, note, "modules need no newer glibc than the plugin's floor"},
    {"LBC005", note, note, note, "the oldest manylinux tag that the modules could have"},
    {"NAM101", error, warning, error, "the project name is in normal form"},
    {"NAM102", error, warning, error, "the version is in normal form"},
    {"NAM103", error, note, warning, "tag sets are sorted and have no repetition"},
    {"NAM104", off, off, error, "the public index takes the platform tag"},
    {"NAM105", off, off, error, "the public index takes the version"},
    {"PYA001", error, error, error, "extension modules are for the Python the wheel is tagged for"},
    {"PYA002", error, error, error, "each extension module exports its PyInit function"},
    {"RUN001", error, error, error, "the wheel runs on every GPU it was built for"},
    {"RUN002", warning, warning, warning, "the package itself accepts every GPU it was built for"},
    {"TRU001", error, error, error, "the source has no known defect"},
    {"TRU002", error, off, off, "the wheel says what it was built from"},
    {"TRU003", error, warning, warning, "what the wheel says about itself agrees with its name"},
    {"ZIP014", error, warning, error, "no member has a data descriptor"},
    {"ZIP100", error, error, error, "every reader of the archive sees the same files"},
});
static_assert(std::ranges::is_sorted(k_rules, {}, &Rule::code));

}  // namespace

Weight Rule::weight(Policy policy) const {
  switch (policy) {
    case Policy::own: return own;
    case Policy::others: return others;
    case Policy::pypi: return pypi;
  }
  return own;
}

std::span<const Rule> rules() { return k_rules; }

const Rule* find_rule(std::string_view code) {
  const auto found = std::ranges::lower_bound(k_rules, code, {}, &Rule::code);
  return found != k_rules.end() && found->code == code ? &*found : nullptr;
}

std::string_view family(std::string_view code) {
  return code.substr(0, std::min(code.size(), code.find_first_of("0123456789")));
}

Result<Policy> parse_policy(std::string_view text) {
  if (text == "own") return Policy::own;
  if (text == "others") return Policy::others;
  if (text == "pypi") return Policy::pypi;
  return fail(ErrorKind::usage, "VFY001", fmt::format("there is no policy \"{}\"", text),
              suggestion(text, {"own", "others", "pypi"}));
}

}  // namespace sagekit
