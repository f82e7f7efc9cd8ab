#pragma once
// Text for a terminal: how wide it is, and lines that fit into it. Colour codes take no room.

#include <cstddef>
#include <string>
#include <string_view>

namespace sagekit::host {

/// Columns of the terminal that reads stdout, else of the one that reads stderr (a pager shows it there); 80 where
/// there is none.
std::size_t terminal_width();
/// Its lines; 24 where there is none.
std::size_t terminal_height();

/// Columns that the text takes.
std::size_t display_width(std::string_view text);

/// Lines of at most `width` columns, each with its newline. A word that is wider (a path, a file name) stays whole: it
/// is there to be copied. `rest` begins the lines after the first.
std::string wrap(std::string_view text, std::string_view first, std::string_view rest, std::size_t width);

/// The text cut to `width` columns, never inside a character; colour codes stay, so that the last one ends the colour.
std::string cut(std::string_view text, std::size_t width);

/// "1 warning", "2 warnings".
std::string counted(std::size_t count, std::string_view one, std::string_view many);

}  // namespace sagekit::host
