#include "support/format.hpp"
#include "support/text.hpp"
#include "verify/policy.hpp"

#include <algorithm>
#include <array>
#include <set>

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
    {"CNT009", note, note, note, "no file is there twice"},
    {"CNT010", warning, note, note, "only packages and modules are at the top"},
    {"CNT011", warning, note, note, "every Python module can be imported by its path"},
    {"CNT012", error, warning, note, "no name at the top is one that many packages use"},
    {"CNT013", error, warning, note, "there is no __init__.py at the top"},
    {"CNT014", error, warning, note, "the wheel installs something"},
    {"CNT015", off, note, note, "one name is at the top"},
    {"CNT016", warning, note, note, "folders at the top hold Python modules"},
    {"CNT017", error, error, warning, "modules are files of their own kind and no pointers or error pages"},
    {"CNT018", note, note, note, "how large the wheel and its largest files are"},
    {"CNT019", note, note, note, "there are not more than 2000 files"},
    {"CNT020", error, warning, note, "nothing runs when any Python starts"},
    {"ELF001", error, error, error, "modules are for the machine the wheel is tagged for"},
    {"ELF002", error, warning, warning, "modules need only libraries that will be there"},
    {"ELF003", error, warning, warning, "no module looks for libraries in a place of the build machine"},
    {"ELF004", error, warning, warning, "no module asks for an executable stack"},
    {"ELF005", warning, note, note, "modules carry no debug information"},
    {"ELF006", error, error, error, "modules are in the operating system's own format"},
    {"ELF007", error, error, error, "every symbol that modules leave open is in the torch they are for"},
    {"ELF008", error, warning, warning, "no module has relocations in its code"},
    {"ELF009", error, warning, warning, "no module has a segment that is writable and executable"},
    {"ELF010", error, warning, warning, "modules are libraries, which a process can load"},
    {"ELF011", error, warning, warning, "libraries of the wheel have the file names by which modules need them"},
    {"ELF012", warning, note, note, "modules find the wheel's own libraries by their run paths"},
    {"ELF013", note, note, note, "modules have read-only tables of addresses (RELRO)"},
    {"ELF014", note, note, note, "the processor that modules ask for"},
    {"FAT101", error, error, error, "each module has machine code for every arch it was built for"},
    {"FAT102", error, warning, warning, "no module has machine code nobody asked for"},
    {"FAT103", error, error, error, "no extension module lacks its GPU code"},
    {"FAT104", error, warning, warning, "each module has the PTX that was asked for, and no other"},
    {"FAT105", warning, warning, warning, "GPU code lies where the CUDA runtime finds it"},
    {"FAT106", error, note, note, "machine code was compiled from the virtual arch of its own generation"},
    {"FAT107", warning, note, note, "PTX is for newer GPUs too, not for one arch alone"},
    {"FAT108", error, warning, warning, "no module's kernels are all empty or traps on one of its arches"},
    {"FAT109", error, warning, warning, "every kernel of the plugin's modules has a body on each arch"},
    {"FAT110", warning, note, note, "kernels move no more local memory than the plugin allows"},
    {"FAT111", warning, note, note, "every fatbin is registered with the CUDA runtime"},
    {"FAT112", warning, note, note, "no kernel is linked in twice"},
    {"FAT113", warning, note, note, "modules with GPU code have kernels"},
    {"FAT114", error, warning, warning, "the nvcc that compiled each arch is one that can"},
    {"IMP001", error, error, warning, "each module imports in a fresh interpreter"},
    {"IMP002", error, warning, warning, "the loader finds every library that a module needs"},
    {"IMP003", error, error, warning, "the loader finds every symbol that a module needs"},
    {"IMP004", error, error, warning, "loading a module neither ends nor blocks the interpreter"},
    {"IMP005", error, error, error, "one of the interpreters that were given is one that the wheel is for"},
    {"INF002", error, error, warning, "there is one dist-info folder"},
    {"INF003", error, warning, error, "the dist-info folder has the file name's name and version"},
    {"INF008", error, error, warning, "WHEEL is complete and of a known version"},
    {"INF009", error, warning, warning, "WHEEL has the file name's tags"},
    {"INF010", error, warning, warning, "WHEEL has the file name's build tag"},
    {"INF012", error, error, warning, "every row of RECORD has three fields"},
    {"INF015", error, warning, warning, "RECORD lists each file once"},
    {"INF016", error, error, warning, "every file has the hash in RECORD"},
    {"INF017", error, error, warning, "every file has the size in RECORD"},
    {"INF018", error, error, warning, "RECORD has an allowed hash and a size for every file"},
    {"INF023", error, warning, error, "the licence files that METADATA names are there"},
    {"INF024", error, warning, warning, "Metadata-Version is 2.4 where License-File is used"},
    {"INF025", error, error, error, "the dist-info folder is that of the file name"},
    {"INF026", error, warning, warning, "RECORD gives no hash or size for itself"},
    {"INF027", error, note, note, "there is no signature of RECORD"},
    {"INF100", error, error, error, "dist-info agrees with the file name and with the content"},
    {"INF101", error, warning, warning, "Requires-Dist pins the torch that the modules were linked with"},
    {"INF102", error, off, off, "METADATA names the licence files"},
    {"INF103", error, off, off, "WHEEL says which sagekit made it"},
    {"INF104", error, error, note, "a wheel with modules names the platform that they are for"},
    {"INF105", error, off, off, "requirements are those of the cell"},
    {"INF106", error, warning, error, "METADATA has only fields of its Metadata-Version, each as often as allowed"},
    {"INF107", error, warning, error, "Summary is one line of at most 512 characters"},
    {"INF108", error, note, error, "e-mail addresses are ones"},
    {"INF109", error, off, error, "classifiers have a classifier's form, and none keeps the wheel private"},
    {"INF110", error, note, error, "addresses in METADATA are labelled web addresses"},
    {"INF111", error, error, error, "every requirement can be read by installers"},
    {"INF112", error, note, error, "no requirement is at a fixed address"},
    {"INF113", error, warning, error, "Requires-Python can be read by installers"},
    {"INF114", error, warning, error, "extras have names"},
    {"INF115", error, note, note, "extras are in normal form, and those that requirements use are declared"},
    {"INF116", error, warning, error, "the description's type is one that indexes know"},
    {"INF117", warning, note, note, "there is a description, and its type is said"},
    {"INF118", error, warning, error, "License-Expression is an SPDX expression"},
    {"INF119", error, note, warning, "the licence is said in one way only"},
    {"INF120", error, warning, error, "licence files are named by clean relative paths"},
    {"INF121", error, note, error, "Import-Name and Import-Namespace can be imported"},
    {"INF122", error, warning, error, "entry_points.txt can be read by installers"},
    {"INF123", error, error, error, "commands have names that are file names"},
    {"INF124", error, warning, note, "entry points name objects of modules that are there"},
    {"INF125", warning, note, note, "top_level.txt names what is at the top"},
    {"INF126", error, warning, note, "bills of materials are CycloneDX or SPDX in JSON"},
    {"INF127", error, error, note, "the .data folder is this wheel's own and has known parts only"},
    {"INF128", error, warning, note, "scripts begin with #!python"},
    {"INF129", error, warning, note, "a wheel with modules says that it is not pure"},
    {"LBC001", note, note, note, "the C library that the modules need"},
    {"LBC002", error, warning, warning, "modules need no newer glibc than the plugin allows"},
    {"LBC003", error, warning, warning, "the platform tag is true by the symbols that the modules need"},
    {"LBC004", error, note, note, "modules need no newer glibc than the plugin's floor"},
    {"LBC005", note, note, note, "the oldest manylinux tag that the modules could have"},
    {"LBC006", error, error, warning, "modules are for the C library of the platform tag"},
    {"LBC007", error, warning, warning, "modules use no symbol that systems of the platform tag may lack"},
    {"NAM101", error, warning, error, "the project name is in normal form"},
    {"NAM102", error, warning, error, "the version is in normal form"},
    {"NAM103", error, note, warning, "tag sets are sorted and have no repetition"},
    {"NAM104", off, off, error, "the public index takes the platform tag"},
    {"NAM105", off, off, error, "the public index takes the version"},
    {"NAM106", error, error, error, "Python tags begin with a letter"},
    {"NAM107", error, error, note, "there can be a Python with the tags"},
    {"NAM108", off, off, error, "the file name leaves room for .metadata"},
    {"NAM109", off, off, error, "the name has no variant label"},
    {"PYA001", error, error, error, "extension modules are for the Python the wheel is tagged for"},
    {"PYA002", error, error, error, "each extension module exports its PyInit function"},
    {"PYA003", error, warning, warning, "stable-ABI modules use the stable ABI only"},
    {"PYA004", error, warning, warning, "stable-ABI modules use nothing newer than the Python they promise"},
    {"PYA005", error, error, error, "Windows modules need the library of the Python they are for"},
    {"PYA006", error, warning, warning, "modules use no symbol that Pythons have no longer"},
    {"RUN001", error, error, error, "the wheel runs on every GPU it was built for"},
    {"RUN002", warning, warning, warning, "the package itself accepts every GPU it was built for"},
    {"RUN100", error, error, warning, "each GPU case can be called"},
    {"RUN101", error, error, warning, "results on this machine's GPU are near the reference's"},
    {"RUN102", error, error, warning, "the GPU reports no error"},
    {"RUN103", error, error, warning, "calls write to no input"},
    {"RUN104", error, error, warning, "results are the same again, whatever memory held before"},
    {"RUN105", error, error, warning, "results hold neither NaN nor infinity"},
    {"RUN106", error, error, warning, "each GPU case comes back in time"},
    {"TAB001", error, error, error, "modules use the C++ strings of the torch they are for"},
    {"TAB002", error, warning, warning, "torch-stable-ABI modules need no newer torch than the wheel allows"},
    {"TAB003", note, note, note, "which of torch's ABIs the modules use, and of which torch"},
    {"TAB004", error, error, error, "modules were linked with the torch that the wheel names"},
    {"TAB005", error, error, error, "wheels for every later torch use nothing that a later torch may lack"},
    {"TRU001", error, error, error, "the source has no known defect"},
    {"TRU002", error, off, off, "the wheel says what it was built from"},
    {"TRU003", error, warning, warning, "what the wheel says about itself agrees with its name"},
    {"TRU004", error, error, error, "the wheel has the checksum that is published with it"},
    {"TRU005", error, error, error, "the attestations beside the wheel are about this very file"},
    {"TRU006", error, warning, warning, "what is installed is the package itself, no link to a work tree"},
    {"VAR100", error, warning, note, "variant.json has the form of a known version"},
    {"VAR101", error, warning, note, "the variant label is well formed"},
    {"VAR102", error, warning, note, "variant.json describes the variant of the file name"},
    {"VAR103", error, warning, note, "properties of the variant are well formed"},
    {"VAR104", error, warning, note, "every namespace of the variant has a priority"},
    {"VAR105", error, note, note, "values of a property are sorted"},
    {"VAR106", error, warning, note, "the wheel has the code that its variant promises"},
    {"VAR107", error, warning, note, "no GPU that picks the variant is left without code"},
    {"VAR108", note, note, note, "installers without variants can see the wheel"},
    {"VFY101", warning, warning, warning, "every waiver that is needed still holds"},
    {"VFY103", error, error, error, "every required family of checks had something to look at"},
    {"WIN001", error, warning, warning, "every DLL that Windows modules need is brought by somebody"},
    {"WIN002", warning, warning, note, "Windows modules use one C runtime"},
    {"WIN003", error, warning, note, "Windows modules are loaded at random addresses, and their data is not run"},
    {"WIN004", warning, note, note, "Windows modules do not tell where they were built"},
    {"WIN005", error, error, warning, "C++ exceptions of Windows modules do not leave them unseen"},
    {"WIN006", error, error, error, "every later torch exports what Windows modules import from it"},
    {"WIN007", error, error, warning, "the torch that Windows modules are for exports what they import"},
    {"WIN008", warning, warning, note, "somebody ran it on Windows"},
    {"ZIP004", error, error, error, "the archive is on one disk"},
    {"ZIP011", error, warning, warning, "no two names are one file on Windows or macOS"},
    {"ZIP012", error, error, warning, "every name is a relative path inside the archive"},
    {"ZIP014", error, warning, error, "no member has a data descriptor"},
    {"ZIP015", error, error, warning, "no member is encrypted"},
    {"ZIP017", error, error, warning, "members are plain files and folders"},
    {"ZIP020", error, warning, error, "no member has a comment"},
    {"ZIP025", error, error, warning, "no folder entry holds data"},
    {"ZIP026", error, error, warning, "no name is a file and a folder"},
    {"ZIP027", error, error, warning, "no name is endless"},
    {"ZIP030", error, warning, warning, "the archive has no comment"},
    {"ZIP031", error, error, warning, "both headers of a member tell the same method, flags and CRC"},
    {"ZIP033", error, error, warning, "members use known features only"},
    {"ZIP034", error, warning, warning, "no member runs with somebody else's rights"},
    {"ZIP035", error, error, warning, "no extra field gives a member another name"},
    {"ZIP100", error, error, error, "every reader of the archive sees the same files"},
    {"ZIP101", error, warning, note, "Windows can have files of these names"},
    {"ZIP102", warning, note, note, "no path is longer than 200 bytes"},
    {"ZIP103", warning, note, note, "paths are ASCII"},
    {"ZIP104", warning, note, note, "no path has spaces"},
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

