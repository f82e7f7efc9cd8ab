#include "spec/name_readings.hpp"
#include "support/json.hpp"

#include <sagekit/naming.hpp>

namespace sagekit {

namespace {

/// Keys that hold nothing are left out: absent = not said.
Json reading_json(const WheelNameReading& reading) {
  Json json = Json::object();
  const auto put = [&](const char* key, const std::string& value) {
    if (!value.empty()) json[key] = value;
  };
  put("package", reading.package);
  put("version", reading.version);
  put("local", reading.local);
  put("build", reading.build);
  put("torch", reading.torch);
  put("torch_min", reading.torch_min);
  put("cuda", reading.cuda);
  if (reading.cxx11_abi) json["cxx11_abi"] = *reading.cxx11_abi;
  put("python", reading.python);
  put("abi", reading.abi);
  put("platform", reading.platform);
  for (const auto& arch : reading.arches) json["arches"].push_back(to_string(arch));
  put("revision", reading.revision);
  put("date", reading.date);
  put("variant", reading.variant);
  put("scheme", reading.scheme);
  put("unread", reading.unread);
  return json;
}

}  // namespace

std::string name_json(std::string_view file, const std::vector<WheelNameReading>& readings) {
  Json json{{"schema", "sagekit.name/1"}, {"file", file}};
  Json all = Json::array();
  for (const auto& reading : readings) all.push_back(reading_json(reading));
  if (!readings.empty()) json.update(reading_json(agreed_reading(readings)));
  json["readings"] = std::move(all);
  return json_text(json);
}

std::string name_json(std::string_view cell, const WheelNameReading& facts, const std::vector<WrittenName>& names) {
  Json json{{"schema", "sagekit.name/1"}, {"cell", cell}};
  json.update(reading_json(facts));
  json["names"] = Json::array();
  for (const auto& name : names) {
    Json row{{"scheme", name.scheme}};
    row[name.why_not.empty() ? "wheel" : "why_not"] = name.why_not.empty() ? name.wheel : name.why_not;
    json["names"].push_back(std::move(row));
  }
  return json_text(json);
}

}  // namespace sagekit
