#pragma once
// Just enough of Python's grammar to see what a file defines at its top level, without a Python.

#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// A function that a later top-level `def` of the same name replaces.
struct DuplicateDef {
  std::string name;
  int first_line = 0, second_line = 0;  ///< from 1
};

/// Top-level `def`s (and `async def`s) of one name. Strings, comments and brackets are understood, so that a docstring
/// that shows a `def` is none. `_` and functions under an `overload` decorator are meant to be repeated.
std::vector<DuplicateDef> duplicate_defs(std::string_view source);

}  // namespace sagekit
