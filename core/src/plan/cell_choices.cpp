#include "plan/cell_choices.hpp"

#include "plan/arches.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>
#include <utility>

namespace sagekit {
namespace {

using Matching = std::vector<const CellOverride*>;

void merge(std::vector<std::string>& words, const OverrideValue& value) {
  if (value.words.empty()) return;
  if (value.merge == Merge::none) words.clear();
  words.insert(value.merge == Merge::prepend ? words.begin() : words.end(), value.words.begin(), value.words.end());
}

/// An arch list is a set: before or behind is one.
Status merge_arches(Choice& choice, const OverrideValue& value, const Environment& environment) {
  if (value.words.empty()) return {};
  auto list = value.words.front();
  if (value.merge == Merge::none) {
    choice.and_default_arches = false;
  } else if (choice.arches) {
    for (const auto& arch : *choice.arches) list += ";" + to_string(arch);
  } else {
    choice.and_default_arches = true;
  }
  TRY_ASSIGN(choice.arches, parse_arch_list(list, native_capabilities(environment)));
  return {};
}

Status apply(Choice& choice, const CellOverride& override, const Spec& spec, const Environment& environment) {
  TRY(merge_arches(choice, override.arch, environment));
  if (!override.naming.words.empty()) {
    TRY_ASSIGN(choice.scheme, find_scheme(spec, override.naming.words.front(), choice.schemes));
  }
  merge(choice.requires_dist, override.requires_dist);
  return check_arches(spec, choice);
}

Result<Choice> choice_for(const Matching& matching, Choice choice, const Spec& spec, const Environment& environment) {
  for (const auto* override : matching)
    if (auto applied = apply(choice, *override, spec, environment); !applied) {
      applied.error().where = fmt::format("{}:{}", override->where.file, override->where.line);
      return std::unexpected(std::move(applied).error());
    }
  return choice;
}

std::string id_without_arches(const Spec& spec, const Matrix& matrix, Point point) {
  return base_id(spec.name, matrix, point) + matrix.platform.id_parts[point.platform];
}

Diagnostic matches_nothing(const CellOverride& override, const Spec& spec, const Matrix& matrix) {
  std::vector<std::string> ids;
  for (const auto point : matrix.points) ids.push_back(id_without_arches(spec, matrix, point));
  return {Severity::warning, "PLN013",
          fmt::format("no cell of plugin {} matches {}", spec.name, join(override.select, ", ")), override.where,
          "nearest ids: " + join(nearest_words(override.select.front(), std::move(ids), 3), ", ")};
}

}  // namespace

Result<CellChoices> CellChoices::make(const Spec& spec, const Matrix& matrix, const Request& request,
                                      const Environment& environment, Choice whole) {
  CellChoices made;
  made.m_choices.push_back(std::move(whole));
  if (request.overrides.empty()) return made;
  std::map<Matching, std::uint16_t> known;
  std::vector<bool> matched(request.overrides.size());
  for (const auto point : matrix.points) {
    const auto id = id_without_arches(spec, matrix, point);
    Matching matching;
    for (std::size_t i = 0; i < matched.size(); ++i) {
      if (!globs_select(request.overrides[i].select, id)) continue;
      matching.push_back(&request.overrides[i]);
      matched[i] = true;
    }
    if (matching.empty()) continue;
    const auto [at, is_new] = known.emplace(matching, static_cast<std::uint16_t>(made.m_choices.size()));
    if (is_new) {
      TRY_ASSIGN(auto choice, choice_for(matching, made.whole(), spec, environment));
      made.m_choices.push_back(std::move(choice));
    }
    made.m_index.emplace(point, at->second);
  }
  for (std::size_t i = 0; i < matched.size(); ++i)
    if (!matched[i]) made.m_unmatched.push_back(matches_nothing(request.overrides[i], spec, matrix));
  return made;
}

std::size_t CellChoices::index(Point point) const {
  const auto found = m_index.find(point);
  return found == m_index.end() ? 0 : found->second;
}

}  // namespace sagekit
