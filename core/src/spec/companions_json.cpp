#include "spec/companions_json.hpp"

namespace sagekit {

Json companions_json(const std::vector<Companion>& companions) {
  auto list = Json::array();
  for (const Companion& companion : companions)
    list.push_back({{"name", companion.name},
                    {"url", companion.url},
                    {"commit", companion.commit},
                    {"needed", companion.needed},
                    {"not_needed", companion.not_needed},
                    {"requires_dist", companion.requires_dist},
                    {"source", companion.source}});
  return list;
}

}  // namespace sagekit
