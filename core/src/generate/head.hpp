#pragma once
// The head of a generated file: which command made it, and a digest that tells whether it is still what that made.

#include <string>
#include <string_view>

namespace sagekit {

/// The text with its head: in front of it, or behind its first line when that is a "#!" line.
std::string with_head(std::string_view text, std::string_view command);

/// Has it a head whose digest is right?
bool is_as_generated(std::string_view text);

}  // namespace sagekit
