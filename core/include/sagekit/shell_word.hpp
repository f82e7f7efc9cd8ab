#pragma once
#include <sagekit/export.hpp>

#include <string>
#include <string_view>

namespace sagekit {

/// One word of a POSIX shell; plain when it needs no quotes.
SAGEKIT_API std::string shell_word(std::string_view word);

}  // namespace sagekit
