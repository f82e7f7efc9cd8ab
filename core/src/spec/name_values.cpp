#include "spec/name_values.hpp"

#include "spec/data.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <set>

namespace sagekit {

namespace {

using Candidates = std::vector<std::string>;

/// A number as versions write it: no zero before it, no more digits than versions have.
bool is_version_part(std::string_view text) {
  return is_digits(text) && text.size() <= 3 && (text == "0" || text.front() != '0');
}

/// "2.7.1" for three parts, "2.7" for two; `pre` = the last one may have what a nightly or a candidate has.
bool is_version_of(std::string_view text, std::size_t parts, bool pre = false) {
  if (pre)
    for (const std::string_view word : {".dev", "rc", "a", "b"})
      if (const auto at = text.find(word); at != std::string_view::npos) {
        if (!is_digits(text.substr(at + word.size()))) return false;
        text = text.substr(0, at);
        break;
      }
  std::size_t count = 0;
  for (std::size_t at = 0; at <= text.size(); ++count) {
    const auto end = std::min(text.find('.', at), text.size());
    if (count == parts || !is_version_part(text.substr(at, end - at))) return false;
    at = end + 1;
  }
  return count == parts;
}

/// The ways to split "2110" after its first `major` digits into parts, that a version could be.
Candidates splits(std::string_view digits, std::size_t major, bool patch) {
  Candidates all;
  const std::string head(digits.substr(0, major));
  const auto rest = digits.substr(major);
  if (!patch) {
    if (is_version_part(rest)) all.push_back(head + '.' + std::string(rest));
    return all;
  }
  for (std::size_t i = 1; i < rest.size(); ++i)
    if (is_version_part(rest.substr(0, i)) && is_version_part(rest.substr(i)))
      all.push_back(head + '.' + std::string(rest.substr(0, i)) + '.' + std::string(rest.substr(i)));
  return all;
}

/// Where digits can be split in several ways, those that were published, if any were.
Candidates published_of(Candidates all, const std::set<std::string, std::less<>>& published) {
  const auto known = [&](const std::string& value) { return published.contains(value); };
  if (all.size() > 1 && std::ranges::any_of(all, known)) std::erase_if(all, [&](const auto& v) { return !known(v); });
  return all;
}

Candidates torch_of_digits(std::string_view text) {
  static const auto published = [] {
    std::set<std::string, std::less<>> versions;
    for (const auto& release : core_data().torches) versions.insert(release.version);
    return versions;
  }();
  if (!is_digits(text) || text.size() < 3 || text.size() > 5 || text.front() == '0') return {};
  return published_of(splits(text, 1, true), published);
}

Candidates cuda_of_digits(std::string_view text) {
  static const auto published = [] {
    std::set<std::string, std::less<>> versions;
    for (const auto& release : core_data().torches)
      for (const auto& build : release.builds) versions.insert(build.cuda);
    return versions;
  }();
  // CUDA 10 to 19: of "92" nobody could tell a major from 9.2.
  if (!is_digits(text) || text.size() < 2 || text.size() > 4 || text.front() != '1') return {};
  if (text.size() == 2) return {std::string(text)};
  return published_of(splits(text, 2, false), published);
}

bool is_cuda(std::string_view text) {
  return text.size() > 2 && text.front() == '1' && text[2] == '.' && (is_version_of(text, 2) || is_version_of(text, 3));
}

/// The maker's own word: one that is nothing else.
bool is_fix(std::string_view text) {
  const bool word = !text.empty() && text.front() >= 'a' && text.front() <= 'z' &&
                    std::ranges::all_of(text, [](char c) { return is_letter_or_digit(c); });
  return word && !read_sms(text) && !is_commit(text) && !text.starts_with("post") && !text.starts_with("cu") &&
         !text.starts_with("torch");
}

Candidates when(bool holds, std::string_view text) { return holds ? Candidates{std::string(text)} : Candidates{}; }

}  // namespace

bool is_commit(std::string_view text) {
  return text.size() >= 7 && text.size() <= 40 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool says_arches(const std::vector<ArchRequest>& said, const std::vector<ArchRequest>& built) {
  return std::ranges::equal(said, built, [](const ArchRequest& one, const ArchRequest& other) {
    return one.capability == other.capability && one.suffix == other.suffix && (!one.ptx || other.ptx);
  });
}

std::optional<std::vector<ArchRequest>> read_sms(std::string_view text) {
  std::vector<ArchRequest> arches;
  for (const std::string& part : split(text, '.')) {
    std::string_view name = part;
    if (!name.starts_with("sm")) return {};
    name.remove_prefix(2);
    ArchRequest arch;
    if (name.ends_with("ptx")) {
      arch.ptx = true;
      name.remove_suffix(3);
    }
    if (name.ends_with('a') || name.ends_with('f')) {
      arch.has_suffix = true;
      arch.suffix = name.back() == 'a' ? ArchSuffix::a : ArchSuffix::f;
      name.remove_suffix(1);
    }
    if (!is_digits(name) || name.size() < 2 || name.size() > 3 || name.front() == '0') return {};
    arch.capability.minor = name.back() - '0';
    for (const char digit : name.substr(0, name.size() - 1))
      arch.capability.major = arch.capability.major * 10 + (digit - '0');
    arches.push_back(arch);
  }
  return arches;
}

std::string_view first_letters(std::string_view word) {
  if (word == "post") return "post";
  return word == "sms" || word == "arches" ? "sm" : "";
}

std::size_t longest_value(std::string_view word, std::string_view text) {
  constexpr std::string_view k_digits = "0123456789", k_digits_and_dots = "0123456789.";
  const auto run = [&](std::string_view of) { return std::min(text.find_first_not_of(of), text.size()); };
  if (word == "version") return std::min(text.find('+'), text.size());
  if (word == "torch") return run(k_digits) == 0 ? 0 : text.size();  // a nightly's has letters behind its numbers
  if (word == "torch_minor" || word == "torch_min" || word == "cuda") return run(k_digits_and_dots);
  if (word.starts_with("torch_") || word.starts_with("cuda_") || word == "date") return run(k_digits);
  return text.starts_with(first_letters(word)) ? text.size() : 0;
}

std::vector<std::string> word_values(std::string_view word, std::string_view text) {
  if (text.empty()) return {};
  if (word == "version") return when(text.find('+') == std::string_view::npos, text);
  if (word == "torch") return when(is_version_of(text, 3, true), text);
  if (word == "torch_minor") return when(is_version_of(text, 2), text);
  if (word == "torch_min") return when(is_version_of(text, 2) || is_version_of(text, 3), text);
  if (word == "torch_digits") return torch_of_digits(text);
  if (word == "torch_minor_digits")
    return is_digits(text) && text.size() >= 2 && text.front() != '0' ? splits(text, 1, false) : Candidates{};
  if (word == "cuda") return when(is_cuda(text), text);
  if (word == "cuda_digits") return cuda_of_digits(text);
  if (word == "cuda_major") return when(is_digits(text) && text.size() == 2 && text.front() == '1', text);
  if (word == "date") return when(is_digits(text) && text.size() == 8, text);
  if (word == "commit7") return when(is_commit(text), text);
  if (word == "sms" || word == "arches") return when(read_sms(text).has_value(), text);
  if (word == "post") return when(text.starts_with("post") && is_digits(text.substr(4)), text);
  if (word == "fix") return when(is_fix(text), text);
  if (word == "python") return when(is_digits(text.substr(0, text.find('t'))), text);
  if (word == "cxx11_abi") {
    if (text == "true" || text == "1") return {"true"};
    if (text == "false" || text == "0") return {"false"};
  }
  return {};
}

}  // namespace sagekit
