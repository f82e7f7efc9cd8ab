#include "release/facts_cache.hpp"

#include "support/format.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace sagekit {

namespace {

constexpr std::string_view k_first_line = "sagekit.wheel-facts/7\n";
constexpr char k_between = '\t', k_in_list = '\x1f';
constexpr std::size_t k_numbers = 7, k_texts = 20, k_lists = 3;

/// The texts of a wheel in the order of a line.
template <class Wheel>
auto texts_of(Wheel& wheel) {
  auto& origin = wheel.origin;
  return std::array{&wheel.file,
                    &wheel.path,
                    &wheel.sha256,
                    &wheel.project,
                    &wheel.version,
                    &wheel.requires_python,
                    &wheel.metadata_sha256,
                    &wheel.modified,
                    &origin.plugin,
                    &origin.plugin_version,
                    &origin.source_url,
                    &origin.commit,
                    &origin.cell,
                    &origin.python,
                    &origin.torch,
                    &origin.cuda,
                    &origin.platform,
                    &origin.torch_min,
                    &origin.requires_torch,
                    &wheel.variants};
}

template <class Wheel>
auto lists_of(Wheel& wheel) {
  return std::array{&wheel.origin.arches, &wheel.origin.edits, &wheel.origin.tools};
}

bool fits(const std::string& text) { return text.find_first_of("\t\n\x1f") == std::string::npos; }

template <class Number>
bool read_number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

bool read_line(std::string_view line, KnownWheel& known) {
  std::array<std::string_view, k_numbers + k_texts + k_lists> fields;
  std::size_t count = 0;
  for (std::size_t at = 0; at <= line.size() && count < fields.size();) {
    const auto end = std::min(line.find(k_between, at), line.size());
    fields[count++] = line.substr(at, end - at);
    at = end + 1;
    if (at > line.size() && count < fields.size()) return false;
    if (count == fields.size() && end != line.size()) return false;
  }
  FileState& state = known.state;
  std::uint64_t default_arches = 0;
  if (!read_number(fields[0], state.size) || !read_number(fields[1], state.modified_ns) ||
      !read_number(fields[2], state.changed_ns) || !read_number(fields[3], state.inode) ||
      !read_number(fields[4], known.wheel.size_bytes) || !read_number(fields[5], known.wheel.metadata_bytes) ||
      !read_number(fields[6], default_arches))
    return false;
  known.wheel.origin.default_arches = default_arches != 0;
  std::size_t at = k_numbers;
  for (auto* text : texts_of(known.wheel)) *text = fields[at++];
  for (auto* list : lists_of(known.wheel))
    if (const auto field = fields[at++]; !field.empty()) *list = split(field, k_in_list);
  return true;
}

}  // namespace

std::map<std::string, KnownWheel, std::less<>> read_facts(std::string_view text) {
  std::map<std::string, KnownWheel, std::less<>> known;
  if (!text.starts_with(k_first_line)) return known;
  for (std::size_t at = k_first_line.size(); at < text.size();) {
    const auto end = text.find('\n', at);
    if (end == std::string_view::npos) break;
    if (KnownWheel one; read_line(text.substr(at, end - at), one))
      known.emplace_hint(known.end(), one.wheel.path, std::move(one));
    at = end + 1;
  }
  return known;
}

std::string facts_text(const std::map<std::string, KnownWheel, std::less<>>& known) {
  std::string text(k_first_line);
  for (const auto& [path, one] : known) {
    const auto texts = texts_of(one.wheel);
    const auto lists = lists_of(one.wheel);
    const bool whole =
        std::ranges::all_of(texts, [](const auto* part) { return fits(*part); }) &&
        std::ranges::all_of(lists, [](const auto* list) {
          return std::ranges::all_of(*list, [](const auto& part) { return fits(part) && !part.empty(); });
        });
    if (!whole) continue;
    fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\t{}\t{}\t{}\t{:d}", one.state.size, one.state.modified_ns,
                   one.state.changed_ns, one.state.inode, one.wheel.size_bytes, one.wheel.metadata_bytes,
                   one.wheel.origin.default_arches);
    for (const auto* part : texts) text.append(1, k_between).append(*part);
    for (const auto* list : lists) text.append(1, k_between).append(join(*list, std::string_view(&k_in_list, 1)));
    text += '\n';
  }
  return text;
}

}  // namespace sagekit
