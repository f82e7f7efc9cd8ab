#pragma once
// Text for people, made safe to show: names and metadata of a foreign file must not drive the terminal.

#include <string>
#include <string_view>

namespace sagekit::host {

/// Control characters, those that turn the direction of text, and bytes that are no UTF-8, written out: \x1b, \u202e.
/// One line: line ends and tabs become blanks.
std::string printable(std::string_view text);

/// The same of a text of several lines: line ends and tabs stay.
std::string printable_lines(std::string_view text);

/// `text` between terminal codes that printable_with_color() knows as ours; foreign text cannot contain them.
std::string colored(std::string_view code, std::string_view text);

/// printable_lines(), and the codes of colored() as the terminal wants them.
std::string printable_with_color(std::string_view text);

}  // namespace sagekit::host
