#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/arch.hpp>
#include <sagekit/version_number.hpp>

#include <algorithm>
#include <optional>

namespace sagekit {

namespace {

constexpr std::string_view k_ptx = "+ptx";

bool begins_with_digit(std::string_view text) { return !text.empty() && text.front() >= '0' && text.front() <= '9'; }

/// "80" "121": CUDA's own run of digits, of which the last is the minor.
std::optional<Capability> undotted(std::string_view text) {
  if (text.size() < 2 || text.size() > 3 || !is_digits(text)) return {};
  const auto capability = parse_capability(std::string(text.substr(0, text.size() - 1)) + '.' + text.back());
  return capability ? std::optional(*capability) : std::nullopt;
}

std::unexpected<Error> bad_item(std::string_view item, std::string_view why) {
  return fail(ErrorKind::usage, "ARC002", fmt::format("\"{}\" is not an arch: {}", item, why),
              "write 9.0, 90, sm_90, compute_90, 9.0a, 12.0f, 12.0+PTX, native or the name of a GPU, \"RTX 5090\"; "
              "separate with ; or , or a blank");
}

/// What is left of an item once prefix and `+ptx` are gone: a number in one of its spellings, or nothing.
Result<ArchRequest> parse_number(std::string_view item, std::string_view text, bool has_prefix) {
  ArchRequest request;
  auto number = text;
  if (number.ends_with('a') || number.ends_with('f')) {
    request.suffix = number.ends_with('a') ? ArchSuffix::a : ArchSuffix::f;
    request.has_suffix = true;
    number.remove_suffix(1);
  }
  std::optional<Capability> capability = undotted(number);
  if (!has_prefix && number.find('.') != std::string_view::npos)
    if (const auto dotted = parse_capability(number)) capability = *dotted;
  if (!capability) return bad_item(item, "a compute capability has a major number and one digit after it");
  // "12" is 1.2 by CUDA's rule, and 12.0 by what people mean; 1.x is gone since CUDA 7.
  if (number.find('.') == std::string_view::npos && capability->major == 1)
    return bad_item(item, fmt::format("it reads as 1.{0}; write 1{0}.0 if you mean that", capability->minor));
  request.capability = *capability;
  return request;
}

/// An item without `+PTX`, lower case: `native`, a number, or a GPU.
Result<std::vector<ArchRequest>> parse_item(std::string_view item, std::string_view text,
                                            const std::vector<Capability>& native) {
  if (text == "native") {
    if (native.empty())
      return fail(ErrorKind::machine, "ARC003", "\"native\" means this machine's GPUs, and none was found",
                  "name the arches instead: --arch 8.9");
    std::vector<ArchRequest> found;
    for (const Capability& gpu : native) found.push_back({gpu, false, ArchSuffix::none, false});
    return found;
  }
  auto number = text;
  for (const std::string_view prefix : {"sm_", "compute_", "sm", "compute"}) {
    if (!number.starts_with(prefix)) continue;
    number.remove_prefix(prefix.size());
    break;
  }
  if (!begins_with_digit(number)) {
    if (const auto cuda = parse_cuda_version(text); cuda && text.starts_with("cu"))
      return bad_item(item, fmt::format("that is a CUDA version: --cuda {}", *cuda));
    auto gpu = find_gpu(item.substr(0, text.size()));  // as typed
    if (gpu) return std::vector{ArchRequest{*gpu, false, ArchSuffix::none, false}};
    // A family ("Ampere") is no slip of the pen.
    if (gpu.error().code == "ARC002" && text.find_first_of("0123456789") == std::string_view::npos)
      return bad_item(item, "only numbers, GPUs and \"native\" are accepted, family names and \"all\" are not");
    return std::unexpected(std::move(gpu).error());
  }
  // "4090" and "4070 Ti" are what people call theirs; no capability has four digits.
  if (text.size() >= 4 && is_digits(text.substr(0, 4)))
    if (const auto gpu = find_gpu(item.substr(0, text.size()))) return std::vector{ArchRequest{*gpu, false, {}, false}};
  TRY_ASSIGN(const ArchRequest request, parse_number(item, number, number.size() < text.size()));
  return std::vector{request};
}

Result<std::vector<ArchRequest>> parse_with_ptx(std::string_view item, const std::vector<Capability>& native) {
  const std::string folded = lower(item);
  std::string_view text = folded;
  const bool ptx = text.ends_with(k_ptx);
  if (ptx) text.remove_suffix(k_ptx.size());
  TRY_ASSIGN(auto found, parse_item(item, text, native));
  for (ArchRequest& request : found) request.ptx = ptx;
  return found;
}

/// What stands between two separators: one item, or several with blanks between them; a GPU's name has blanks, too.
Result<std::vector<ArchRequest>> parse_piece(const std::string& piece, const std::vector<Capability>& native) {
  const auto words = split_words(piece, " ");
  auto whole = parse_with_ptx(piece, native);
  if (whole || words.size() < 2 || whole.error().code != "ARC002") return whole;
  std::vector<ArchRequest> requests;
  for (const std::string& word : words) {
    auto found = parse_with_ptx(word, native);
    // "RTX 5095" is better quoted whole, "8.0 Ampere 9.0" by its wrong word.
    if (!found)
      return std::ranges::any_of(words, [](const auto& w) { return w.find('.') != std::string::npos; }) ? found : whole;
    requests.insert(requests.end(), found->begin(), found->end());
  }
  return requests;
}

}  // namespace

Result<std::vector<ArchRequest>> parse_arch_list(std::string_view text, const std::vector<Capability>& native) {
  std::vector<ArchRequest> requests;
  for (const std::string& untrimmed : split_words(text, ";,\t\r\n")) {
    const std::string piece = trim(untrimmed);
    if (piece.empty()) continue;
    TRY_ASSIGN(const auto found, parse_piece(piece, native));
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

}  // namespace sagekit
