#pragma once
// RECORD against what the wheel holds.

#include "support/problems.hpp"

#include <sagekit/error.hpp>
#include <sagekit/inspect.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// The content of a member, for hashes that are not in its facts.
using ReadMember = std::function<Result<std::string>(const std::string& path)>;

/// Every file once, with the hash and size it has; RECORD itself without both; nothing that is not there (INF012 to
/// INF019, INF026). A member whose hash is not known (it could not be read) cannot be right; with no `read` nobody
/// asked for hashes and they are not compared. Hashes that RECORD may have and that are not computed here are no fault
/// and go into what comes back (INF016), a row an algorithm.
Diagnostics judge_record(std::string_view text, const std::string& dist_info, const std::vector<MemberFacts>& members,
                         const ReadMember& read, Problems& problems);

}  // namespace sagekit
