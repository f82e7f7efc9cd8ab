#pragma once
// Where systems keep the certificates that they trust.

#include <filesystem>

namespace sagekit {

/// The first file or folder that one of the known systems would have, below `root`; empty when there is none.
std::filesystem::path system_certificates(const std::filesystem::path& root = "/");

}  // namespace sagekit
