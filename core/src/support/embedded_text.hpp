#pragma once
// Texts that are compiled in, written at build time by cmake/EmbedText.cmake.

#include <span>
#include <string_view>

namespace sagekit {

struct EmbeddedText {
  std::string_view name;  ///< the file's, without its ending: "ELF"
  std::string_view text;
};

}  // namespace sagekit
