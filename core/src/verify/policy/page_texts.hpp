#pragma once
// The pages of docs/findings as texts, compiled in.

#include "support/embedded_text.hpp"

namespace sagekit {

/// All but README, index and peers, sorted by name: "ARC", "BLD", ...
std::span<const EmbeddedText> page_texts();

}  // namespace sagekit
