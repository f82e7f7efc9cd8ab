#include "inspect/record_judge.hpp"

#include "archive/zip_format.hpp"
#include "pypa/metadata_reader.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace sagekit {

namespace {

/// What RECORD may have beside what record_hash computes: hashlib.algorithms_guaranteed without md5, sha1 and sha224
/// ("Recording installed packages", "Binary distribution format").
constexpr std::array<std::string_view, 4> k_not_computed{"blake2b", "blake2s", "shake_128", "shake_256"};

/// Files by the algorithm that RECORD hashes them by and that is not computed here.
using Unchecked = std::map<std::string, std::vector<std::string>>;

/// What RECORD should say of a file, by the algorithm that it chose. "": the file could not be read.
std::optional<std::string> right_hash(std::string_view algorithm, const MemberFacts& member, const ReadMember& read) {
  if (algorithm == "sha256") return sha256_record_of_hex(member.sha256);
  if (member.sha256.empty()) return "";
  const auto content = read(member.path);
  return content ? record_hash(algorithm, *content) : "";
}

void judge_row(const RecordRow& row, const MemberFacts& member, const ReadMember& read, Problems& problems,
               Unchecked& unchecked) {
  const std::string shown = zip::printable(row.path);
  const std::string algorithm = row.hash.substr(0, row.hash.find('='));
  if (row.hash.empty() || row.size.empty())
    return problems.error("INF018", fmt::format("RECORD has no hash or size for {}", shown));
  if (algorithm == "md5" || algorithm == "sha1" || algorithm == "sha224")
    return problems.error("INF018",
                          fmt::format("RECORD hashes {} by {}, which is too weak to be allowed", shown, algorithm));
  const bool computed = record_hash(algorithm, {}).has_value();
  if (!computed && std::ranges::find(k_not_computed, algorithm) == k_not_computed.end())
    return problems.error("INF018", fmt::format("RECORD hashes {} by {}, which is no hash that RECORD may have", shown,
                                                zip::printable(algorithm)));
  // Of the member, so that what is said of a module's code does not outweigh it.
  const auto wrong = [&](const char* code, std::string message) {
    problems.add({{Severity::error, code, std::move(message), {member.path, 0, 0, {}}, {}}});
  };
  if (!computed)
    unchecked[algorithm].push_back(shown);
  else if (read != nullptr && row.hash != right_hash(algorithm, member, read))
    wrong("INF016", fmt::format("{} does not have the hash that RECORD says", shown));
  if (row.size != std::to_string(member.size_bytes))
    wrong("INF017", fmt::format("{} has {} bytes, RECORD says {}", shown, member.size_bytes, zip::printable(row.size)));
}

}  // namespace

Diagnostics judge_record(std::string_view text, const std::string& dist_info, const std::vector<MemberFacts>& members,
                         const ReadMember& read, Problems& problems) {
  Unchecked unchecked;
  const RecordText record = read_record(text);
  for (const auto& fault : record.faults) problems.error("INF012", "RECORD is damaged: " + fault);
  std::map<std::string_view, const MemberFacts*> files;
  for (const MemberFacts& member : members)
    if (!member.path.ends_with('/')) files.emplace(member.path, &member);

  const std::string own = dist_info + "/RECORD";
  const std::set<std::string> unhashed = {own, own + ".jws", own + ".p7s"};
  std::set<std::string_view> listed;
  for (const RecordRow& row : record.rows) {
    const std::string shown = zip::printable(row.path);
    if (!listed.insert(row.path).second) {
      problems.error("INF015", fmt::format("RECORD lists {} twice", shown));
      continue;
    }
    const auto found = files.find(row.path);
    if (found == files.end())
      problems.error("INF014", fmt::format("RECORD lists {}, which the wheel does not hold", shown));
    else if (!unhashed.contains(row.path))
      judge_row(row, *found->second, read, problems, unchecked);
    else if (row.path == own && (!row.hash.empty() || !row.size.empty()))
      problems.error("INF026", "RECORD gives a hash or size for itself");
  }
  for (const auto& [path, member] : files) {
    if (listed.contains(path)) continue;
    if (path == own)
      problems.error("INF019", "RECORD does not list itself");
    else if (!unhashed.contains(std::string(path)))
      problems.error("INF013", fmt::format("RECORD does not list {}", zip::printable(path)));
  }
  Diagnostics notes;
  for (const auto& [algorithm, paths] : unchecked) {
    if (read == nullptr) break;
    const auto more = paths.size() == 1 ? "" : fmt::format(" and {} more", paths.size() - 1);
    notes.push_back(
        {Severity::note,
         "INF016",
         fmt::format("RECORD hashes {}{} by {}, which sagekit does not compute", paths.front(), more, algorithm),
         {},
         "sha256 is what every tool computes"});
  }
  return notes;
}

}  // namespace sagekit