std::span<const Rule> finding_rules() { return k_rules; }

const Rule* find_rule(std::string_view code) {
  const auto found = std::ranges::lower_bound(k_rules, code, {}, &Rule::code);
  return found != k_rules.end() && found->code == code ? &*found : nullptr;
}

std::string_view family(std::string_view code) {
  if (code.starts_with("rule-")) return code.substr(0, 4);  // what a plugin's judge gets from whoever calls it
  return code.substr(0, std::min(code.size(), code.find_first_of("0123456789")));
}

std::vector<std::string> judged_families() {
  std::set<std::string> families;
  for (const auto& rule : k_rules) families.emplace(family(rule.code));
  families.erase("VFY");  // how it was judged
  return {families.begin(), families.end()};
}

Result<Policy> parse_policy(std::string_view text) {
  if (text == "own") return Policy::own;
  if (text == "others") return Policy::others;
  if (text == "pypi") return Policy::pypi;
  return fail(ErrorKind::usage, "VFY001", fmt::format("there is no policy \"{}\", nor a file of that name", text),
              suggestion(text, {"own", "others", "pypi"}));
}

Status check_policy_name(std::string_view name) {
  if (const auto policy = parse_policy(name); !policy) return std::unexpected(policy.error());
  return {};
}

}  // namespace sagekit
