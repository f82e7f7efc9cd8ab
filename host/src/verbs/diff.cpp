#include "session.hpp"
#include "verb.hpp"

#include <sagekit/diff.hpp>

#include <fmt/format.h>

#include <cstdint>

namespace sagekit::host {

namespace {

struct DiffArguments {
  std::string first, second;
};

void declare(Flags& flags, DiffArguments& arguments) {
  flags.argument("first", arguments.first, "The older one: a wheel, or a module");
  flags.argument("second", arguments.second, "The newer one");
}

constexpr std::size_t k_most_lines = 12;  // of one file and kind; --json has all

std::string sizes(std::uint64_t before, std::uint64_t after) {
  if (before == after) return human_bytes(after);
  const auto grown = after > before ? after - before : before - after;
  return fmt::format("{} -> {} ({}{})", human_bytes(before), human_bytes(after), after > before ? "+" : "-",
                     human_bytes(grown));
}

class Lines {
 public:
  explicit Lines(std::string indent) : m_indent(std::move(indent)) {}
  void add(const std::string& line) {
    if (++m_count <= k_most_lines) m_text += m_indent + line + "\n";
  }
  std::string end() const {
    if (m_count <= k_most_lines) return m_text;
    return m_text + fmt::format("{}and {} more (--json lists them)\n", m_indent, m_count - k_most_lines);
  }

 private:
  std::string m_indent, m_text;
  std::size_t m_count = 0;
};

std::string shown(const std::string& value) { return value.empty() ? "none" : value; }

std::string changes_text(const Console& console, const Changes& changes, const std::string& indent) {
  Lines fields(indent);
  for (const auto& change : changes.fields)
    fields.add(fmt::format("{}: {} -> {}", change.field, shown(change.before), shown(change.after)));
  std::string text = fields.end();
  for (const auto& set : changes.sets) {
    text += fmt::format("{}{}:\n", indent, set.field);
    Lines names(indent + "  ");
    for (const auto& name : set.removed) names.add(console.red("- " + name));
    for (const auto& name : set.added) names.add(console.green("+ " + name));
    text += names.end();
  }
  return text;
}

std::string member_text(const Console& console, const MemberChange& member) {
  switch (member.kind) {
    case MemberChange::Kind::added:
      return console.green(fmt::format("+ {}", member.path)) + fmt::format("  {}\n", human_bytes(member.after_bytes));
    case MemberChange::Kind::removed:
      return console.red(fmt::format("- {}", member.path)) + fmt::format("  {}\n", human_bytes(member.before_bytes));
    case MemberChange::Kind::changed: break;
  }
  std::string text =
      console.yellow("~ " + member.path) + fmt::format("  {}\n", sizes(member.before_bytes, member.after_bytes));
  if (!member.was.empty()) text += fmt::format("    was {}\n", member.was);
  return text + changes_text(console, member.changes, "    ");
}

std::string diff_text(const Console& console, const FileDiff& diff) {
  std::string text = fmt::format("{} {}\n{} {}\n", console.red("---"), diff.before, console.green("+++"), diff.after);
  if (diff.identical) return text + "the same bytes\n";
  text += fmt::format("  {}\n", sizes(diff.before_bytes, diff.after_bytes));
  text += changes_text(console, diff.changes, "  ");
  for (const auto& member : diff.members) text += "  " + member_text(console, member);
  text += fmt::format("  {} files differ, {} are the same\n", diff.members.size(), diff.same);
  return text;
}

int run(Session& session, const DiffArguments& arguments) {
  const InspectOptions options{.kernels = true, .resources = true};
  const auto before = inspect_file(arguments.first, options);
  const auto after = inspect_file(arguments.second, options);
  int code = 0;
  for (const auto* facts : {&before, &after})
    if (!*facts) code = std::max(code, report(session, facts->error()));
  if (code != 0) return code;
  const auto diff = diff_files(*before, *after);
  session.console.result(session.global.json ? diff_json(diff) : diff_text(session.console, diff));
  return 0;
}

}  // namespace

std::vector<Verb> diff_verbs() {
  return {make_verb<DiffArguments>(
      {.name = "diff",
       .what = "What changed between two wheels",
       .examples = {"sagekit diff old/demo-1.0-cp312-cp312-linux_x86_64.whl new/demo-1.1-cp312-cp312-linux_x86_64.whl",
                    "sagekit diff --json old.whl new.whl"},
       .exits = {{0, "compared, whatever differs"}, {1, "a file that is readable is no wheel or module"}}},
      declare, run)};
}

}  // namespace sagekit::host
