#pragma once
// What `--from` may be.

#include <sagekit/resolve.hpp>

#include <string_view>

namespace sagekit {

bool is_address(std::string_view text);
/// The page of a release that people copy from their browser -> what its server gives programs; another address stays.
std::string listing_address(const std::string& from);
Result<IndexSettings> index_settings(const ResolveOptions& options);

}  // namespace sagekit
