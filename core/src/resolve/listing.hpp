#pragma once
// What `--from` may be.

#include <sagekit/resolve.hpp>

#include <string_view>

namespace sagekit {

bool is_address(std::string_view text);
Result<IndexSettings> index_settings(const ResolveOptions& options);

}  // namespace sagekit
