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
  std::uint64_t disk_bytes = 0;  ///< of files between; 0 = nobody looked
  bool operator==(const Measured&) const = default;
};

struct RecordedOutput {
  std::string path;  ///< symbolic
  StoredObject object;
  bool operator==(const RecordedOutput&) const = default;
};

struct ActionRecord {
  std::vector<std::pair<std::string, std::string>> headers;  ///< symbolic path, or one below /usr -> sha256 it had
  std::vector<RecordedOutput> outputs;
  Measured measured;
  bool fallback = false;  ///< made by the fallback argv
  std::string epoch;      ///< the SOURCE_DATE_EPOCH it was made with, where what was read names the time; else ""
  bool operator==(const ActionRecord&) const = default;
};

/// How a record's file ends.
inline constexpr std::string_view k_record_suffix = ".txt";

/// A line a fact, and a last one, so that a text that was cut off is none. A path with a line break in it makes a text
/// that is read as no record: what compilers list has none.
std::string action_text(const ActionRecord& record);
std::optional<ActionRecord> parse_action(std::string_view text);

std::string parts_text(const std::vector<std::pair<std::string, std::string>>& parts);
std::vector<std::pair<std::string, std::string>> parse_parts(std::string_view text);  ///< empty for anything else

std::string measured_text(const Measured& measured);
std::optional<Measured> parse_measured(std::string_view text);

}  // namespace sagekit
