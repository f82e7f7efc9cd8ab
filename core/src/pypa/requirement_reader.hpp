#pragma once
// Dependency lines as installers read them (dependency specifiers, PEP 508) with their version specifiers (PEP 440).

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// One line of Requires-Dist, split. Texts as written.
struct Requirement {
  std::string name;
  std::vector<std::string> extras;         ///< asked of the named project
  std::string specifiers;                  ///< ">=1.0,<2"; "" = any
  std::string url;                         ///< direct reference; "" = none
  std::string marker;                      ///< behind ";"; "" = none
  std::vector<std::string> marker_extras;  ///< values that the marker compares `extra` with
};

/// Reads a whole line; else says in a few words what is wrong and where: what packaging 26 refuses is refused, too.
std::expected<Requirement, std::string> read_requirement(std::string_view text);

// Of lines as they come, well-formed or not:
/// "torch" of "torch==2.11.*; sys_platform == ...", in normal form.
std::string requirement_name(std::string_view requirement);
/// What stands behind the name: "==2.11.*"; "" = nothing.
std::string requirement_range(std::string_view requirement);
/// The first one of that name; null when there is none.
const std::string* find_requirement(const std::vector<std::string>& requirements, std::string_view name);
/// The one release that they ask of it: "2.7.0" of "torch==2.7.0+cu128", "2.7" of "torch==2.7.*". "" = a range, or not
/// the same one on every machine. What only an extra asks for does not count.
std::string pinned_release(const std::vector<std::string>& requirements, std::string_view name);
/// The range that all lines on it ask: ">=2.10"; "" = none does, or they differ. Those of an extra do not count.
std::string required_range(const std::vector<std::string>& requirements, std::string_view name);

/// What is wrong with ">=3.9,!=3.10.*"; "" = nothing. Empty parts between commas are allowed, as installers allow them.
std::string specifier_fault(std::string_view specifiers);

/// Letters and digits at both ends, "." "_" "-" between.
bool is_project_name(std::string_view text);

}  // namespace sagekit
