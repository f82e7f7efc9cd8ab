#pragma once
// Archives that are no wheels: source distributions, release tarballs, Debian packages. What is in them is listed and
// read as a wheel's members are; how they are framed is not judged.

#include "support/bytes.hpp"

#include <sagekit/inspect.hpp>

#include <string>

namespace sagekit {

/// By its first bytes: a tar, ar or zip archive, or something compressed that may hold a tar.
bool looks_like_archive(Bytes file);

/// Kind "archive", all plain files sorted by path. Damage that leaves something to list is a problem of the first
/// member that is missing. Errors (failed): INS060 when not even one file can be listed.
Result<FileFacts> read_archive_file(const std::string& path, Bytes file, const InspectOptions& options);

}  // namespace sagekit
