#pragma once
// What a log says is being installed, so that a mend can install the same again.

#include "causes/line_matcher.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// Reads the lines of rows whose role is context, in their order. Groups: "arguments" of a command that installs,
/// "installing" and "editable" of what is taken up, "building" the name that a wheel is built of.
class Installing {
 public:
  /// `pip_values`: options of pip and uv that have a value.
  explicit Installing(const std::vector<std::string>& pip_values) : m_pip_values(pip_values) {}

  /// Another command begins, or this one is done.
  void start();
  void take(const PatternGroups& groups);
  /// As pip takes it: "git+https://...", "--editable=.", "flash-attn"; "" = it was not said, or is several.
  std::string what() const;

 private:
  std::string asked(std::string_view arguments) const;

  const std::vector<std::string>& m_pip_values;
  std::string m_asked;               ///< by the command that was typed
  std::vector<std::string> m_taken;  ///< one after the other
  std::string m_building;
};

}  // namespace sagekit
