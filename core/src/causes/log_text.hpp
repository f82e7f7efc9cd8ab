#pragma once
// The bytes of a log as plain lines: unpacked, decoded, without what terminals do.

#include "archive/gunzip.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace sagekit {

/// Takes a log in pieces. Lines end in '\n'; what a carriage return would have written over stands before a '\v', on
/// the same line. Colours, titles, NUL bytes are gone. UTF-16 becomes UTF-8; other bytes stay as they are.
class LogDecoder {
 public:
  /// Appends the text of the next bytes.
  void feed(std::string_view bytes, std::string& text);
  /// The log is at its end: what was held back.
  void finish(std::string& text);

 private:
  enum class Form { unknown, plain, utf16_little, utf16_big };
  enum class State { text, escape, control, title, title_end };

  void unpack(std::string_view bytes, std::string& text);
  void take(std::string_view bytes, std::string& text);
  void decode(std::string_view bytes, std::string& text);
  void from_utf16(std::string_view bytes, std::string& text);
  void clean(std::string_view bytes, std::string& text);
  void clean_character(char c, std::string& text);

  Form m_form = Form::unknown;
  State m_state = State::text;
  bool m_return = false;  ///< a carriage return that may belong to a newline
  std::string m_first;    ///< the file's first bytes, until they say whether it is packed
  bool m_begun = false;
  std::string m_held;  ///< the text's first bytes, until their form is known; half a character of UTF-16
  std::optional<Gunzip> m_gunzip;
};

/// `text` as UTF-8 for people: in a code page when it is none (GBK when all of it can be that, else Windows-1252).
std::string readable(std::string_view text);

}  // namespace sagekit
