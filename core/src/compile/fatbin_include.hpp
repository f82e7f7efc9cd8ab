#pragma once
// The file by which a unit of host code takes in its GPU code (x.fatbin.c, by nvcc's fatbinary).

#include <optional>
#include <string>
#include <string_view>

namespace sagekit {

/// The same file with `.incbin "NAME"` instead of the GPU code written out in hex, and without the code's size: a text
/// that is the same for any GPU code, which the assembler then reads from `name`. Nothing when the file is not as
/// fatbinary writes it, or writes out other bytes than `fatbin`, by their number, the first and the last of them.
std::optional<std::string> with_included_fatbin(std::string_view text, std::string_view fatbin, std::string_view name);

}  // namespace sagekit
