#include "spec/spec_schema_forms.hpp"

#include "spec/abi_words.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/naming.hpp>
#include <sagekit/version_number.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

namespace sagekit {

namespace {

constexpr std::string_view k_lower = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view k_upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view k_digits = "0123456789";

bool consists_of(std::string_view text, std::initializer_list<std::string_view> sets) {
  return std::ranges::all_of(
      text, [&](char c) { return std::ranges::any_of(sets, [&](std::string_view set) { return set.contains(c); }); });
}

bool starts_with_one_of(std::string_view text, std::initializer_list<std::string_view> sets) {
  return !text.empty() && consists_of(text.substr(0, 1), sets);
}

bool has_control(std::string_view text, bool lines_allowed) {
  return std::ranges::any_of(text, [&](char c) {
    const auto u = static_cast<unsigned char>(c);
    return u == 0x7f || (u < 0x20 && !(c == '\t' || (lines_allowed && (c == '\n' || c == '\r'))));
  });
}

Fault bad(std::string_view text, std::string_view wanted, std::string hint = {}) {
  return {"SPEC006", fmt::format("\"{}\" is not {}", text, wanted), std::move(hint)};
}

std::optional<Fault> unless(bool good, std::string_view text, std::string_view wanted, std::string hint = {}) {
  if (good) return std::nullopt;
  return bad(text, wanted, std::move(hint));
}

template <class T>
std::optional<Fault> unless(const Result<T>& parsed, std::string_view text, std::string_view wanted) {
  if (parsed) return std::nullopt;
  const std::string& why = parsed.error().message;
  const bool names_it = why.starts_with(fmt::format("\"{}\"", text));
  return Fault{"SPEC006", names_it ? why : fmt::format("\"{}\" is not {}: {}", text, wanted, why), parsed.error().hint};
}

/// Why a path could leave its folder or mean different files on different systems; "" = it cannot.
std::string_view path_fault(std::string_view path) {
  if (path.starts_with('/')) return "it is absolute";
  if (path.contains('\\')) return "it has a backslash";
  if (path.size() > 1 && path[1] == ':') return "it names a drive";
  for (const std::string& part : split(path, '/')) {
    if (part == "..") return "it leaves its folder with \"..\"";
    if (part == ".") return "it has a \".\" part";
    if (part.empty()) return "it has an empty part";
  }
  return {};
}

std::optional<Fault> unsafe_path(std::string_view path) {
  if (const auto why = path_fault(path); !why.empty()) {
    return Fault{"SPEC007", fmt::format("\"{}\" is not a plain relative path: {}", path, why),
                 "write it from the folder that the reference names, with single slashes"};
  }
  return std::nullopt;
}

bool is_date(std::string_view t) {
  constexpr std::string_view shape = "0000-00-00T00:00:00Z";
  if (t.size() != shape.size()) return false;
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (shape[i] == '0' ? !k_digits.contains(t[i]) : t[i] != shape[i]) return false;
  }
  const auto two = [&](std::size_t at) { return static_cast<unsigned>((t[at] - '0') * 10 + (t[at + 1] - '0')); };
  const std::chrono::year_month_day day{std::chrono::year{static_cast<int>(two(0) * 100 + two(2))},
                                        std::chrono::month{two(5)}, std::chrono::day{two(8)}};
  return day.ok() && two(11) < 24 && two(14) < 60 && two(17) < 60;
}

bool is_url(std::string_view text) {
  const auto colon = text.find("://");
  return colon != text.npos && starts_with_one_of(text, {k_lower}) &&
         consists_of(text.substr(0, colon), {k_lower, k_digits, "+.-"}) && text.size() > colon + 3 &&
         !text.contains(' ') && !has_control(text, false);
}

bool is_module(std::string_view text) {
  return std::ranges::all_of(split(text, '.'), [](const std::string& part) {
    return starts_with_one_of(part, {k_lower, k_upper, "_"}) && consists_of(part, {k_lower, k_upper, k_digits, "_"});
  });
}

bool is_python(std::string_view text) {
  const auto word = parse_python_word(text);
  return word && !word->limited;
}

std::optional<Fault> naming_fault(std::string_view text) {
  if (const auto expanded = expand_with_samples(text); !expanded) {
    return Fault{"SPEC011", expanded.error().message, expanded.error().hint};
  }
  return std::nullopt;
}

std::optional<Fault> assignment_fault(std::string_view text) {
  const auto equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  if (equals == text.npos || !starts_with_one_of(name, {k_lower, k_upper, "_"}) ||
      !consists_of(name, {k_lower, k_upper, k_digits, "_"})) {
    return bad(text, "an assignment NAME=VALUE");
  }
  const std::string rest = replace_all(std::string(text), "{arch_list}", "");
  if (rest.find_first_of("{}") != rest.npos) {
    return Fault{"SPEC011", fmt::format("\"{}\" has a word in braces that is not known here", text),
                 "only {arch_list} is replaced"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Fault> form_fault(Form form, std::string_view text) {
  if (has_control(text, form == Form::text)) {
    return Fault{"SPEC006", "the value has a line break or another control character", "write it as one plain line"};
  }
  switch (form) {
    case Form::line:
    case Form::text: return std::nullopt;
    case Form::name:
      return unless(starts_with_one_of(text, {k_lower}) && consists_of(text, {k_lower, k_digits, "_-"}), text,
                    "a plugin name", "small letters, digits, _ and -, a letter first: it starts every cell id");
    case Form::word:
      return unless(starts_with_one_of(text, {k_lower, k_upper, k_digits}) &&
                        consists_of(text, {k_lower, k_upper, k_digits, "._+-"}),
                    text, "a word", "letters, digits and ._+- without blanks");
    case Form::project:
      return unless(starts_with_one_of(text, {k_lower, k_upper, k_digits}) &&
                        starts_with_one_of(text.substr(text.size() - 1), {k_lower, k_upper, k_digits}) &&
                        consists_of(text, {k_lower, k_upper, k_digits, "._-"}),
                    text, "a distribution name", "letters, digits and ._- inside");
    case Form::commit:
      return unless(text.size() == 40 && consists_of(text, {k_digits, "abcdef"}), text, "a git object id",
                    "40 small hex digits, as `git rev-parse` prints them");
    case Form::date: return unless(is_date(text), text, "a time in UTC", "such as 2026-01-17T17:43:28Z");
    case Form::url: return unless(is_url(text), text, "a URL", "such as https://github.com/owner/name");
    case Form::labelled_url: {
      const auto comma = text.find(", ");
      return unless(comma != text.npos && comma > 0 && is_url(text.substr(comma + 2)), text, "a labelled URL",
                    "such as Homepage, https://example.org");
    }
    case Form::path: return unsafe_path(text);
    case Form::glob: return unsafe_path(text.starts_with('!') ? text.substr(1) : text);
    case Form::module: return unless(is_module(text), text, "a dotted Python name", "such as package._module");
    case Form::capability: return unless(parse_capability(text), text, "a compute capability");
    case Form::range: return unless(parse_version_range(text), text, "a version range");
    case Form::number: return unless(parse_version_number(text), text, "a version number");
    case Form::release:
      return unless(is_normal_version(text), text, "a version in normal form", "such as 2.2.0 (PEP 440)");
    case Form::python: return unless(is_python(text), text, "a Python version", "such as 3.12, without a patch number");
    case Form::torch_word:
      return unless(parse_torch_word(text).has_value(), text, "a version number",
                    "such as 2.8.0, or \">=2.9,stable\" for torch's stable interface");
    case Form::python_word:
      return unless(parse_python_word(text).has_value(), text, "a Python version",
                    "such as 3.12, without a patch number, or \"abi3>=3.10\" for the limited API");
    case Form::platform:
      return unless(consists_of(text, {k_lower, k_digits, "_"}) && starts_with_one_of(text, {k_lower}), text,
                    "a wheel platform", "such as linux_x86_64");
    case Form::gencode: return unless(parse_gencode(text), text, "code to generate");
    case Form::arch_list: return unless(parse_arch_list(text), text, "an arch list");
    case Form::backend: {
      static const std::vector<std::string> backends = {"direct", "setup-py"};
      return unless(std::ranges::find(backends, text) != backends.end(), text, "a backend", suggestion(text, backends));
    }
    case Form::standard:
      return unless(text.starts_with("c++") && text.size() == 5 && is_digits(text.substr(3)), text, "a C++ standard",
                    "such as c++17");
    case Form::naming: return naming_fault(text);
    case Form::assignment: return assignment_fault(text);
    case Form::identifier:
      return unless(is_module(text) && !text.contains('.'), text, "a Python name", "letters, digits and _");
    case Form::callable: {
      const auto colon = text.find(':');
      return unless(colon != text.npos && is_module(text.substr(0, colon)) && is_module(text.substr(colon + 1)), text,
                    "a function", "such as package.module:function");
    }
    case Form::distribution: {
      static const std::vector<std::string> distributions = {"normal", "uniform", "zeros"};
      return unless(std::ranges::find(distributions, text) != distributions.end(), text, "a distribution",
                    suggestion(text, distributions));
    }
  }
  return std::nullopt;
}

std::string_view form_pattern(Form form) {
  switch (form) {
    case Form::text: return {};
    case Form::line: return R"([^\n\r]*)";
    case Form::name: return "[a-z][a-z0-9_-]*";
    case Form::word: return "[A-Za-z0-9][A-Za-z0-9._+-]*";
    case Form::project: return "[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?";
    case Form::commit: return "[0-9a-f]{40}";
    case Form::date: return "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z";
    case Form::url: return R"([a-z][a-z0-9+.-]*://\S+)";
    case Form::labelled_url: return R"([^\n\r]+?, [a-z][a-z0-9+.-]*://\S+)";
    case Form::path: return R"((?![A-Za-z]:)(?!(.*/)?\.{1,2}(/|$))[^/\\]+(/[^/\\]+)*)";
    case Form::glob: return R"(!?(?![A-Za-z]:)(?!(.*/)?\.{1,2}(/|$))[^/\\]+(/[^/\\]+)*)";
    case Form::module: return R"([A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*)";
    case Form::capability: return R"([0-9]+\.[0-9])";
    case Form::range:
      return R"(\s*(>=|>|<=|<|==|!=)\s*[0-9][0-9.]*(\.\*)?\s*(,\s*(>=|>|<=|<|==|!=)\s*[0-9][0-9.]*(\.\*)?\s*)*)";
    case Form::number: return R"([0-9]+(\.[0-9]+)*)";
    case Form::release: return "[0-9][0-9a-z.+!]*";
    case Form::python: return R"(3\.([0-9]|[1-9][0-9]))";
    case Form::torch_word: return R"([0-9]+(\.[0-9]+)*|>=[0-9]+\.[0-9]+,stable)";
    case Form::python_word: return R"((abi3>=)?3\.([0-9]|[1-9][0-9]))";
    case Form::platform: return "[a-z][a-z0-9_]*";
    case Form::gencode: return R"([0-9]+\.[0-9][af]?(>[0-9]+\.[0-9][af]?|\+PTX)?)";
    case Form::arch_list: return R"([0-9A-Za-z_.+;, ]+)";
    case Form::backend: return "direct|setup-py";
    case Form::standard: return R"(c\+\+[0-9]{2})";
    case Form::naming: return R"([^\n\r]*)";
    case Form::assignment: return R"([A-Za-z_][A-Za-z0-9_]*=[^\n\r]*)";
    case Form::identifier: return "[A-Za-z_][A-Za-z0-9_]*";
    case Form::callable:
      return R"([A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*:[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*)";
    case Form::distribution: return "normal|uniform|zeros";
  }
  return {};
}

Result<std::string> expand_with_samples(std::string_view text) {
  return expand_template(text, {"1.0", "2.11.0", "13.0", "20260117", std::string(40, 'a'), {Arch{{9, 0}}}, "sm90"});
}

Result<Gencode> parse_gencode(std::string_view text) {
  constexpr std::string_view k_ptx = "+PTX";
  if (text.ends_with(k_ptx)) {
    TRY_ASSIGN(const Arch arch, parse_arch(text.substr(0, text.size() - k_ptx.size())));
    return Gencode{arch, arch, true};
  }
  const auto arrow = text.find('>');
  TRY_ASSIGN(const Arch compute, parse_arch(text.substr(0, arrow)));
  if (arrow == text.npos) return Gencode{compute, compute, false};
  TRY_ASSIGN(const Arch code, parse_arch(text.substr(arrow + 1)));
  if (!ptx_reaches(compute, code.capability)) {
    return fail(ErrorKind::usage, "SPEC006",
                fmt::format("{} cannot become code for {}", compute_name(compute), sm_name(code)),
                "the virtual arch before > must be one that the real arch after it includes");
  }
  return Gencode{compute, code, false};
}

}  // namespace sagekit
