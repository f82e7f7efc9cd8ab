#pragma once
#include <string>
#include <string_view>

namespace sagekit {

/// One word of a POSIX shell; plain when it needs no quotes.
std::string shell_word(std::string_view word);

}  // namespace sagekit
