#include "support/json.hpp"
#include "toolchain/lock.hpp"

#include <sagekit/provision.hpp>

namespace sagekit {

std::string fetched_json(const std::vector<Provisioned>& list) {
  auto rows = Json::array();
  for (const auto& item : list)
    rows.push_back({{"id", item.tree.id},
                    {"kind", to_string(item.tree.kind)},
                    {"version", item.tree.version},
                    {"cuda", item.tree.cuda},
                    {"platform", item.tree.platform},
                    {"source", to_string(item.tree.source)},
                    {"path", item.tree.folder.string()},
                    {"fetched", item.fetched},
                    {"bytes", item.bytes},
                    {"requests", item.requests},
                    {"seconds", item.seconds}});
  return json_text({{"schema", "sagekit.fetch/1"}, {"trees", rows}});
}

std::string checked_trees_json(const std::vector<CheckedTree>& list) {
  auto rows = Json::array();
  for (const auto& checked : list)
    rows.push_back({{"id", checked.tree.id},
                    {"path", checked.tree.folder.string()},
                    {"whole", checked.problems.empty()},
                    {"problems", checked.problems}});
  return json_text({{"schema", "sagekit.toolchain-verify/1"}, {"trees", rows}});
}

std::string removed_trees_json(const std::vector<Tree>& trees, const std::vector<std::filesystem::path>& unfinished) {
  auto rows = Json::array(), folders = Json::array();
  for (const auto& tree : trees) rows.push_back({{"id", tree.id}, {"path", tree.folder.string()}});
  for (const auto& folder : unfinished) folders.push_back(folder.string());
  return json_text({{"schema", "sagekit.toolchain-remove/1"}, {"trees", rows}, {"unfinished", folders}});
}

}  // namespace sagekit
