#pragma once
// A whole wheel: every member inflated once, hashed, its code read; dist-info judged against the file name and the
// content.

#include "archive/wheel_archive.hpp"
#include "inspect/record_judge.hpp"

#include <sagekit/inspect.hpp>

namespace sagekit {

/// Everything `inspect_file` says about a wheel. Members are inflated in parallel, as many at a time as fit into
/// `options.memory_bytes`; one that is larger alone. `options.wheel_name` replaces the file's own name.
FileFacts read_wheel(const WheelArchive& archive, const InspectOptions& options = {});

struct DistInfoTexts {
  std::string folder;  ///< "x-1.0.dist-info"
  std::optional<std::string> metadata, wheel, record, provenance;
  std::vector<std::string> folders;  ///< all *.dist-info folders at the top
  ReadMember read;                   ///< none: members have no hashes, and RECORD's are not compared
  std::filesystem::path file = {};   ///< that has them; "" = no wheel's file
};
/// What the wheel's own texts and its file name say about each other (NAM, INF). `members` are the facts of all
/// members, with their hashes. Exposed for tests and for judges of unpacked wheels.
void judge_dist_info(const DistInfoTexts& texts, const std::string& file_name, const std::vector<MemberFacts>& members,
                     WheelFacts& facts);

}  // namespace sagekit
