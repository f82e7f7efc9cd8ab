#pragma once
// What `--from` may be.

#include <sagekit/resolve.hpp>

#include <string_view>

namespace sagekit {

bool is_address(std::string_view text);
/// The page of a release that people copy from their browser -> what its server gives programs; another address stays.
std::string listing_address(const std::string& from);
Result<IndexSettings> index_settings(const ResolveOptions& options);
/// The wheels that a file on this machine lists; those without an address lie beside it. Errors: FIL001, RES004.
Result<std::vector<Candidate>> wheels_listed_in(const std::string& file);

}  // namespace sagekit
