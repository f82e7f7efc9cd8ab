#include "package/dist_info_edit.hpp"

#include "package/metadata_text.hpp"
#include "pypa/metadata_reader.hpp"
#include "pypa/requirement_reader.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/naming.hpp>

#include <algorithm>

namespace sagekit {

namespace {

bool is_header_of(std::string_view line, std::string_view name) {
  return line.size() > name.size() && line[name.size()] == ':' && lower(line.substr(0, name.size())) == lower(name);
}

bool continues_header(std::string_view line) { return line.starts_with(' ') || line.starts_with('\t'); }

}  // namespace

std::string with_headers(std::string_view text, std::string_view name, const std::vector<std::string>& values) {
  const auto first_end = text.find('\n');
  const bool dos = first_end != std::string_view::npos && first_end > 0 && text[first_end - 1] == '\r';
  const std::string_view line_end = dos ? "\r\n" : "\n";
  std::string out;
  std::size_t insert_at = std::string::npos, at = 0;
  bool dropping = false;
  while (at < text.size()) {
    const auto end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const auto line = text.substr(at, end - at);
    if (line == "\n" || line == "\r\n") break;  // the body begins
    dropping = is_header_of(line, name) || (dropping && continues_header(line));
    if (dropping && insert_at == std::string::npos) insert_at = out.size();
    if (!dropping) out += line;
    at = end;
  }
  if (!out.empty() && !out.ends_with('\n')) out += line_end;
  std::string made;
  for (const auto& value : values) made += fmt::format("{}: {}{}", name, value, line_end);
  out.insert(std::min(insert_at, out.size()), made);
  return out + std::string(text.substr(at));
}

Result<std::vector<std::string>> with_requirements(std::vector<std::string> requirements,
                                                   const std::vector<std::string>& changes) {
  std::vector<std::string> replaced;
  for (const auto& change : changes) {
    const bool away = change.starts_with('!');
    const auto text = trim(std::string_view(change).substr(away ? 1 : 0));
    if (const auto read = read_requirement(text); !read)
      return fail(ErrorKind::usage, "RTG007", fmt::format("\"{}\" is no requirement: {}", change, read.error()),
                  "NAME, NAME==1.2.*; python_version < \"3.13\"; !NAME takes it away");
    const auto name = requirement_name(text);
    if (!contains(replaced, name))
      std::erase_if(requirements, [&](const auto& line) { return requirement_name(line) == name; });
    replaced.push_back(name);
    if (!away) requirements.push_back(text);
  }
  return requirements;
}

Result<std::string> with_members(std::string_view record,
                                 const std::function<RecordChange(const std::string&)>& change) {
  auto read = read_record(record);
  if (!read.faults.empty())
    return fail(ErrorKind::failed, "RTG002", "RECORD cannot be read: " + read.faults.front(),
                "sagekit verify says what is wrong with the wheel");
  for (auto& row : read.rows) {
    const auto now = change(row.path);
    row.path = now.path;
    if (now.content == nullptr) continue;
    row.hash = sha256_record(*now.content);
    row.size = fmt::format("{}", now.content->size());
  }
  return record_text(read.rows);
}

}  // namespace sagekit
