#include "release/origin.hpp"

#include "support/json.hpp"

namespace sagekit {

namespace {

std::string origin_text(const Json& json, const char* key) {
  if (!json.is_object()) return {};
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::vector<std::string> origin_list(const Json& json, const char* key) {
  std::vector<std::string> texts;
  if (const auto found = json.find(key); found != json.end() && found->is_array())
    for (const auto& item : *found)
      if (item.is_string()) texts.push_back(item.get<std::string>());
  return texts;
}

/// "cp312" -> "3.12"; of an abi3 wheel or one for any Python nothing, for it is not made for one.
std::string python_of(const WheelName& name) {
  if (name.python.size() != 1 || name.abi.size() != 1) return {};
  const std::string& tag = name.python[0];
  if (!tag.starts_with("cp3") || tag.size() < 4 || !name.abi[0].starts_with(tag)) return {};
  return "3." + tag.substr(3) + (name.abi[0].ends_with('t') ? "t" : "");
}

/// "manylinux_2_28_x86_64" -> "linux_x86_64": as cells name platforms.
std::string platform_of(const WheelName& name) {
  if (name.platform.empty()) return {};
  const std::string& tag = name.platform.back();
  if (!tag.starts_with("manylinux") && !tag.starts_with("linux_")) return tag == "any" ? std::string() : tag;
  for (const std::string machine : {"x86_64", "aarch64"})
    if (tag.ends_with(machine)) return "linux_" + machine;
  return tag;
}

}  // namespace

WheelOrigin read_origin(std::string_view text) {
  WheelOrigin origin;
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return origin;
  const Json plugin = json.value("plugin", Json::object()), source = json.value("source", Json::object());
  origin.plugin = origin_text(plugin, "name");
  origin.plugin_version = origin_text(plugin, "version");
  origin.source_url = origin_text(source, "url");
  origin.commit = origin_text(source, "commit");
  origin.cell = origin_text(json, "cell");
  origin.python = origin_text(json, "python");
  origin.torch = origin_text(json, "torch");
  origin.cuda = origin_text(json, "cuda");
  origin.platform = origin_text(json, "platform");
  origin.arches = origin_list(json, "arches");
  origin.tools = origin_list(json, "tools");
  for (const auto& line : origin.tools)
    if (line.starts_with("edit ")) origin.edits.push_back(line.substr(5));
  return origin;
}

WheelOrigin origin_of_name(const WheelName& name) {
  static const auto k_reader = WheelNameReader::make(naming_schemes());
  WheelOrigin origin;
  origin.python = python_of(name);
  origin.platform = platform_of(name);
  const auto readings = k_reader ? k_reader->read(name.file_name()) : std::unexpected(k_reader.error());
  // A name that can be read in two ways says nothing.
  if (!readings || readings->size() != 1) return origin;
  const auto& said = readings->front();
  origin.torch = said.torch;
  origin.torch_min = said.torch_min;
  origin.cuda = said.cuda;
  origin.commit = said.revision;
  for (const auto& arch : said.arches) origin.arches.push_back(to_string(arch));
  return origin;
}

}  // namespace sagekit
