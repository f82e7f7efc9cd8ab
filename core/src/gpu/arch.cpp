#include "support/format.hpp"
#include "support/text.hpp"

#include <sagekit/arch.hpp>

#include <optional>

namespace sagekit {

namespace {

std::string suffix_text(ArchSuffix suffix) {
  return suffix == ArchSuffix::none ? std::string() : std::string(1, static_cast<char>(suffix));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "9.0" "12.1": one or two digits, a point, one digit; no leading zero.
std::optional<Capability> dotted(std::string_view text) {
  const auto point = text.find('.');
  if (point == std::string_view::npos || point < 1 || point > 2 || text.size() != point + 2) return {};
  if (!is_digits(text.substr(0, point)) || !is_digit(text.back()) || text.front() == '0') return {};
  const int major = point == 1 ? text[0] - '0' : (text[0] - '0') * 10 + (text[1] - '0');
  return Capability{major, text.back() - '0'};
}

/// Takes an `a` or `f` off the end.
ArchSuffix take_suffix(std::string_view& text) {
  if (text.empty() || (text.back() != 'a' && text.back() != 'f')) return ArchSuffix::none;
  const auto suffix = text.back() == 'a' ? ArchSuffix::a : ArchSuffix::f;
  text.remove_suffix(1);
  return suffix;
}

}  // namespace

std::string to_string(Capability c) { return fmt::format("{}.{}", c.major, c.minor); }

std::string to_string(const Arch& a) { return to_string(a.capability) + suffix_text(a.suffix); }

std::string sm_name(const Arch& a) {
  return fmt::format("sm_{}{}{}", a.capability.major, a.capability.minor, suffix_text(a.suffix));
}

std::string compute_name(const Arch& a) {
  return fmt::format("compute_{}{}{}", a.capability.major, a.capability.minor, suffix_text(a.suffix));
}

std::string to_string(const Gencode& g) {
  return fmt::format("arch={},code={}", compute_name(g.compute), g.ptx ? compute_name(g.code) : sm_name(g.code));
}

std::string to_string(const ArchRequest& r) {
  return to_string(r.capability) + suffix_text(r.suffix) + (r.ptx ? "+PTX" : "");
}

Result<Capability> parse_capability(std::string_view text) {
  if (const auto capability = dotted(text)) return *capability;
  return fail(ErrorKind::usage, "ARC004", fmt::format("\"{}\" is not a compute capability", text),
              "write it as 9.0 or 12.1");
}

Result<Arch> parse_arch(std::string_view text) {
  std::string_view number = text;
  const ArchSuffix suffix = take_suffix(number);
  if (const auto capability = dotted(number)) return Arch{*capability, suffix};
  return fail(ErrorKind::usage, "ARC005", fmt::format("\"{}\" is not an arch", text), "write it as 9.0, 9.0a or 12.0f");
}

bool code_runs_on(const Arch& code, Capability gpu) {
  if (code.suffix == ArchSuffix::a) return code.capability == gpu;
  return code.capability.major == gpu.major && code.capability.minor <= gpu.minor;
}

bool ptx_reaches(const Arch& ptx, Capability gpu) {
  return ptx.suffix == ArchSuffix::none ? ptx.capability <= gpu : code_runs_on(ptx, gpu);
}

}  // namespace sagekit
