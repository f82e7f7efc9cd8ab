#pragma once
// The little JSON that the host writes itself; core writes the rest.

#include <string>
#include <string_view>
#include <vector>

namespace sagekit::host {

std::string json_string(std::string_view text);
/// {"schema":..., key:[rows]}, a row a line.
std::string json_document(std::string_view schema, std::string_view key, const std::vector<std::string>& rows);

}  // namespace sagekit::host
