#pragma once
// Text for people, made safe to show: names and metadata of a foreign file must not drive the terminal.

#include <string>
#include <string_view>

namespace sagekit::host {

/// Control characters, those that turn the direction of text, and bytes that are no UTF-8, written out: \x1b, \u202e.
/// Line ends and tabs stay.
std::string printable(std::string_view text);

/// The same, of a name or a sentence that has one line: line ends and tabs are written out too.
std::string one_line(std::string_view text);

/// `text` between terminal codes that printable_with_color() knows as ours; foreign text cannot contain them.
std::string colored(std::string_view code, std::string_view text);

/// printable(), and the codes of colored() as the terminal wants them.
std::string printable_with_color(std::string_view text);

}  // namespace sagekit::host
