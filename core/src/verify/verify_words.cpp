#include "support/enum_words.hpp"

#include <sagekit/verify.hpp>

#include <array>

namespace sagekit {

std::string_view to_string(RunVerdict verdict) {
  switch (verdict) {
    case RunVerdict::no: return "no";
    case RunVerdict::unknown: return "unknown";
    case RunVerdict::part: return "part";
    case RunVerdict::jit: return "jit";
    case RunVerdict::yes: return "yes";
  }
  return "unknown";
}

std::string_view to_string(WheelVerdict verdict) {
  switch (verdict) {
    case WheelVerdict::unjudged: return "";
    case WheelVerdict::pass: return "pass";
    case WheelVerdict::fail: return "fail";
  }
  return "";
}

std::string_view to_string(ArtifactKind kind) {
  switch (kind) {
    case ArtifactKind::wheel: return "wheel";
    case ArtifactKind::build: return "build";
    case ArtifactKind::unpacked: return "unpacked";
    case ArtifactKind::installed: return "installed";
    case ArtifactKind::folder: return "folder";
  }
  return "wheel";
}

std::string_view to_string(Weight weight) {
  switch (weight) {
    case Weight::error: return "error";
    case Weight::warning: return "warning";
    case Weight::note: return "note";
    case Weight::off: return "off";
  }
  return "error";
}

std::optional<RunVerdict> parse_run_verdict(std::string_view text) {
  using enum RunVerdict;
  return from_word(text, std::array{no, unknown, part, jit, yes});
}

std::optional<WheelVerdict> parse_wheel_verdict(std::string_view text) {
  using enum WheelVerdict;
  return from_word(text, std::array{unjudged, pass, fail});
}

}  // namespace sagekit
