#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/arch.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace sagekit {

namespace {

constexpr std::string_view k_ptx = "+ptx";

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

/// "80" "121": CUDA's own run of digits, of which the last is the minor.
std::optional<Capability> undotted(std::string_view text) {
  if (text.size() < 2 || text.size() > 3 || !is_digits(text)) return {};
  return dotted(std::string(text.substr(0, text.size() - 1)) + '.' + text.back());
}

/// Takes an `a` or `f` off the end.
ArchSuffix take_suffix(std::string_view& text) {
  if (text.empty() || (text.back() != 'a' && text.back() != 'f')) return ArchSuffix::none;
  const auto suffix = text.back() == 'a' ? ArchSuffix::a : ArchSuffix::f;
  text.remove_suffix(1);
  return suffix;
}

std::unexpected<Error> bad_item(std::string_view item, std::string_view why) {
  return fail(ErrorKind::usage, "ARC002", fmt::format("\"{}\" is not an arch: {}", item, why),
              "write 9.0, 90, sm_90, compute_90, 9.0a, 12.0f, 12.0+PTX or native; separate with ; or , or a blank");
}

/// What is left of an item once prefix and `+ptx` are gone: a number in one of its spellings, or nothing.
Result<ArchRequest> parse_number(std::string_view item, std::string_view text, bool has_prefix) {
  ArchRequest request;
  request.suffix = take_suffix(text);
  request.has_suffix = request.suffix != ArchSuffix::none;
  std::optional<Capability> capability;
  if (!has_prefix) capability = dotted(text);
  if (!capability) capability = undotted(text);
  if (!capability) return bad_item(item, "a compute capability has a major number and one digit after it");
  // "12" is 1.2 by CUDA's rule, and 12.0 by what people mean; 1.x is gone since CUDA 7.
  if (text.find('.') == std::string_view::npos && capability->major == 1)
    return bad_item(item, fmt::format("it reads as 1.{0}; write 1{0}.0 if you mean that", capability->minor));
  request.capability = *capability;
  return request;
}

Result<std::vector<ArchRequest>> parse_item(const std::string& item, const std::vector<Capability>& native) {
  const std::string folded = lower(item);
  std::string_view text = folded;
  const bool ptx = text.ends_with(k_ptx);
  if (ptx) text.remove_suffix(k_ptx.size());
  if (text == "native") {
    if (native.empty())
      return fail(ErrorKind::machine, "ARC003", "\"native\" means this machine's GPUs, and none was found",
                  "name the arches instead: --arch 8.9");
    std::vector<ArchRequest> found;
    for (const Capability& gpu : native) found.push_back({gpu, false, ArchSuffix::none, ptx});
    return found;
  }
  bool has_prefix = false;
  for (const std::string_view prefix : {"sm_", "compute_", "sm", "compute"}) {
    if (!text.starts_with(prefix)) continue;
    text.remove_prefix(prefix.size());
    has_prefix = true;
    break;
  }
  if (text.empty() || !is_digit(text.front()))
    return bad_item(item, "only numbers and \"native\" are accepted, family names and \"all\" are not");
  TRY_ASSIGN(ArchRequest request, parse_number(item, text, has_prefix));
  request.ptx = ptx;
  return std::vector{request};
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

Result<std::vector<ArchRequest>> parse_arch_list(std::string_view text, const std::vector<Capability>& native) {
  std::vector<ArchRequest> requests;
  for (const std::string& item : split_words(text, ";, \t\r\n")) {
    TRY_ASSIGN(const auto found, parse_item(item, native));
    requests.insert(requests.end(), found.begin(), found.end());
  }
  if (requests.empty())
    return fail(ErrorKind::usage, "ARC001", "the arch list is empty", "name at least one, such as 9.0");

  std::sort(requests.begin(), requests.end());
  std::vector<ArchRequest> merged;
  for (const ArchRequest& request : requests) {
    ArchRequest* last = merged.empty() ? nullptr : &merged.back();
    if (last && last->capability == request.capability && last->suffix == request.suffix)
      last->ptx = last->ptx || request.ptx;
    else
      merged.push_back(request);
  }
  return merged;
}

bool code_runs_on(const Arch& code, Capability gpu) {
  if (code.suffix == ArchSuffix::a) return code.capability == gpu;
  return code.capability.major == gpu.major && code.capability.minor <= gpu.minor;
}

bool ptx_reaches(const Arch& ptx, Capability gpu) {
  return ptx.suffix == ArchSuffix::none ? ptx.capability <= gpu : code_runs_on(ptx, gpu);
}

}  // namespace sagekit
