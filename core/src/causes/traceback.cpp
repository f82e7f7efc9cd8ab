#include "causes/traceback.hpp"

#include "causes/conditions.hpp"
#include "support/text.hpp"

#include <algorithm>

namespace sagekit {

TracebackReader::TracebackReader(const TracebackRows& rows) : m_rows(rows), m_begin(rows.begin) {
  for (const auto& form : rows.forms) m_forms.push_back({Pattern(form.match), form.reach});
  for (const auto& owner : rows.owners) m_owners.emplace_back(owner.match);
}

/// Is the line a frame, so many lines from the one before?
bool TracebackReader::read_frame(std::string_view line, std::size_t distance, Owner& owner) const {
  PatternGroups groups;
  const auto form = std::ranges::find_if(
      m_forms, [&](const Form& one) { return distance <= one.reach && one.pattern.find(line, groups); });
  if (form == m_forms.end()) return false;
  owner = {nullptr, {}, groups["file"], groups["line"]};
  for (std::size_t i = 0; i < m_owners.size(); ++i) {
    PatternGroups found;
    if (!m_owners[i].find(owner.file, found)) continue;
    owner.row = &m_rows.owners[i];
    owner.name = found.contains("name") ? found["name"] : owner.row->kind;
    if (const auto known = m_rows.distributions.find(owner.name); known != m_rows.distributions.end())
      owner.name = known->second;
    break;
  }
  return true;
}

bool TracebackReader::may_follow(std::size_t distance) const {
  return std::ranges::any_of(m_forms, [&](const Form& one) { return distance < one.reach; });
}

/// From the innermost out.
std::vector<TracebackReader::Owner> TracebackReader::frames_before(std::string_view text, const Plain& plain) const {
  std::vector<Owner> frames;
  for (std::size_t distance = 1; !text.empty(); ++distance) {
    if (ends_line(text.back())) text.remove_suffix(1);
    const auto begin = text.find_last_of("\n\v") + 1;  // npos + 1 = 0
    const auto line = plain(text.substr(begin));
    text = text.substr(0, begin);
    Owner owner;
    if (read_frame(line, distance, owner)) {
      frames.push_back(std::move(owner));
      distance = 0;
    } else if (m_begin.in(line) || !may_follow(distance)) {
      break;
    }
  }
  return frames;
}

std::vector<TracebackReader::Owner> TracebackReader::frames_behind(std::string_view text, const Plain& plain) const {
  std::vector<Owner> frames;
  for (std::size_t distance = 1; !text.empty(); ++distance) {
    const auto end = std::min(text.find_first_of("\n\v"), text.size());
    const auto line = plain(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    Owner owner;
    if (read_frame(line, distance, owner)) {
      frames.push_back(std::move(owner));
      distance = 0;
    } else if (!may_follow(distance)) {
      break;
    }
  }
  std::ranges::reverse(frames);
  return frames;
}

bool TracebackReader::passes(const Owner& owner) const {
  return owner.row != nullptr && (owner.row->passes || contains(m_rows.passes, owner.name));
}

LogFacts TracebackReader::facts(std::string_view before, std::string_view behind, const Plain& plain) const {
  auto frames = frames_before(before, plain);
  if (frames.empty()) frames = frames_behind(behind, plain);
  LogFacts facts{{"frame", "none"}, {"frame_node", "none"}};
  if (frames.empty()) return facts;
  const auto asks = std::ranges::find_if(frames, [](const Owner& one) { return one.row != nullptr && one.row->asks; });
  if (asks != frames.end()) facts["frame_node"] = asks->name;
  auto owner = std::ranges::find_if(frames, [&](const Owner& one) { return !passes(one); });
  // What only serves those that ask for it is rarely where the fault is.
  if (owner != frames.end() && asks != frames.end() && owner->row != nullptr && owner->row->serves) owner = asks;
  if (owner == frames.end()) owner = frames.begin();
  facts["frame"] = owner->row != nullptr ? owner->row->kind : "own";
  facts["frame_owner"] = owner->name;
  facts["frame_place"] = owner->file.substr(owner->file.find_last_of("/\\") + 1) + " line " + owner->line;
  facts["frame_words"] = filled(owner->row != nullptr ? owner->row->words : m_rows.own_words, facts);
  return facts;
}

}  // namespace sagekit
