#pragma once
// What a module uses of Python, and what its wheel promises about Python.

#include "elf/python_library.hpp"
#include "verify/subject.hpp"

#include <sagekit/version_number.hpp>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace sagekit {

/// The symbols that the interpreter must have: undefined Py* and _Py*, but for weak ones and those of libraries in the
/// wheel that the module needs. Of Windows modules what they import from Python's DLLs.
std::set<std::string> python_symbols(const Subject& subject, const MemberFacts& member);

struct StableUse {
  std::map<std::string, VersionNumber> since;  ///< of the stable ABI, with the Python that added them
  std::set<std::string> outside;               ///< of no stable ABI
};
StableUse stable_use(const std::set<std::string>& symbols);

/// The oldest Python for which the wheel says its stable-ABI modules are: the highest cpXY of its tags (as abi3audit
/// takes it); of py3 the lower bound of Requires-Python.
std::optional<VersionNumber> oldest_promised_python(const Subject& subject);

/// Are all of the wheel's Pythons 3.15 or newer, which look for .abi3t files?
bool is_for_abi3t_pythons(const WheelName& name);

}  // namespace sagekit
