#include "store/action_record.hpp"

#include "support/format.hpp"
#include "support/json.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

namespace sagekit {

namespace {

/// Records come from other machines too: what one names is placed below the work folder, and nowhere else.
bool stays_in_work(const std::string& path) {
  constexpr std::string_view k_work = "{work}/";
  if (!path.starts_with(k_work)) return false;
  const auto parts = split(path, '/');
  return std::ranges::none_of(parts,
                              [](const std::string& part) { return part.empty() || part == "." || part == ".."; });
}

Json measured_json(const Measured& measured) {
  return {{"cpu_seconds", measured.cpu_seconds},
          {"wall_seconds", measured.wall_seconds},
          {"peak_memory_bytes", measured.peak_memory_bytes},
          {"disk_bytes", measured.disk_bytes}};
}

Measured read_measured(const Json& json) {
  return {json.at("cpu_seconds").get<double>(), json.at("wall_seconds").get<double>(),
          json.at("peak_memory_bytes").get<std::uint64_t>(), json.value("disk_bytes", std::uint64_t{0})};
}

constexpr std::string_view k_first = "sagekit.action/3\n", k_last = "end\n";

/// Takes a text's lines off the front, word by word. A rerun reads thousands of records of hundreds of headers.
class Lines {
 public:
  explicit Lines(std::string_view text) : m_rest(text) {}

  bool take(std::string_view word) {
    if (!m_rest.starts_with(word)) return false;
    m_rest.remove_prefix(word.size());
    return true;
  }
  /// Up to the next `end`, which must be there and is taken, too; nothing of a line beyond this one.
  std::optional<std::string_view> take_to(char end) {
    // find_first_of asks for each character whether it is among them: a quarter of what a hit took.
    const auto at = m_rest.find(end);
    if (at == std::string_view::npos) return std::nullopt;
    const auto word = m_rest.substr(0, at);
    if (word.find('\n') != std::string_view::npos) return std::nullopt;
    m_rest.remove_prefix(at + 1);
    return word;
  }
  template <class Number>
  bool take_number(Number& number, char end) {
    const auto word = take_to(end);
    if (!word) return false;
    const auto read = std::from_chars(word->data(), word->data() + word->size(), number);
    return read.ec == std::errc{} && read.ptr == word->data() + word->size();
  }
  bool empty() const { return m_rest.empty(); }

 private:
  std::string_view m_rest;
};

bool take_measured(Lines& lines, Measured& measured) {
  return lines.take_number(measured.cpu_seconds, ' ') && lines.take_number(measured.wall_seconds, ' ') &&
         lines.take_number(measured.peak_memory_bytes, ' ') && lines.take_number(measured.disk_bytes, '\n') &&
         std::isfinite(measured.cpu_seconds) && std::isfinite(measured.wall_seconds);
}

bool take_output(Lines& lines, RecordedOutput& output) {
  const auto sha256 = lines.take_to(' ');
  if (!sha256 || !lines.take_number(output.object.size_bytes, ' ')) return false;
  const auto path = lines.take_to('\n');
  if (!path) return false;
  output.object.sha256 = *sha256;
  output.path = *path;
  return is_sha256(output.object.sha256) && stays_in_work(output.path);
}

}  // namespace

std::string action_text(const ActionRecord& record) {
  std::string text(k_first);
  auto out = std::back_inserter(text);
  const auto& m = record.measured;
  fmt::format_to(out, "measured {} {} {} {}\nfallback {}\nepoch {}\n", m.cpu_seconds, m.wall_seconds,
                 m.peak_memory_bytes, m.disk_bytes, record.fallback ? 1 : 0, record.epoch);
  for (const auto& output : record.outputs)
    fmt::format_to(out, "output {} {} {}\n", output.object.sha256, output.object.size_bytes, output.path);
  for (const auto& [path, sha256] : record.headers) fmt::format_to(out, "read {} {}\n", sha256, path);
  return text += k_last;
}

std::optional<ActionRecord> parse_action(std::string_view text) {
  ActionRecord record;
  Lines lines(text);
  int fallback = 0;
  if (!lines.take(k_first) || !lines.take("measured ") || !take_measured(lines, record.measured)) return std::nullopt;
  if (!lines.take("fallback ") || !lines.take_number(fallback, '\n') || !lines.take("epoch ")) return std::nullopt;
  const auto epoch = lines.take_to('\n');
  if (!epoch) return std::nullopt;
  record.fallback = fallback != 0;
  record.epoch = *epoch;
  while (lines.take("output "))
    if (!take_output(lines, record.outputs.emplace_back())) return std::nullopt;
  while (lines.take("read ")) {
    const auto sha256 = lines.take_to(' ');
    const auto path = lines.take_to('\n');
    if (!sha256 || !path) return std::nullopt;
    record.headers.emplace_back(*path, *sha256);
  }
  if (!lines.take(k_last) || !lines.empty()) return std::nullopt;
  return record;
}

std::string parts_text(const std::vector<std::pair<std::string, std::string>>& parts) { return json_text(Json(parts)); }

std::vector<std::pair<std::string, std::string>> parse_parts(std::string_view text) {
  try {
    return parse_json(text).get<std::vector<std::pair<std::string, std::string>>>();
  } catch (const Json::exception&) {
    return {};
  }
}

std::string measured_text(const Measured& measured) { return json_text(measured_json(measured)); }

std::optional<Measured> parse_measured(std::string_view text) {
  try {
    return read_measured(parse_json(text));
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace sagekit
