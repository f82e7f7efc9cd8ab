#include "build/action_record.hpp"

#include "support/json.hpp"
#include "support/text.hpp"

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
          {"peak_memory_bytes", measured.peak_memory_bytes}};
}

Measured read_measured(const Json& json) {
  return {json.at("cpu_seconds").get<double>(), json.at("wall_seconds").get<double>(),
          json.at("peak_memory_bytes").get<std::uint64_t>()};
}

}  // namespace

std::string action_text(const ActionRecord& record) {
  Json headers = Json::array();
  for (const auto& [path, sha256] : record.headers) headers.push_back({path, sha256});
  Json outputs = Json::array();
  for (const auto& output : record.outputs)
    outputs.push_back(
        {{"path", output.path}, {"sha256", output.object.sha256}, {"size_bytes", output.object.size_bytes}});
  return json_text({{"schema", k_schema},
                    {"headers", headers},
                    {"outputs", outputs},
                    {"measured", measured_json(record.measured)},
                    {"fallback", record.fallback},
                    {"epoch", record.epoch}});
}

std::optional<ActionRecord> parse_action(std::string_view text) {
  try {
    const Json json = parse_json(text);
    if (json.at("schema").get<std::string>() != k_schema) return std::nullopt;
    ActionRecord record;
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
