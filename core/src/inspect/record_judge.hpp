#pragma once
// RECORD against what the wheel holds.

#include "support/problems.hpp"

#include <sagekit/inspect.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// Every file once, with the SHA-256 and size it has; RECORD itself without both; nothing that is not there (INF012 to
/// INF019, INF026). A member whose hash is not known (it could not be read) cannot be right; with `hashed` false nobody
/// asked for hashes and they are not compared.
void judge_record(std::string_view text, const std::string& dist_info, const std::vector<MemberFacts>& members,
                  bool hashed, Problems& problems);

/// RECORD's form ("sha256=" and urlsafe base64) of a hash in hex; "" when it is not 64 hex digits.
std::string record_form(std::string_view sha256_hex);

}  // namespace sagekit
