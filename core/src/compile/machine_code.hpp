#pragma once
// Machine code of a cubin, kernel by kernel: what has to be equal when two ways of compiling claim the same result.

#include <sagekit/error.hpp>

#include <filesystem>
#include <map>
#include <string>

namespace sagekit {

/// Function -> sha256 of its instructions. Errors: BLD010 (failed), it is no cubin.
Result<std::map<std::string, std::string>> machine_code(const std::filesystem::path& cubin);

/// The first kernel that is not the same in both, and how; "" = none.
std::string first_difference(const std::map<std::string, std::string>& ours,
                             const std::map<std::string, std::string>& plain);

}  // namespace sagekit
