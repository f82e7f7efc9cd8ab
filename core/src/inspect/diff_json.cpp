#include "support/json.hpp"

#include <sagekit/diff.hpp>

namespace sagekit {

namespace {

Json damage_json(const Diagnostics& damage) {
  Json list = Json::array();
  for (const auto& one : damage)
    list.push_back({{"code", one.code}, {"message", one.message}, {"where", one.where.file}, {"hint", one.hint}});
  return list;
}

void add_changes(Json& json, const Changes& changes) {
  Json& fields = json["fields"] = Json::array();
  for (const auto& field : changes.fields)
    fields.push_back({{"field", field.field}, {"before", field.before}, {"after", field.after}});
  Json& sets = json["sets"] = Json::array();
  for (const auto& set : changes.sets)
    sets.push_back({{"field", set.field}, {"removed", set.removed}, {"added", set.added}});
}

}  // namespace

std::string_view to_string(MemberChange::Kind kind) {
  switch (kind) {
    case MemberChange::Kind::added: return "added";
    case MemberChange::Kind::removed: return "removed";
    case MemberChange::Kind::changed: return "changed";
  }
  return "changed";
}

std::string diff_json(const FileDiff& diff) {
  Json json{{"schema", "sagekit.diff/1"}};
  json["before"] = {
      {"path", diff.before}, {"size_bytes", diff.before_bytes}, {"damage", damage_json(diff.before_damage)}};
  json["after"] = {{"path", diff.after}, {"size_bytes", diff.after_bytes}, {"damage", damage_json(diff.after_damage)}};
  json["identical"] = diff.identical;
  json["same_members"] = diff.same;
  add_changes(json, diff.changes);
  Json& members = json["members"] = Json::array();
  for (const auto& member : diff.members) {
    Json one{{"path", member.path},
             {"change", to_string(member.kind)},
             {"before_bytes", member.before_bytes},
             {"after_bytes", member.after_bytes}};
    if (!member.was.empty()) one["was"] = member.was;
    add_changes(one, member.changes);
    members.push_back(std::move(one));
  }
  return json_text(json);
}

}  // namespace sagekit
