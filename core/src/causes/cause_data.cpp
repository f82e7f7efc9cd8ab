#include "causes/cause_data.hpp"

#include "causes/line_matcher.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace sagekit {

namespace {

constexpr std::array<std::pair<std::string_view, LineRole>, 9> k_roles{{{"cause", LineRole::cause},
                                                                        {"silent", LineRole::silent},
                                                                        {"advice", LineRole::advice},
                                                                        {"consequence", LineRole::consequence},
                                                                        {"failure", LineRole::failure},
                                                                        {"success", LineRole::success},
                                                                        {"attempt", LineRole::attempt},
                                                                        {"context", LineRole::context},
                                                                        {"noise", LineRole::noise}}};
constexpr std::array<std::string_view, 8> k_stages{"fetch",   "configure", "compile", "link",
                                                   "install", "import",    "start",   "run"};
constexpr std::int64_t k_traceback = 120;  // lines between an exception and the one that carries it
constexpr std::array<std::string_view, 3> k_confidences{"high", "medium", "low"};

template <std::size_t Size>
bool among(const std::array<std::string_view, Size>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

/// Says what is wrong with patterns: not RE2, or without a literal that one automaton could look for.
void check_patterns(const TomlTable& row, std::string_view key, const std::vector<std::string>& patterns,
                    bool scanned) {
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const auto fault = pattern_fault(patterns[i], scanned);
    if (!fault.empty()) row.error(fmt::format("{}[{}]", key, i), "DAT010", fault);
  }
}

std::vector<CauseCondition> conditions_at(const TomlTable& row, std::string_view key,
                                          const std::vector<std::string>& texts) {
  std::vector<CauseCondition> conditions;
  for (const auto& text : texts) {
    const auto words = split_words(text, " ");
    if (words.size() < 3 || !contains({"<", "<=", ">", ">=", "=", "!="}, words[1]))
      row.error(key, "DAT011", fmt::format("\"{}\" is no condition", text), "like: nvcc < 12.8");
    else
      conditions.push_back({words[0], words[1], join({words.begin() + 2, words.end()}, " "), text});
  }
  return conditions;
}

CauseFixRow read_fix(TomlTable& table) {
  CauseFixRow fix;
  fix.command = table.string("command").value_or("");
  fix.why = table.required_string("why");
  fix.when = table.strings("when");
  fix.conditions = conditions_at(table, "when", fix.when);
  table.finish();
  return fix;
}

LineRole role_at(TomlTable& table) {
  const auto name = table.string("role").value_or("cause");
  const auto role = std::ranges::find(k_roles, name, &std::pair<std::string_view, LineRole>::first);
  if (role != k_roles.end()) return role->second;
  table.error("role", "DAT012", fmt::format("there is no role \"{}\"", name));
  return LineRole::cause;
}

void check_row(const TomlTable& table, const CauseRow& row) {
  check_patterns(table, "match", row.match, true);
  check_patterns(table, "near", row.near, false);
  check_patterns(table, "apart", row.apart, false);
  if (!among(k_confidences, row.confidence)) table.error("confidence", "DAT012", "high, medium or low");
  if (!may_explain(row.role)) return;
  if (!among(k_stages, row.stage)) table.error("stage", "DAT012", fmt::format("\"{}\" is no stage", row.stage));
  for (const auto& [key, value] : {std::pair{"cause", &row.cause}, {"source", &row.source}, {"group", &row.group}})
    if (value->empty()) table.error(key, "DAT012", fmt::format("a cause says its {}", key));
  if (row.fix.empty() && !row.owner_fixes) table.error("fix", "DAT012", "a cause has a fix");
}

/// [cause.means]: `of` names the group, every other key is what may stand there.
void read_means(TomlTable& table, CauseRow& row) {
  row.means_of = table.required_string("of");
  for (const auto& name : table.keys())
    if (name != "of") row.means[name] = table.required_string(name);
  table.finish();
}

CauseRow read_row(TomlTable& table, bool check) {
  CauseRow row;
  row.code = table.required_string("code");
  row.title = table.required_string("title");
  row.role = role_at(table);
  row.stage = table.string("stage").value_or("");
  row.signatures = table.strings("signatures");
  row.match = table.required_strings("match");
  row.near = table.strings("near");
  row.apart = table.strings("apart");
  row.when = conditions_at(table, "when", table.strings("when"));
  row.after = table.strings("after");
  row.with = table.strings("with");
  row.last = static_cast<std::size_t>(std::max<std::int64_t>(0, table.integer("last").value_or(0)));
  row.shape = table.boolean("shape").value_or(row.last > 0);
  row.fallback = table.boolean("fallback").value_or(row.shape);
  row.wraps = table.boolean("wraps").value_or(false);
  row.carries = table.strings("carries");
  row.within = static_cast<std::size_t>(std::max<std::int64_t>(0, table.integer("within").value_or(k_traceback)));
  row.package = table.string("package").value_or("");
  row.cause = table.string("cause").value_or("");
  row.is_not = table.string("is_not").value_or("");
  row.source = table.string("source").value_or("");
  row.confidence = table.string("confidence").value_or("high");
  row.group = table.string("group").value_or("");
  row.looks_like = table.strings("looks_like");
  if (auto means = table.table("means")) read_means(*means, row);
  for (auto& fix : table.tables("fix")) row.fix.push_back(read_fix(fix));
  row.owner_fixes = table.boolean("owner_fixes").value_or(false);
  if (check) check_row(table, row);
  table.finish();
  return row;
}

/// A file and its first row among those of all files.
struct RowFile {
  TomlDocument document;
  std::size_t first = 0;
};

/// Rows name each other, across files: by codes that are there.
void check_references(const CauseData& data, const std::vector<RowFile>& files) {
  const auto error = [&](std::size_t row, std::string_view key, std::string message) {
    const auto file = std::find_if(files.rbegin(), files.rend(), [&](const RowFile& one) { return one.first <= row; });
    file->document.error(fmt::format("cause[{}].{}", row - file->first, key), "DAT013", std::move(message));
  };
  std::set<std::string> codes;
  for (std::size_t i = 0; i < data.rows.size(); ++i)
    if (!codes.insert(data.rows[i].code).second) error(i, "code", fmt::format("{} stands twice", data.rows[i].code));
  for (std::size_t i = 0; i < data.rows.size(); ++i) {
    const auto& row = data.rows[i];
    for (const auto& [key, names] : {std::pair{"after", &row.after}, {"carries", &row.carries}})
      for (const auto& name : *names)
        if (!codes.contains(name) && !among(k_stages, name))
          error(i, key, fmt::format("{} is no code and no stage", name));
    for (const auto& name : row.with)
      if (!codes.contains(name)) error(i, "with", fmt::format("there is no {}", name));
    if (!row.group.empty() &&
        std::ranges::find(data.groups, row.group, &std::pair<std::string, std::string>::first) == data.groups.end())
      error(i, "group", fmt::format("there is no group {}", row.group));
  }
}

TracebackRows read_traceback(TomlTable& table, bool check) {
  TracebackRows rows{
      table.required_string("begin"), table.required_string("own_words"), table.strings("passes"), {}, {}, {}, {}};
  if (auto names = table.table("distributions")) {
    for (const auto& name : names->keys()) rows.distributions[name] = names->required_string(name);
    names->finish();
  }
  for (auto& form : table.tables("form")) {
    rows.forms.push_back({form.required_string("match"),
                          static_cast<std::size_t>(std::max<std::int64_t>(1, form.integer("reach").value_or(1)))});
    if (check) check_patterns(form, "match", {rows.forms.back().match}, false);
    form.finish();
  }
  for (auto& owner : table.tables("owner")) {
    rows.owners.push_back({owner.required_string("kind"), owner.required_string("match"),
                           owner.required_string("words"), owner.boolean("asks").value_or(false),
                           owner.boolean("serves").value_or(false), owner.boolean("passes").value_or(false)});
    if (check) check_patterns(owner, "match", {rows.owners.back().match}, false);
    owner.finish();
  }
  for (auto& fix : table.tables("fix")) rows.fixes.push_back(read_fix(fix));
  table.finish();
  return rows;
}

void append(std::vector<std::string>& list, const std::vector<std::string>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

void read_file(TomlTable root, bool check, CauseData& data) {
  if (auto reading = root.table("reading")) {
    if (check) {
      check_patterns(*reading, "advice", reading->strings("advice"), false);
      check_patterns(*reading, "informing", reading->strings("informing"), false);
      check_patterns(*reading, "likely", reading->strings("likely"), true);
      check_patterns(*reading, "prefixes", reading->strings("prefixes"), false);
    }
    append(data.advice, reading->strings("advice"));
    append(data.informing, reading->strings("informing"));
    append(data.likely, reading->strings("likely"));
    append(data.prefixes, reading->strings("prefixes"));
    append(data.pip_values, reading->strings("pip_values"));
    reading->finish();
  }
  if (auto traceback = root.table("traceback")) data.traceback = read_traceback(*traceback, check);
  for (auto& group : root.tables("group")) {
    data.groups.emplace_back(group.required_string("id"), group.required_string("heading"));
    group.finish();
  }
  for (auto& table : root.tables("fact")) {
    FactRow fact{table.required_string("name"), table.string("value").value_or(""), table.required_strings("match")};
    if (check) check_patterns(table, "match", fact.match, false);
    table.finish();
    data.facts.push_back(std::move(fact));
  }
  for (auto& table : root.tables("cause")) data.rows.push_back(read_row(table, check));
  root.finish();
}

}  // namespace

bool may_explain(LineRole role) {
  return role == LineRole::cause || role == LineRole::silent || role == LineRole::advice;
}

bool has_page(LineRole role) {
  return role != LineRole::success && role != LineRole::attempt && role != LineRole::context &&
         role != LineRole::failure;
}

const CauseRow* CauseData::find(std::string_view code) const {
  const auto found = std::ranges::find(rows, code, &CauseRow::code);
  return found == rows.end() ? nullptr : &*found;
}

CauseData read_cause_data(std::span<const EmbeddedText> files, bool check) {
  CauseData data;
  std::vector<RowFile> documents;
  for (const auto& file : files) {
    documents.push_back(
        {TomlDocument::parse(file.text, fmt::format("core/data/causes/{}.toml", file.name), "DAT"), data.rows.size()});
    read_file(documents.back().document.root(), check, data);
  }
  if (check) check_references(data, documents);
  for (auto& row : data.rows)
    if (row.owner_fixes) row.fix.insert(row.fix.end(), data.traceback.fixes.begin(), data.traceback.fixes.end());
  for (const auto& one : documents)
    for (auto& problem : one.document.diagnostics()) data.problems.push_back(std::move(problem));
  return data;
}

const CauseData& cause_data() {
  static const CauseData k_data = read_cause_data(cause_files(), false);
  return k_data;
}

}  // namespace sagekit
