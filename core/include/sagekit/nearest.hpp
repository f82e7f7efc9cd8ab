#pragma once
// "did you mean ...?": the nearest right word, for messages of core and of programs that embed it.

#include <sagekit/export.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// The closest of `words` by edit distance if it is close enough to be meant; "" otherwise.
SAGEKIT_API std::string nearest_word(std::string_view word, const std::vector<std::string>& words);
/// The `count` closest, closest first.
SAGEKIT_API std::vector<std::string> nearest_words(std::string_view word, std::vector<std::string> words,
                                                   std::size_t count);
/// "did you mean "x"?" or "one of: a, b, c"; "" when there are none.
SAGEKIT_API std::string suggestion(std::string_view word, const std::vector<std::string>& words);

/// Of a file or folder that is not there, as a hint: the nearest in its folder, or what else is known; "" = nothing.
SAGEKIT_API std::string near_files(const std::filesystem::path& path);

}  // namespace sagekit
