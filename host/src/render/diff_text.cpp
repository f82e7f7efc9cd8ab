#include "render/diff_text.hpp"

#include "printable.hpp"
#include "render/text.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

namespace sagekit::host {

namespace {

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

std::string shown(const std::string& value, bool or_newer) {
  return value.empty() ? "none" : one_line(value) + (or_newer ? " or newer" : "");
}

std::string changes_text(const Console& console, const Changes& changes, const std::string& indent) {
  Lines fields(indent);
  for (const auto& change : changes.fields)
    fields.add(fmt::format("{}: {} -> {}", one_line(change.field), shown(change.before, change.or_newer),
                           shown(change.after, change.or_newer)));
  std::string text = fields.end();
  for (const auto& set : changes.sets) {
    text += fmt::format("{}{}:\n", indent, set.field);
    Lines names(indent + "  ");
    for (const auto& name : set.removed) names.add(console.red("- " + one_line(name)));
    for (const auto& name : set.added) names.add(console.green("+ " + one_line(name)));
    text += names.end();
  }
  return text;
}

std::string member_text(const Console& console, const MemberChange& member) {
  switch (member.kind) {
    case MemberChange::Kind::added:
      return console.green(fmt::format("+ {}", one_line(member.path))) +
             fmt::format("  {}\n", human_bytes(member.after_bytes));
    case MemberChange::Kind::removed:
      return console.red(fmt::format("- {}", one_line(member.path))) +
             fmt::format("  {}\n", human_bytes(member.before_bytes));
    case MemberChange::Kind::changed: break;
  }
  std::string text = console.yellow("~ " + one_line(member.path)) +
                     fmt::format("  {}\n", sizes(member.before_bytes, member.after_bytes));
  if (!member.was.empty()) text += fmt::format("    was {}\n", one_line(member.was));
  return text + changes_text(console, member.changes, "    ");
}

}  // namespace

std::string diff_text(const Console& console, const FileDiff& diff, std::size_t width) {
  std::string text = fmt::format("{} {}\n{} {}\n", console.red("---"), one_line(diff.before), console.green("+++"),
                                 one_line(diff.after));
  if (diff.identical) return text + "the same bytes\n";
  text +=
      wrap(fmt::format("{} differ{}, {} the same; {}", counted(diff.members.size(), "file", "files"),
                       diff.members.size() == 1 ? "s" : "", diff.same == 1 ? "1 is" : fmt::format("{} are", diff.same),
                       sizes(diff.before_bytes, diff.after_bytes)),
           "  ", "    ", width);
  text += changes_text(console, diff.changes, "  ");
  for (const auto& member : diff.members) text += "  " + member_text(console, member);
  return text;
}

}  // namespace sagekit::host
