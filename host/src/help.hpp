#pragma once
// --help, for people at a terminal.

#include "command_line.hpp"

#include <string>
#include <vector>

namespace sagekit::host {

class Console;

/// Of one verb, or of the program when `verb` is null; lines of at most `width` columns.
std::string help_text(const std::vector<Verb>& verbs, const Verb* verb, std::size_t width);

/// What the verb, or the program when it is null, is for; and its examples.
std::string what_of(const Verb* verb);
const std::vector<std::string>& examples_of(const Verb* verb);

/// The verbs below `group` ("" = of the program), without the hidden ones.
std::vector<const Verb*> verbs_below(const std::vector<Verb>& verbs, const std::string& group);

/// "sagekit build [FLAGS]", "sagekit inspect [FLAGS] FILE...".
std::string usage_line(const Verb* verb, const Flags& flags);

/// "-o, --output DIR": the left column of a flag.
std::string flag_heading(const Flag& flag);

/// What stands beside it: the sentence, the choices, what holds without it, how often it may stand.
std::string flag_sentence(const Flag& flag);

/// What every verb may end with; a verb's own lines come before.
std::vector<Exit> exits_of(const Verb* verb);

}  // namespace sagekit::host
