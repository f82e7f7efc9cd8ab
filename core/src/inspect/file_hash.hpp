#pragma once
// The hash of a whole file that is mapped.

#include "support/file.hpp"

#include <string>

namespace sagekit {

/// SHA-256 in hex. Pages are left behind as they are read: a large file needs no memory for this.
std::string sha256_of(const MappedFile& file);

}  // namespace sagekit
