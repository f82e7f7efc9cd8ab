#pragma once
// What differs between two wheels or modules, from their facts alone.

#include <sagekit/export.hpp>
#include <sagekit/inspect.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// One value that is another now; "" = there was none, or there is none any more.
struct FieldChange {
  std::string field, before, after;
  bool or_newer = false;  ///< two releases from which on it is so: the toolkits that write a form of PTX
  bool operator==(const FieldChange&) const = default;
};

/// A set of names that lost and won some, both sorted.
struct SetChange {
  std::string field;
  std::vector<std::string> removed, added;
  bool operator==(const SetChange&) const = default;
};

struct Changes {
  std::vector<FieldChange> fields;
  std::vector<SetChange> sets;
  bool empty() const { return fields.empty() && sets.empty(); }
};

/// One file inside that is not the same in both.
struct MemberChange {
  enum class Kind { added, removed, changed } kind = Kind::changed;
  std::string path;  ///< in the second; of a removed one in the first
  std::string was;   ///< in the first, where its name is another: a module for another Python, another dist-info folder
  std::uint64_t before_bytes = 0, after_bytes = 0;
  Changes changes;
};

SAGEKIT_API std::string_view to_string(MemberChange::Kind kind);  ///< "added"

struct FileDiff {
  std::string before, after;  ///< paths
  std::uint64_t before_bytes = 0, after_bytes = 0;
  Changes changes;                          ///< of the file itself: name, metadata, tags
  std::vector<MemberChange> members;        ///< sorted by path
  std::uint64_t same = 0;                   ///< members that are equal, byte for byte
  bool identical = false;                   ///< the two files are, byte for byte
  Diagnostics before_damage, after_damage;  ///< the errors of reading each: what is said of those parts is not all
};

/// Compares what inspect_file said of both. As deep as those facts: kernel names and resources only where they were
/// read. Names of anonymous namespaces, which every compilation makes anew, count as equal.
SAGEKIT_API FileDiff diff_files(const FileFacts& before, const FileFacts& after);

/// {"schema":"sagekit.diff/1",...}: docs/json.md.
SAGEKIT_API std::string diff_json(const FileDiff& diff);

}  // namespace sagekit
