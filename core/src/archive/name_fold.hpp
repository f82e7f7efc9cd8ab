#pragma once
// File names as file systems compare them that ignore case and Unicode's ways to write one letter.

#include <string>
#include <string_view>

namespace sagekit {

/// One text for all names that Windows or macOS take for the same file, as far as ASCII and the Latin letters up to
/// U+017F go: lower case, a letter and its combining mark as one character. Other letters stay as they are: two names
/// of one folded text are the same file somewhere, two of different texts may be, too.
std::string folded_name(std::string_view name);

}  // namespace sagekit
