#pragma once
// Conditions of rows and placeholders of their texts, against what is known.

#include "causes/cause_data.hpp"

#include <sagekit/causes.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

enum class Holds { yes, no, unknown };

/// Versions as versions, sizes ("26.00 MiB") as sizes, other words as words.
Holds holds(const CauseCondition& condition, const LogFacts& known);
/// no as soon as one does not hold; unknown when one cannot be told.
Holds all_hold(const std::vector<CauseCondition>& conditions, const LogFacts& known);

/// "os = windows" as "on Windows".
std::string in_words(std::string_view condition);
/// For whom a mend is, of what is not known about the machine: "on Windows, with uv"; "" = for everybody.
std::string mark_of(const CauseFixRow& fix, const LogFacts& known, const CauseData& data);

/// What stands for "{name}" or "{name|usual}" in a text.
using PlaceText = std::function<std::string(std::string_view name, std::optional<std::string_view> usual)>;
/// Puts it there. "${NAME}" is the shell's.
std::string with_places(std::string_view text, const PlaceText& of);

/// "{cuda|13.0}" becomes what is known as cuda, or 13.0; "{cuda}" nothing when it is not known.
std::string filled(std::string_view text, const LogFacts& known);
/// The same of a command that people paste: what a log says and a shell would read otherwise counts as not known.
std::string filled_command(std::string_view text, const LogFacts& known);

/// A command for the Python at hand, where a fact `python_program` says how it is called: a portable edition's, or the
/// one that was asked about. What `python` is elsewhere is another Python.
std::string for_that_python(std::string command, const LogFacts& known);

/// "120" or "120a" of sm_120a as a capability: "12.0". "" = it is none.
std::string capability_of_sm(std::string_view sm);

}  // namespace sagekit
