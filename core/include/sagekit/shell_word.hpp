#pragma once
#include <sagekit/export.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// One word of a POSIX shell; plain when it needs no quotes.
SAGEKIT_API std::string shell_word(std::string_view word);
/// Words, quoted, with blanks between: a command that can be pasted.
SAGEKIT_API std::string shell_line(const std::vector<std::string>& words);

}  // namespace sagekit
