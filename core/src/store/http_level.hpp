#pragma once
// A second level that a server keeps: GET, HEAD and PUT of /cas/SHA256 (an object) and /ac/KEY (records).

#include "store/second_level.hpp"

#include <sagekit/index.hpp>

namespace sagekit {

struct HttpLevelOptions {
  std::string url;         ///< what stands before /cas and /ac
  std::string token;       ///< for this server alone; "" = none
  IndexSettings settings;  ///< proxies and certificates
};

/// Errors: IDX001 (machine), IDX017 (usage): no address.
Result<std::shared_ptr<SecondLevel>> http_level(HttpLevelOptions options, Say say);

}  // namespace sagekit
