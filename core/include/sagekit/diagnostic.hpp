#pragma once
// What is wrong with something the user gave or made, collected and never thrown.

#include <string>
#include <vector>

namespace sagekit {

enum class Severity { error, warning, note };

/// A place in a text file. `line` and `column` count from 1; 0 = not known.
struct SourceLocation {
  std::string file;
  int line = 0;
  int column = 0;
  std::string text;  ///< the whole line, for the caret; may be empty

  bool operator==(const SourceLocation&) const = default;
};

struct Diagnostic {
  Severity severity = Severity::error;
  std::string code;  ///< stable, documented in docs/findings, such as "SPEC004"
  std::string message;
  SourceLocation where;
  std::string hint;  ///< "did you mean "kernel"?"; may be empty

  bool operator==(const Diagnostic&) const = default;
};

using Diagnostics = std::vector<Diagnostic>;

}  // namespace sagekit
