// METADATA by the core metadata specification (up to 2.5), field by field. What the reader already says (INF004 to
// INF006, INF023, INF024) is not said again.
#include "archive/zip_format.hpp"
#include "pypa/metadata_reader.hpp"
#include "pypa/metadata_rules.hpp"
#include "pypa/requirement_reader.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "verify/checks/checks.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace sagekit {

namespace {

constexpr std::string_view k_where = "METADATA";

class MetadataCheck {
 public:
  MetadataCheck(const HeaderText& headers, FindingList& findings) : m_headers(headers), m_findings(findings) {}

  void fields() {
    const std::string version = m_headers.one("Metadata-Version").value_or("");
    if (!is_metadata_version(version)) broken("INF106", fmt::format("there is no Metadata-Version {}", shown(version)));
    std::map<std::string, int> times;
    for (const auto& field : m_headers.fields) ++times[lower(field.name)];
    for (const auto& [name, count] : times) {
      const MetadataField* const field = find_metadata_field(name);
      if (field == nullptr)
        broken("INF106", fmt::format("the core metadata have no field {}", shown(name)));
      else if (count > 1 && !field->many)
        broken("INF106", fmt::format("{} is there {} times", field->name, count));
      else if (is_metadata_version(version) && field->since > version && name != "license-file")
        broken("INF106",
               fmt::format("{} came with Metadata-Version {}, this is {}", field->name, field->since, version));
    }
    for (const auto& value : m_headers.all("Dynamic")) {
      const auto name = lower(value);
      if (find_metadata_field(name) == nullptr || name == "name" || name == "version" || name == "metadata-version")
        broken("INF106", fmt::format("Dynamic names {}, which no field may be", shown(value)));
    }
  }

