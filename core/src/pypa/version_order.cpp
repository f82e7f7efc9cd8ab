#include "pypa/version_order.hpp"

#include "pypa/release_text.hpp"
#include "pypa/requirement_reader.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <array>

namespace sagekit {

namespace {

std::optional<long long> take_number(std::string_view& rest) {
  const std::size_t end = std::min(rest.find_first_not_of("0123456789"), rest.size());
  if (end == 0 || end > 18) return std::nullopt;
  const long long value = std::stoll(std::string(rest.substr(0, end)));
  rest.remove_prefix(end);
  return value;
}

bool take(std::string_view& rest, std::string_view word) {
  if (!rest.starts_with(word)) return false;
  rest.remove_prefix(word.size());
  return true;
}

std::strong_ordering compare_local(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    const bool number_a = is_digits(a[i]), number_b = is_digits(b[i]);
    if (number_a != number_b) return number_a ? std::strong_ordering::greater : std::strong_ordering::less;
    // Both without leading zeros: the longer number is the larger.
    if (number_a && a[i].size() != b[i].size()) return a[i].size() <=> b[i].size();
    if (const auto order = a[i].compare(b[i]) <=> 0; order != 0) return order;
  }
  return a.size() <=> b.size();
}

/// Without its zeros at the end, "2.11" and "2.11.0" are one prefix: pad before comparing.
bool has_prefix(std::vector<long long> release, const std::vector<long long>& prefix) {
  if (release.size() < prefix.size()) release.resize(prefix.size());
  return std::equal(prefix.begin(), prefix.end(), release.begin());
}

/// The numbers as written, zeros at the end too: "==2.10.*" must not match 2.1.
std::vector<long long> written_release(std::string_view text) {
  std::vector<long long> numbers;
  if (const auto epoch = text.find('!'); epoch != text.npos) text.remove_prefix(epoch + 1);
  do {
    const auto number = take_number(text);
    if (!number) break;
    numbers.push_back(*number);
  } while (take(text, "."));
  return numbers;
}

bool holds(std::string_view op, const std::string& text, const PythonRelease& version) {
  const bool prefix = text.ends_with(".*");
  const std::string normal = normal_version(prefix ? std::string_view(text).substr(0, text.size() - 2) : text);
  const auto wanted = PythonRelease::parse(normal);
  if (!wanted) return false;
  const PythonRelease open = version.without_local();
  const auto equal = [&] {
    if (prefix) return version.epoch == wanted->epoch && has_prefix(version.release, written_release(normal));
    return wanted->local.empty() ? open == *wanted : version == *wanted;
  };
  if (op == "==") return equal();
  if (op == "!=") return !equal();
  if (op == ">=") return open >= *wanted;
  if (op == "<=") return open <= *wanted;
  const bool same_release = open.release == wanted->release && open.epoch == wanted->epoch;
  if (op == "<") return open < *wanted && (wanted->is_prerelease() || !(same_release && open.is_prerelease()));
  if (op == ">") return open > *wanted && (wanted->post >= 0 || !(same_release && open.post >= 0));
  if (op == "~=") {
    auto family = written_release(normal);
    if (family.size() < 2) return false;
    family.pop_back();
    return open >= *wanted && version.epoch == wanted->epoch && has_prefix(version.release, family);
  }
  return false;
}

}  // namespace

std::optional<PythonRelease> PythonRelease::parse(std::string_view text) {
  const std::string normal = normal_version(text);
  if (normal.empty()) return std::nullopt;
  std::string_view rest = normal;
  PythonRelease version;
  auto number = take_number(rest);
  if (!number) return std::nullopt;
  if (take(rest, "!")) {
    version.epoch = *number;
    number = take_number(rest);
    if (!number) return std::nullopt;
  }
  version.release.push_back(*number);
  while (rest.size() > 1 && rest[0] == '.' && is_digits(rest.substr(1, 1))) {
    take(rest, ".");
    number = take_number(rest);
    if (!number) return std::nullopt;
    version.release.push_back(*number);
  }
  while (version.release.size() > 1 && version.release.back() == 0) version.release.pop_back();
  static constexpr std::array<std::string_view, 3> k_phases = {"a", "b", "rc"};
  for (int phase = 0; phase < 3; ++phase) {
    if (!take(rest, k_phases[static_cast<std::size_t>(phase)])) continue;
    version.pre_phase = phase;
    number = take_number(rest);
    if (!number) return std::nullopt;
    version.pre = *number;
    break;
  }
  for (const auto& [word, place] : {std::pair(".post", &version.post), std::pair(".dev", &version.dev)})
    if (take(rest, word)) {
      number = take_number(rest);
      if (!number) return std::nullopt;
      *place = *number;
    }
  if (version.pre_phase == 3 && version.post < 0 && version.dev >= 0) version.pre_phase = -1;
  if (take(rest, "+")) version.local = split(rest, '.');
  return version;
}

PythonRelease PythonRelease::without_local() const {
  PythonRelease open = *this;
  open.local.clear();
  return open;
}

std::strong_ordering PythonRelease::operator<=>(const PythonRelease& other) const {
  if (const auto order = epoch <=> other.epoch; order != 0) return order;
  if (const auto order = release <=> other.release; order != 0) return order;
  if (const auto order = pre_phase <=> other.pre_phase; order != 0) return order;
  if (const auto order = pre <=> other.pre; order != 0) return order;
  if (const auto order = post <=> other.post; order != 0) return order;
  // No dev part is later than any.
  if ((dev < 0) != (other.dev < 0)) return dev < 0 ? std::strong_ordering::greater : std::strong_ordering::less;
  if (const auto order = dev <=> other.dev; order != 0) return order;
  return compare_local(local, other.local);
}

std::optional<bool> specifiers_allow(std::string_view specifiers, std::string_view version) {
  const auto parsed = PythonRelease::parse(version);
  if (!parsed || !specifier_fault(specifiers).empty()) return std::nullopt;
  for (const auto& part : split(specifiers, ',')) {
    const std::string one = trim(part);
    if (one.empty()) continue;
    if (one.starts_with("===")) {
      if (lower(trim(one.substr(3))) != lower(version)) return false;
      continue;
    }
    const std::size_t end = one.find_first_not_of("=!<>~");
    if (!holds(one.substr(0, end), trim(one.substr(end)), *parsed)) return false;
  }
  return true;
}

std::optional<bool> specifiers_allow_minor(std::string_view specifiers, const std::string& minor) {
  const auto first = specifiers_allow(specifiers, minor), last = specifiers_allow(specifiers, minor + ".999");
  if (!first || !last) return {};
  return *first || *last;
}

}  // namespace sagekit
