#pragma once
// PEP 440 versions as text: their normal form.

#include <string>
#include <string_view>

namespace sagekit {

/// The normal form of a PEP 440 version in any of its accepted spellings ("V1.0-Alpha_1" -> "1.0a1"); "" when it is
/// none.
std::string normal_version(std::string_view text);

}  // namespace sagekit
