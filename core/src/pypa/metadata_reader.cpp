#include "pypa/metadata_reader.hpp"

#include "support/utf8.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <algorithm>

namespace sagekit {

namespace {

constexpr std::size_t k_most_field_faults = 20;

void add_fault(std::vector<std::string>& faults, std::string text) {
  if (faults.size() < k_most_field_faults) faults.push_back(std::move(text));
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool is_header_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 0x7f && c != ':'; });
}

/// One CSV row with quoted fields; `text` moves behind it. False when a quote is not closed or followed by more.
bool take_row(std::string_view& text, std::vector<std::string>& fields) {
  fields.assign(1, {});
  bool good = true;
  bool quoted = false;
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c != '"')
        fields.back() += c;
      else if (at + 1 < text.size() && text[at + 1] == '"')
        fields.back() += text[++at];
      else {
        quoted = false;
        const char next = at + 1 < text.size() ? text[at + 1] : '\n';
        good = good && (next == ',' || next == '\n' || next == '\r');
      }
    } else if (c == '"') {
      good = good && fields.back().empty();
      quoted = true;
    } else if (c == ',') {
      fields.emplace_back();
    } else if (c == '\n') {
      break;
    } else if (c != '\r' || (at + 1 < text.size() && text[at + 1] != '\n')) {
      fields.back() += c;
    }
  }
  text.remove_prefix(std::min(at + 1, text.size()));
  return good && !quoted;
}

}  // namespace

std::vector<std::string> HeaderText::all(std::string_view name) const {
  std::vector<std::string> values;
  for (const Field& field : fields)
    if (lower(field.name) == lower(name)) values.push_back(field.value);
  return values;
}

std::optional<std::string> HeaderText::one(std::string_view name) const {
  auto values = all(name);
  if (values.size() != 1) return std::nullopt;
  return std::move(values.front());
}

HeaderText read_headers(std::string_view text) {
  HeaderText headers;
  if (!is_utf8(text)) add_fault(headers.faults, "it is not UTF-8");
  if (text.starts_with("\xef\xbb\xbf")) {
    add_fault(headers.faults, "it begins with a byte order mark");
    text.remove_prefix(3);
  }
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (line.empty()) {
      headers.body = text;
      break;
    }
    if ((line.front() == ' ' || line.front() == '\t') && !headers.fields.empty()) {
      headers.fields.back().value += "\n" + trim(line);
      continue;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_header_name(line.substr(0, colon)))
      add_fault(headers.faults, fmt::format("line {} is no \"Name: value\"", number));
    else
      headers.fields.push_back({std::string(line.substr(0, colon)), trim(line.substr(colon + 1))});
  }
  return headers;
}

RecordText read_record(std::string_view text) {
  RecordText record;
  if (!is_utf8(text)) add_fault(record.faults, "it is not UTF-8");
  std::vector<std::string> fields;
  for (int number = 1; !text.empty(); ++number) {
    const bool good = take_row(text, fields);
    if (fields.size() == 1 && fields[0].empty() && good) continue;  // an empty line
    if (!good || fields.size() != 3 || fields[0].empty())
      add_fault(record.faults, fmt::format("row {} is not path, hash, size", number));
    else
      record.rows.push_back({std::move(fields[0]), std::move(fields[1]), std::move(fields[2])});
  }
  return record;
}

}  // namespace sagekit
