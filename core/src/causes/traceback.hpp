#pragma once
// Whose code an exception of Python went through: the frames of its traceback, by the paths of their files.

#include "causes/cause_data.hpp"
#include "causes/line_matcher.hpp"

#include <sagekit/causes.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// The rows of the data, compiled. Made once, used for any number of lines.
class TracebackReader {
 public:
  explicit TracebackReader(const TracebackRows& rows);

  /// A line as it was before something carried it.
  using Plain = std::function<std::string_view(std::string_view line)>;
  /// The facts of the traceback that ends right before a line, else of the one that begins right behind it; `before`
  /// and `behind` are the text there. Of the innermost frame that is not of Python or of a library that only carries
  /// out what it is asked for: "frame": the kind of its owner, "own" for a script of the user's, "none" without a
  /// traceback; "frame_owner": as pip or the folder calls it; "frame_place": file and line; "frame_words": for people.
  /// "frame_node": who of the rows that are marked `asks` (nodes of ComfyUI) called it, "none" without one.
  LogFacts facts(std::string_view before, std::string_view behind, const Plain& plain) const;

 private:
  struct Form {
    Pattern pattern;
    std::size_t reach = 0;
  };
  struct Owner {
    const FrameOwnerRow* row = nullptr;  ///< nullptr: nobody's but the user's
    std::string name, file, line;
  };

  bool read_frame(std::string_view line, std::size_t distance, Owner& owner) const;
  /// May a frame stand further than so many lines from the one before?
  bool may_follow(std::size_t distance) const;
  std::vector<Owner> frames_before(std::string_view text, const Plain& plain) const;
  std::vector<Owner> frames_behind(std::string_view text, const Plain& plain) const;
  bool passes(const Owner& owner) const;

  const TracebackRows& m_rows;
  Pattern m_begin;
  std::vector<Form> m_forms;
  std::vector<Pattern> m_owners;
};

}  // namespace sagekit
