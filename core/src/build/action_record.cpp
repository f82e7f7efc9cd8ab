#include "build/action_record.hpp"

#include "support/json.hpp"
#include "support/text.hpp"
#include "support/utf8.hpp"

#include <algorithm>

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

bool is_hash(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

constexpr std::string_view k_schema = "sagekit.action/2";

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

constexpr std::string_view k_headers = "\"headers\":[";

/// Takes `"text"`, which has no escapes, off the front.
std::optional<std::string_view> take_plain_text(std::string_view& rest) {
  if (!rest.starts_with('"')) return std::nullopt;
  const auto end = rest.find('"', 1);
  if (end == std::string_view::npos) return std::nullopt;
  const auto text = rest.substr(1, end - 1);
  if (text.find('\\') != std::string_view::npos || !is_utf8(text)) return std::nullopt;
  rest.remove_prefix(end + 1);
  return text;
}

bool take(std::string_view& rest, std::string_view word) {
  if (!rest.starts_with(word)) return false;
  rest.remove_prefix(word.size());
  return true;
}

/// The list of headers is nine tenths of a record, and a rerun reads thousands of them: as action_text writes it, it is
/// read here, and the text is left without it. Anything else is for the JSON reader.
std::optional<std::string> take_headers(std::string_view text, ActionRecord& record) {
  const auto at = text.find(k_headers);
  if (at == std::string_view::npos) return std::nullopt;
  auto rest = text.substr(at + k_headers.size());
  decltype(record.headers) headers;
  while (!rest.starts_with(']')) {
    if (!headers.empty() && !take(rest, ",")) return std::nullopt;
    if (!take(rest, "[")) return std::nullopt;
    const auto path = take_plain_text(rest);
    if (!path || !take(rest, ",")) return std::nullopt;
    const auto sha256 = take_plain_text(rest);
    if (!sha256 || !take(rest, "]")) return std::nullopt;
    headers.emplace_back(*path, *sha256);
  }
  record.headers = std::move(headers);
  return std::string(text.substr(0, at + k_headers.size())) + std::string(rest);
}

}  // namespace

std::string action_text(const ActionRecord& record) {
  Json headers = Json::array();
  for (const auto& [path, sha256] : record.headers) headers.push_back({path, sha256});
  Json outputs = Json::array();
  for (const auto& output : record.outputs)
    outputs.push_back(
        {{"path", output.path}, {"sha256", output.object.sha256}, {"size_bytes", output.object.size_bytes}});
  const Json json{{"schema", k_schema},          {"headers", headers},
                  {"outputs", outputs},          {"measured", measured_json(record.measured)},
                  {"fallback", record.fallback}, {"epoch", record.epoch}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<ActionRecord> parse_action(std::string_view text) {
  try {
    ActionRecord record;
    const auto shorter = take_headers(text, record);
    const Json json = parse_json(shorter ? std::string_view(*shorter) : text);
    if (json.at("schema").get<std::string>() != k_schema) return std::nullopt;
    for (const auto& header : json.at("headers"))
      record.headers.emplace_back(header.at(0).get<std::string>(), header.at(1).get<std::string>());
    for (const auto& output : json.at("outputs"))
      record.outputs.push_back(
          {output.at("path").get<std::string>(),
           {output.at("sha256").get<std::string>(), output.at("size_bytes").get<std::uint64_t>()}});
    for (const auto& output : record.outputs)
      if (!stays_in_work(output.path) || !is_hash(output.object.sha256)) return std::nullopt;
    record.measured = read_measured(json.at("measured"));
    record.fallback = json.at("fallback").get<bool>();
    record.epoch = json.at("epoch").get<std::string>();
    return record;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
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
