#pragma once
// What a step did, as it is kept in the store. Whatever is not exactly such a record is read as no record.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sagekit {

/// A file in the store, known by its content.
struct StoredObject {
  std::string sha256;
  std::uint64_t size_bytes = 0;
  bool operator==(const StoredObject&) const = default;
};

/// What a step took when it ran.
struct Measured {
  double cpu_seconds = 0, wall_seconds = 0;
  std::uint64_t peak_memory_bytes = 0;
  bool operator==(const Measured&) const = default;
};

struct RecordedOutput {
  std::string path;  ///< symbolic
  StoredObject object;
  bool operator==(const RecordedOutput&) const = default;
};

struct ActionRecord {
  std::vector<std::pair<std::string, std::string>> headers;  ///< symbolic or absolute path -> sha256 it had
  std::vector<RecordedOutput> outputs;
  Measured measured;
  bool fallback = false;  ///< made by the fallback argv
  bool operator==(const ActionRecord&) const = default;
};

std::string action_text(const ActionRecord& record);
std::optional<ActionRecord> parse_action(std::string_view text);

std::string measured_text(const Measured& measured);
std::optional<Measured> parse_measured(std::string_view text);

}  // namespace sagekit
