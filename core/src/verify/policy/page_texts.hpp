#pragma once
// The pages of docs/findings as texts, compiled in.

#include <span>
#include <string_view>

namespace sagekit {

struct PageText {
  std::string_view name;  ///< "ELF"
  std::string_view text;
};

/// All but README and index, sorted by name.
std::span<const PageText> page_texts();

}  // namespace sagekit
