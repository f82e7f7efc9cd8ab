#pragma once
// The words of naming templates and their values: what writing a name and reading one share.

#include <sagekit/error.hpp>
#include <sagekit/naming.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sagekit {

using NamingWords = std::vector<std::pair<std::string, std::string>>;  ///< word, value; "" = there is none

NamingWords naming_words(const NamingValues& values);

/// expand_template with these words.
Result<std::string> expand_words(std::string_view text, const NamingWords& words);

}  // namespace sagekit
