#include "package/metadata_text.hpp"

#include "support/format.hpp"
#include "support/text.hpp"

#include <sagekit/version.hpp>

namespace sagekit {

namespace {

/// A header's value is one line; a spec's text may have several.
std::string one_line(std::string_view text) { return join(split_words(text, "\r\n"), " "); }

void add(std::string& text, std::string_view name, std::string_view value) {
  if (!value.empty()) text += fmt::format("{}: {}\n", name, one_line(value));
}

std::string_view content_type(std::string_view file) {
  if (file.ends_with(".md")) return "text/markdown";
  if (file.ends_with(".rst")) return "text/x-rst";
  return "text/plain";
}

std::string quoted(const std::string& field) {
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  return '"' + replace_all(field, "\"", "\"\"") + '"';
}

}  // namespace

std::string metadata_headers(const MetadataSpec& metadata, const Cell& cell,
                             const std::vector<std::string>& license_files, bool has_body) {
  std::string text = "Metadata-Version: 2.4\n";
  add(text, "Name", metadata.name);
  add(text, "Version", cell.version);
  add(text, "Summary", metadata.summary);
  add(text, "License-Expression", metadata.license);
  for (const auto& file : license_files) add(text, "License-File", file);
  for (const auto& classifier : metadata.classifiers) add(text, "Classifier", classifier);
  for (const auto& url : metadata.urls) add(text, "Project-URL", url);
  add(text, "Requires-Python", metadata.requires_python);
  for (const auto& requirement : cell.requires_dist) add(text, "Requires-Dist", requirement);
  if (has_body) add(text, "Description-Content-Type", content_type(metadata.readme));
  return text;
}

std::string wheel_text(const WheelName& name) {
  std::string text =
      fmt::format("Wheel-Version: 1.0\nGenerator: sagekit {}\nRoot-Is-Purelib: false\n", SAGEKIT_VERSION);
  for (const auto& tag : name.tags()) text += fmt::format("Tag: {}\n", tag);
  if (!name.build.empty()) text += fmt::format("Build: {}\n", name.build);
  return text;
}

std::string record_text(const std::vector<RecordEntry>& entries, const std::string& own_path) {
  std::string text;
  for (const auto& entry : entries) text += fmt::format("{},{},{}\n", quoted(entry.path), entry.hash, entry.size_bytes);
  return text + quoted(own_path) + ",,\n";
}

std::string record_text(const std::vector<RecordRow>& rows) {
  std::string text;
  for (const auto& row : rows) text += fmt::format("{},{},{}\n", quoted(row.path), quoted(row.hash), quoted(row.size));
  return text;
}

}  // namespace sagekit
