#pragma once
// A file on a server as RandomAccess. The first request asks for the end of the file, which says its size and whether
// the server knows ranges; where it does not, the whole file comes down once into `scratch` and is read from there,
// or is an error (IDX008, IDX009) where that is "".

#include "index/http.hpp"
#include "support/random_access.hpp"

#include <filesystem>
#include <functional>
#include <memory>

namespace sagekit {

/// Called after each answer with the bytes that came; from any thread.
using TransferProgress = std::function<void(std::uint64_t bytes)>;

/// `expected_size`: what the index or the lock says, 0 = unknown; another size is an error (IDX010: it was replaced).
/// `http` must outlive the file. `tail` bytes of the end are kept from the first request: a read inside them costs
/// none.
Result<std::unique_ptr<RandomAccess>> open_remote_file(HttpClient& http, std::string url, std::uint64_t expected_size,
                                                       std::filesystem::path scratch, TransferProgress progress = {},
                                                       std::uint64_t tail = 64 * 1024, std::stop_token stop = {});

/// A local file, for whole downloads and tests.
Result<std::unique_ptr<RandomAccess>> open_local_file(const std::filesystem::path& path);

/// Downloads the whole of it to `path` (atomically: first beside it, resumed when cut) and returns its sha256 in hex.
/// What a stopped process left is taken up again.
Result<std::string> download_file(HttpClient& http, const std::string& url, const std::filesystem::path& path,
                                  std::uint64_t expected_size, const TransferProgress& progress = {},
                                  std::stop_token stop = {});

}  // namespace sagekit
