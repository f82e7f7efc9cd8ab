#pragma once
// The good spec of these tests, and it with one thing changed.

#include "support/file.hpp"

#include <sagekit/spec.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace sagekit {

inline const std::string& good_spec() {
  static const std::string text = read_file(SAGEKIT_SOURCE_DIR "/tests/unit/spec/data/good.toml").value_or("");
  return text;
}

/// One edit of the good spec and the error it must give, at the line of the new text.
struct SpecFault {
  std::string_view find, replace, code, message;
};

inline void check_fault(const SpecFault& fault) {
  CAPTURE(fault.find);
  CAPTURE(fault.replace);
  std::string text = good_spec();
  const auto at = text.find(fault.find);
  REQUIRE(at != std::string::npos);
  text.replace(at, fault.find.size(), fault.replace);
  const auto spec = parse_spec(text, "good.toml");
  REQUIRE_FALSE(spec);
  const auto line =
      static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n')) + 1;
  const auto last_line = line + static_cast<int>(std::ranges::count(fault.replace, '\n'));
  std::string all;
  bool found = false;
  for (const Diagnostic& d : spec.error()) {
    all += d.code + " " + std::to_string(d.where.line) + ": " + d.message + "\n";
    found = found || (d.code == fault.code && d.message.contains(fault.message) && d.where.line >= line &&
                      d.where.line <= last_line && d.where.column >= 1 && d.where.file == "good.toml");
  }
  CAPTURE(all);
  CHECK(found);
}

}  // namespace sagekit
