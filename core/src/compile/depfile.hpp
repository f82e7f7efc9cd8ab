#pragma once
// What a compiler says it read: a dependency file in Make's syntax (gcc -MD, nvcc -MD).

#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// Prerequisites of all rules, in order, each once. Understands `\ `, `\#`, `$$` and continued lines.
std::vector<std::string> parse_depfile(std::string_view text);

}  // namespace sagekit
