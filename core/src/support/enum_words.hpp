#pragma once
// The values of an enum by the words that its to_string gives.

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace sagekit {

/// Of `values` the one whose word that is.
template <class Value, std::size_t Size>
std::optional<Value> from_word(std::string_view word, const std::array<Value, Size>& values) {
  const auto found = std::ranges::find(values, word, [](Value value) { return to_string(value); });
  return found == values.end() ? std::nullopt : std::optional(*found);
}

}  // namespace sagekit
