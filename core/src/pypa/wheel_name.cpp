#include "pypa/release_text.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <sagekit/naming.hpp>

#include <algorithm>

namespace sagekit {

namespace {

constexpr std::string_view k_extension = ".whl";

bool all_of(std::string_view text, std::string_view also) {
  return std::ranges::all_of(text,
                             [&](char c) { return is_letter_or_digit(c) || also.find(c) != std::string_view::npos; });
}

/// PEP 508's rule for project names, escaped for a file name. Old forms with dots and capitals can be read.
bool is_distribution(std::string_view text) {
  return !text.empty() && is_letter_or_digit(text.front()) && is_letter_or_digit(text.back()) && all_of(text, "._") &&
         text.find("__") == std::string_view::npos;
}

bool is_tag_set(std::string_view text) {
  const auto parts = split(text, '.');
  return std::ranges::all_of(parts, [](const std::string& part) { return !part.empty() && all_of(part, "_"); });
}

/// The platforms that tags are made of, to tell a tag from a variant's label.
bool looks_like_platform(std::string_view text) {
  static const std::vector<std::string> known = {"any",        "any.*",     "linux_*",       "manylinux*",
                                                 "musllinux*", "win32*",    "win_*",         "macosx_*",
                                                 "ios_*",      "android_*", "pyemscripten_*"};
  return std::ranges::any_of(known, [&](const std::string& glob) { return glob_match(glob, text); });
}

/// PEP 825 adds a label behind the platform. A build tag begins with a digit and a Python tag with a letter, so that
/// six parts can be told apart; of a malformed name no label is made.
std::string take_variant(std::vector<std::string>& parts) {
  const bool labelled = parts.size() == 7 || (parts.size() == 6 && looks_like_platform(parts[4]) && !parts[2].empty() &&
                                              !is_digits(parts[2].substr(0, 1)));
  if (!labelled || parts.back().empty() || looks_like_platform(parts.back()) ||
      !looks_like_platform(parts[parts.size() - 2]))
    return {};
  std::string label = std::move(parts.back());
  parts.pop_back();
  return label;
}

std::unexpected<Error> broken(std::string code, std::string_view name, std::string_view why, std::string hint = {}) {
  return fail(ErrorKind::failed, std::move(code), fmt::format("\"{}\" is not a wheel's file name: {}", name, why),
              std::move(hint), std::string(name));
}

std::string with_separator(std::string_view name, char separator) {
  std::string out;
  for (const char c : name) {
    if (c == '-' || c == '_' || c == '.') {
      if (!out.ends_with(separator)) out += separator;
    } else {
      out += c;
    }
  }
  return lower(out);
}

}  // namespace

std::string WheelName::file_name() const {
  std::string name = distribution + '-' + version;
  if (!build.empty()) name += '-' + build;
  name += '-' + join(python, ".") + '-' + join(abi, ".") + '-' + join(platform, ".");
  return name + (variant.empty() ? "" : '-' + variant) + std::string(k_extension);
}

std::vector<std::string> WheelName::tags() const {
  std::vector<std::string> tags;
  for (const auto& py : python)
    for (const auto& binary : abi)
      for (const auto& machine : platform) tags.push_back(py + '-' + binary + '-' + machine);
  std::ranges::sort(tags);
  tags.erase(std::ranges::unique(tags).begin(), tags.end());
  return tags;
}

std::string without_copy_number(std::string_view file_name) {
  if (!file_name.ends_with(k_extension)) return {};
  const auto stem = file_name.substr(0, file_name.size() - k_extension.size());
  const auto open = stem.rfind('(');
  if (!stem.ends_with(')') || open == std::string_view::npos || open == 0) return {};
  if (!is_digits(stem.substr(open + 1, stem.size() - open - 2))) return {};
  return trim(stem.substr(0, open)) + std::string(k_extension);
}

Result<WheelName> parse_wheel_name(std::string_view file_name) {
  if (!file_name.ends_with(k_extension))
    return broken("NAM001", file_name, "it does not end in .whl",
                  "give it the name its maker gave it: name-version[-build]-python-abi-platform.whl");
  if (const auto own = without_copy_number(file_name); !own.empty())
    return broken("NAM006", file_name, "a browser added a number to it, for a file of that name was there",
                  fmt::format("rename it to {}", own));
  if (file_name.find_first_of("/\\") != std::string_view::npos)
    return broken("NAM001", file_name, "it holds a path separator");
  auto parts = split(file_name.substr(0, file_name.size() - k_extension.size()), '-');
  std::string variant = take_variant(parts);
  if (parts.size() != 5 && parts.size() != 6)
    return broken("NAM002", file_name,
                  fmt::format("it has {} between dashes, not 5 or 6",
                              parts.size() == 1 ? "1 part" : fmt::format("{} parts", parts.size())),
                  "name-version[-build]-python-abi-platform.whl; a - inside a part is written _");

  WheelName wheel;
  wheel.variant = std::move(variant);
  wheel.distribution = parts[0];
  wheel.version = parts[1];
  if (!is_distribution(wheel.distribution))
    return broken("NAM003", file_name, fmt::format("\"{}\" is not a project name", wheel.distribution),
                  "letters, digits and single _ or . between them");
  if (normal_version(wheel.version).empty())
    return broken("NAM004", file_name, fmt::format("\"{}\" is not a PEP 440 version", wheel.version),
                  "a version has one + at most, and letters, digits and dots after it");
  const std::size_t first_tag = parts.size() - 3;
  for (std::size_t i = first_tag; i < parts.size(); ++i)
    if (!is_tag_set(parts[i]))
      return broken("NAM006", file_name, fmt::format("\"{}\" is not a set of tags", parts[i]),
                    "letters, digits and _, with . between tags");
  if (parts.size() == 6) {
    wheel.build = parts[2];
    if (wheel.build.empty() || !is_digits(wheel.build.substr(0, 1)) || !all_of(wheel.build, "._+"))
      return broken("NAM005", file_name, fmt::format("\"{}\" is not a build tag", wheel.build),
                    "a build tag starts with a digit");
  }
  wheel.python = split(parts[first_tag], '.');
  wheel.abi = split(parts[first_tag + 1], '.');
  wheel.platform = split(parts[first_tag + 2], '.');
  return wheel;
}

std::string normalized_project(std::string_view name) { return with_separator(name, '-'); }

std::string file_name_project(std::string_view name) { return with_separator(name, '_'); }

bool is_normal_version(std::string_view version) { return !version.empty() && normal_version(version) == version; }

}  // namespace sagekit
