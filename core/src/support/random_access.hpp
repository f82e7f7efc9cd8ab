#pragma once
// A file read in pieces: from a server by ranges, or from disk.

#include <sagekit/error.hpp>

#include <cstdint>
#include <stop_token>
#include <string>

namespace sagekit {

/// Thread-safe.
class RandomAccess {
 public:
  virtual ~RandomAccess() = default;
  virtual std::uint64_t size() const = 0;
  /// Exactly `length` bytes; a range that reaches beyond the end is an error, never a short answer.
  virtual Result<std::string> read(std::uint64_t offset, std::uint64_t length, std::stop_token stop = {}) = 0;
  /// Bytes moved and requests made so far.
  virtual std::uint64_t bytes_read() const = 0;
  virtual std::uint64_t requests() const = 0;
};

}  // namespace sagekit