  void summary() {
    const std::string text = m_headers.one("Summary").value_or("");
    const auto characters = std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; });
    if (text.find('\n') != std::string::npos) broken("INF107", "Summary has several lines");
    if (characters > 512) broken("INF107", fmt::format("Summary has {} characters, 512 are allowed", characters));
  }

  void people() {
    for (const auto* const name : {"Author-email", "Maintainer-email"})
      for (const auto& value : m_headers.all(name))
        if (const auto address = first_address(value); !address.empty() && !is_email(address))
          broken("INF108", fmt::format("{} is no e-mail address: {}", name, shown(address)));
  }

  void classifiers() {
    for (const auto& value : m_headers.all("Classifier")) {
      const auto parts = split(replace_all(value, " :: ", "\x1f"), '\x1f');
      if (value.starts_with("Private ::"))
        broken("INF109", fmt::format("\"{}\" keeps the wheel off the public index", shown(value)));
      else if (parts.size() < 2 ||
               std::ranges::any_of(parts, [](const auto& part) { return trim(part) != part || part.empty(); }))
        broken("INF109", fmt::format("\"{}\" is no classifier: they are words between \" :: \"", shown(value)));
    }
  }

  void addresses() {
    for (const auto* const name : {"Home-page", "Download-URL"})
      for (const auto& value : m_headers.all(name))
        if (!is_web_address(value)) broken("INF110", fmt::format("{} is no web address: {}", name, shown(value)));
    std::set<std::string> labels;
    for (const auto& value : m_headers.all("Project-URL")) {
      const auto comma = value.find(',');
      const std::string label = trim(value.substr(0, comma));
      const std::string address = comma == std::string::npos ? "" : trim(value.substr(comma + 1));
      if (label.empty() || comma == std::string::npos)
        broken("INF110", fmt::format("Project-URL is not \"label, address\": {}", shown(value)));
      else if (label.size() > 32)
        broken("INF110", fmt::format("the label of a Project-URL has more than 32 characters: {}", shown(label)));
      else if (!is_web_address(address))
        broken("INF110", fmt::format("the Project-URL {} is no web address: {}", shown(label), shown(address)));
      if (!labels.insert(label).second) broken("INF110", fmt::format("two Project-URLs are labelled {}", shown(label)));
    }
  }

  void requirements() {
    std::set<std::string> used;
    for (const auto& value : m_headers.all("Requires-Dist")) {
      const auto requirement = read_requirement(value);
      if (!requirement) {
        broken("INF111", fmt::format("\"{}\" is no requirement: {}", shown(value), requirement.error()));
        continue;
      }
      if (!requirement->url.empty())
        broken("INF112", fmt::format("\"{}\" is at an address, not on an index", shown(value)));
      for (const auto& extra : requirement->marker_extras) used.insert(normalized_project(extra));
    }
    for (const auto& value : m_headers.all("Requires-Python"))
      if (const auto fault = specifier_fault(value); !fault.empty())
        broken("INF113", fmt::format("Requires-Python \"{}\" is no version range: {}", shown(value), fault));
    extras(used);
  }

  void description(std::string_view body) {
    const auto type = m_headers.one("Description-Content-Type");
    if (type)
      if (const auto fault = content_type_fault(*type); !fault.empty())
        broken("INF116", fmt::format("Description-Content-Type \"{}\" {}", shown(*type), fault));
    const std::string text = trim(body.empty() ? std::string_view(m_headers.one("Description").value_or("")) : body);
    if (text.empty() || text == "UNKNOWN")
      broken("INF117", "there is no description");
    else if (!type)
      broken("INF117", "the description has no Description-Content-Type, so it is read as reStructuredText");
  }

  void licence() {
    const auto expression = m_headers.one("License-Expression");
    if (expression)
      if (const auto fault = licence_fault(*expression); !fault.empty())
        broken("INF118", fmt::format("License-Expression \"{}\" {}", shown(*expression), fault));
    const auto classifiers = m_headers.all("Classifier");
    if (expression && !m_headers.all("License").empty())
      broken("INF119", "METADATA has License beside License-Expression");
    if (expression && std::ranges::any_of(classifiers, [](const auto& one) { return one.starts_with("License ::"); }))
      broken("INF119", "METADATA has a License classifier beside License-Expression");
    for (const auto& path : m_headers.all("License-File"))
      if (const auto fault = licence_path_fault(path); !fault.empty())
        broken("INF120", fmt::format("License-File \"{}\" {}", shown(path), fault));
  }

  void imports() {
    for (const auto* const name : {"Import-Name", "Import-Namespace"})
      for (const auto& value : m_headers.all(name))
        if (!(value.empty() && std::string_view(name) == "Import-Name") && !is_import_name(value))
          broken("INF121", fmt::format("{} is no importable name: {}", name, shown(value)));
  }

 private:
  void broken(std::string_view code, std::string message) {
    m_findings.broken(code, std::move(message), std::string(k_where));
  }
  static std::string shown(std::string_view text) { return zip::printable(text); }

  void extras(const std::set<std::string>& used) {
    std::set<std::string> declared;
    for (const auto& value : m_headers.all("Provides-Extra")) {
      if (!is_project_name(value)) broken("INF114", fmt::format("Provides-Extra is no name: \"{}\"", shown(value)));
      const auto normal = normalized_project(value);
      if (normal != value)
        broken("INF115", fmt::format("the extra {} is written {} in normal form", shown(value), normal));
      declared.insert(normal);
    }
    for (const auto& extra : used)
      if (!declared.contains(extra))
        broken("INF115",
               fmt::format("a requirement asks for the extra {}, which no Provides-Extra declares", shown(extra)));
  }

  const HeaderText& m_headers;
  FindingList& m_findings;
};

}  // namespace

void check_metadata(const Artifact& artifact, FindingList& findings) {
  const auto path = artifact.wheel->dist_info + "/METADATA";
  const auto text =
      artifact.find(path) == nullptr ? Result<std::string>(std::unexpected(Error{})) : artifact.read(path);
  if (!text) return findings.skip_rest("METADATA cannot be read");  // the reader said why
  const HeaderText headers = read_headers(*text);
  MetadataCheck check(headers, findings);
  check.fields();
  check.summary();
  check.people();
  check.classifiers();
  check.addresses();
  check.requirements();
  check.description(headers.body);
  check.licence();
  check.imports();
}

}  // namespace sagekit
