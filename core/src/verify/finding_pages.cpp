// Reads the pages of docs/findings. A code is a section ("## ELF003 title", weights, paragraphs) or a row of a table
// ("| BLD001 | what | mend |", with the table's own column names).
#include "support/embedded_text.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/text.hpp"
#include "verify/policy.hpp"

#include <sagekit/finding.hpp>

#include <algorithm>
#include <set>

namespace sagekit {

/// All but README, index and peers, sorted by name: "ARC", "BLD", ... Written at build time by cmake/EmbedText.cmake.
std::span<const EmbeddedText> page_texts();

namespace {

/// "ELF003": capital letters and three digits, at the beginning of `text`; or "rule-threw", what a plugin's judge gets
/// from whoever calls it.
std::string_view leading_code(std::string_view text) {
  if (text.starts_with("rule-")) return text.substr(0, text.find(' '));
  const auto letters = family(text);
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  if (letters.size() < 3 || letters.size() > 4 || !std::ranges::all_of(letters, is_capital)) return {};
  const auto digits = text.substr(letters.size(), 3);
  if (digits.size() != 3 || !is_digits(digits)) return {};
  const auto end = letters.size() + 3;
  if (end < text.size() && text[end] != ' ') return {};
  return text.substr(0, end);
}

bool is_weight(std::string_view line) { return line.starts_with("own ") || line.starts_with("read "); }

std::string first_upper(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

/// The cells of a Markdown table's row; a bar after a backslash or within `code` belongs to its cell.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  std::string cell;
  bool code = false;
  for (std::size_t i = 1; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\\' && i + 1 < line.size() && line[i + 1] == '|') {
      cell += line[++i];
    } else if (c == '|' && !code) {
      cells.push_back(trim(cell));
      cell.clear();
    } else {
      code = code != (c == '`');
      cell += c;
    }
  }
  return cells;
}

/// A page, read line by line.
class PageReader {
 public:
  std::vector<FindingPage> read(std::string_view text) {
    for (const auto& line : split(text, '\n')) take(line);
    end_section();
    // One code may stand in two tables: what the reader says, and what the judge makes of it.
    std::ranges::stable_sort(m_pages, {}, &FindingPage::code);
    std::vector<FindingPage> merged;
    for (auto& page : m_pages) {
      if (merged.empty() || merged.back().code != page.code) {
        merged.push_back(std::move(page));
        continue;
      }
      if (merged.back().weight.empty()) merged.back().weight = page.weight;
      merged.back().text += "\n" + page.text;
    }
    return merged;
  }

 private:
  void take(const std::string& line) {
    if (line.starts_with("# ") || line.starts_with("## ") || line.starts_with("### ")) {
      end_section();
      m_columns.clear();
      const auto heading = std::string_view(line).substr(line.find(' ') + 1);
      if (const auto code = leading_code(heading); !code.empty() && line.starts_with("## "))
        m_section = {std::string(code), trim(heading.substr(code.size())), {}, {}};
    } else if (!m_section.code.empty()) {
      if (m_section.weight.empty() && m_section.text.empty() && is_weight(line))
        m_section.weight = line;
      else if (!m_section.text.empty() || !line.empty())
        m_section.text += line + "\n";
    } else if (line.starts_with('|')) {
      take_row(cells_of(line));
    } else {
      m_columns.clear();
    }
  }

  void take_row(const std::vector<std::string>& cells) {
    // "INS020, INS021": one row for several.
    std::vector<std::string> codes;
    for (const auto& part : split(cells.empty() ? std::string() : cells[0], ',')) {
      const auto word = trim(part);
      if (const auto code = leading_code(word); !code.empty()) codes.emplace_back(code);
    }
    if (codes.empty()) {
      if (m_columns.empty()) m_columns = cells;
      return;
    }
    FindingPage page;
    const auto what = std::ranges::find_if(m_columns, [](const auto& column) { return column.starts_with("what"); });
    const auto title = static_cast<std::size_t>(what - m_columns.begin());
    if (title < std::min(cells.size(), m_columns.size())) page.title = cells[title];
    std::vector<std::string> weights;
    for (std::size_t i = 1; i < cells.size(); ++i) {
      const std::string column = i < m_columns.size() ? m_columns[i] : std::string();
      if (cells[i].empty() || (i == title && !page.title.empty())) continue;
      if (column == "own" || column == "others" || column == "pypi")
        weights.push_back(column + " " + (cells[i] == "-" ? "off" : cells[i]));
      else if (page.title.empty())
        page.title = cells[i];
      else
        page.text += fmt::format("**{}.** {}\n", first_upper(column), cells[i]);
    }
    page.weight = join(weights, " · ");
    for (auto& code : codes) {
      page.code = std::move(code);
      m_pages.push_back(page);
    }
  }

  void end_section() {
    if (m_section.code.empty()) return;
    while (m_section.text.ends_with("\n\n")) m_section.text.pop_back();
    m_pages.push_back(std::move(m_section));
    m_section = {};
  }

  std::vector<FindingPage> m_pages;
  std::vector<std::string> m_columns;
  FindingPage m_section;
};

}  // namespace

std::vector<FindingPage> finding_pages(std::string_view wanted) {
  std::vector<FindingPage> pages;
  for (const auto& text : page_texts())
    for (auto& page : PageReader().read(text.text))
      if (wanted.empty() || family(page.code) == wanted) pages.push_back(std::move(page));
  std::ranges::sort(pages, {}, &FindingPage::code);
  return pages;
}

Result<std::vector<FindingPage>> explain_finding(std::string_view code_or_family) {
  const auto capitals = [](std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    return text;
  };
  const std::string wanted = capitals(trim(code_or_family));
  std::vector<FindingPage> found;
  std::vector<std::string> codes;
  std::set<std::string> families;
  for (auto& page : finding_pages()) {
    codes.push_back(page.code);
    families.emplace(family(page.code));
    if (capitals(page.code) == wanted || capitals(std::string(family(page.code))) == wanted)
      found.push_back(std::move(page));
  }
  if (!found.empty()) return found;
  const auto letters = std::string(family(wanted));
  if (letters == wanted)
    return fail(ErrorKind::usage, "VFY009", fmt::format("there is no code and no family {}", trim(code_or_family)),
                suggestion(wanted, {families.begin(), families.end()}));
  // A wrong number of a right family: the codes around it say more than those with similar digits elsewhere.
  if (families.contains(letters)) std::erase_if(codes, [&](const auto& code) { return family(code) != letters; });
  return fail(ErrorKind::usage, "VFY009", fmt::format("there is no code {}", trim(code_or_family)),
              "the nearest: " + join(nearest_words(wanted, codes, 3), ", ") +
                  "; a plugin's own codes are explained by its maker");
}

std::string findings_json(const std::vector<FindingPage>& pages) {
  Json json{{"schema", "sagekit.finding/1"}};
  Json& list = json["findings"] = Json::array();
  for (const auto& page : pages)
    list.push_back({{"code", page.code}, {"title", page.title}, {"weight", page.weight}, {"text", page.text}});
  return json_text(json);
}

}  // namespace sagekit
