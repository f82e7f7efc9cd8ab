#include "release/origin.hpp"

#include "pypa/requirement_reader.hpp"
#include "support/text.hpp"

namespace sagekit {

namespace {

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

std::vector<std::string> named_pythons(const WheelName& name) {
  std::vector<std::string> pythons;
  for (const auto& tag : name.python)
    for (const auto& abi : name.abi) {
      const bool one = tag.starts_with("cp3") && tag.size() > 3;
      if (abi.starts_with("abi3") || (abi == "none" && !one)) return {};
      if (!one || (abi != "none" && !abi.starts_with(tag))) continue;  // cp310-none: no newer one takes it
      pythons.push_back("3." + tag.substr(3) + (abi.ends_with('t') ? "t" : ""));
    }
  return pythons;
}

WheelOrigin origin_of(const WheelName& name, const Provenance& said, const std::vector<std::string>& requires_dist) {
  WheelOrigin origin;
  origin.torch = said.torch;
  origin.torch_min = said.torch_min;
  origin.cuda = said.cuda;
  for (const auto& arch : said.arches.value_or(said.named.arches)) origin.arches.push_back(to_string(arch));
  if (!said.is_recorded()) {
    if (const auto pythons = named_pythons(name); pythons.size() == 1) origin.python = pythons.front();
    origin.platform = platform_of(name);
    origin.commit = said.named.revision;
    origin.default_arches = said.named.default_arches;
    if (said.torch.empty() && said.torch_min.empty()) origin.requires_torch = required_range(requires_dist, "torch");
    return origin;
  }
  origin.plugin = said.plugin;
  origin.plugin_version = said.plugin_version;
  origin.source_url = said.source_url;
  origin.commit = said.commit;
  origin.cell = said.cell;
  origin.python = said.python;
  origin.platform = said.platform;
  origin.tools = said.tools;
  for (const auto& line : origin.tools)
    if (line.starts_with("edit ")) origin.edits.push_back(line.substr(5));
  return origin;
}

ServedPythons served_pythons(const ReleasedWheel& wheel) {
  const auto name = parse_wheel_name(wheel.file);
  if (!name) return {wheel.origin.python, {}};
  if (const auto many = named_pythons(*name); many.size() > 1) return {join(many, ", "), {}};
  if (name->python.size() != 1 || name->abi.size() != 1) return {wheel.origin.python, {}};
  const std::string& tag = name->python[0];
  if (name->abi[0] == "abi3" && tag.starts_with("cp3") && is_digits(tag.substr(3))) return {{}, "3." + tag.substr(3)};
  if (!tag.starts_with("py")) return {wheel.origin.python, {}};
  const auto from = trim(wheel.requires_python);
  const auto least = from.starts_with(">=") ? trim(from.substr(2)) : std::string();
  return {{}, least.find_first_not_of("0123456789.") == std::string::npos ? least : std::string()};
}

bool is_for_python(const ReleasedWheel& wheel, const std::string& python) {
  const auto served = served_pythons(wheel);
  if (!served.only.empty()) return (", " + served.only + ", ").find(", " + python + ", ") != std::string::npos;
  if (served.least.empty()) return true;
  const bool no_gil = python.ends_with('t');  // it has no limited API
  if (no_gil && wheel.file.find("-abi3-") != std::string::npos) return false;
  const auto least = parse_version_number(served.least),
             wanted = parse_version_number(python.substr(0, python.size() - (no_gil ? 1 : 0)));
  return least && wanted && *wanted >= *least;
}

bool says_same(const std::string& said, const std::string& wanted) {
  return said == wanted || (!said.empty() && wanted.starts_with(said + "."));
}

bool says_all(const ReleasedWheel& wheel) { return !wheel.origin.cell.empty() || wheel.origin.platform.empty(); }

bool is_for_torch(const WheelOrigin& origin, const std::string& torch) {
  if (origin.torch_min.empty() || !origin.torch.empty()) return says_same(origin.torch, torch);
  const auto least = parse_version_number(origin.torch_min), wanted = parse_version_number(torch);
  return least && wanted && *wanted >= *least;
}

}  // namespace sagekit
