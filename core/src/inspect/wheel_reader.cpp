#include "inspect/wheel_reader.hpp"

#include "archive/zip_format.hpp"
#include "inspect/file_hash.hpp"
#include "inspect/module_reader.hpp"
#include "inspect/provenance.hpp"
#include "support/format.hpp"
#include "support/parallel.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"

#include <algorithm>

namespace sagekit {

namespace {

constexpr std::uint64_t k_range_reader_tail = 16 << 10;  // what installers that read by HTTP Range fetch first
constexpr std::string_view k_folder_suffix = ".dist-info";

MemberFacts unreadable(const ZipMember& member, const Error& error) {
  MemberFacts facts;
  facts.path = member.name;
  facts.size_bytes = member.size;
  facts.problems.push_back({Severity::error, error.code, error.message, {zip::printable(member.name), 0, 0, {}}, {}});
  return facts;
}

MemberFacts read_member(const WheelArchive& archive, const ZipMember& member, const InspectOptions& options,
                        unsigned threads, Inflater& inflater) {
  const auto content = archive.read(member, inflater);
  if (!content) return unreadable(member, content.error());
  MemberFacts facts = read_module(member.name, *content, options, threads).facts;
  if (options.member_hashes) facts.sha256 = sha256_hex(content->view());
  archive.file().forget(archive.bytes().substr(member.data_offset, member.compressed_size));
  return facts;
}

/// All members, in the order of the archive's list; and the hash of the whole file beside them.
std::vector<MemberFacts> read_members(const WheelArchive& archive, const InspectOptions& options, std::string& sha256) {
  const auto& members = archive.members();
  std::vector<std::uint64_t> costs;
  std::size_t large = 0;
  for (const ZipMember& member : members) {
    costs.push_back(member.readable ? member.size : 0);
    if (member.size > (1 << 20)) ++large;
  }
  if (options.whole_file && options.file_hash)
    costs.push_back(archive.bytes().size() / 4);  // stands for time only: the mapped file needs no memory of ours
  const unsigned threads = available_threads();
  const unsigned each =
      std::max<unsigned>(1, threads / static_cast<unsigned>(std::clamp<std::size_t>(large, 1, threads)));
  std::vector<MemberFacts> facts(members.size());
  run_with_workers(costs, options.memory_bytes, threads, [&] {
    return [&, inflater = std::make_shared<Inflater>()](std::size_t i) {
      if (i == members.size())
        sha256 = sha256_of(archive.file());
      else
        facts[i] = read_member(archive, members[i], options, each, *inflater);
    };
  });
  return facts;
}

DistInfoTexts read_texts(const WheelArchive& archive, const std::string& file_name) {
  DistInfoTexts texts;
  texts.folders = archive.dist_info_folders();
  if (texts.folders.empty()) return texts;
  texts.folder = texts.folders.front();
  for (const auto& folder : texts.folders)
    if (file_name.starts_with(folder.substr(0, folder.size() - k_folder_suffix.size()) + "-")) texts.folder = folder;
  const auto text = [&](std::string_view name) {
    const ZipMember* const member = archive.find(texts.folder + "/" + std::string(name));
    auto content = member == nullptr ? Result<std::string>(std::unexpected(Error{})) : archive.read(*member);
    return content ? std::optional<std::string>(std::move(*content)) : std::nullopt;
  };
  texts.metadata = text("METADATA");
  texts.wheel = text("WHEEL");
  texts.record = text("RECORD");
  texts.provenance = text(k_provenance_file);
  return texts;
}

/// Where dist-info lies in the archive, and what has no place in a wheel.
void judge_layout(const WheelArchive& archive, const std::string& dist_info, Problems& problems) {
  std::uint64_t first_inside = UINT64_MAX;
  std::uint64_t last_outside = 0;
  for (const ZipMember& member : archive.members()) {
    const bool inside = !dist_info.empty() && member.name.starts_with(dist_info + "/");
    if (inside)
      first_inside = std::min(first_inside, member.header_offset);
    else
      last_outside = std::max(last_outside, member.header_offset);
    const std::string_view name = std::string_view(member.name).substr(inside ? dist_info.size() + 1 : 0);
    const bool installer = inside && (name == "INSTALLER" || name == "REQUESTED" || name == "direct_url.json");
    if (inside && (name == "RECORD.jws" || name == "RECORD.p7s"))
      problems.warning("INF027", fmt::format("{} is a signature that nothing checks; PEP 815 ended them",
                                             zip::printable(member.name)));
    if (installer || name.ends_with(".pyc") || name.ends_with(".pyo"))
      problems.warning("INF022", fmt::format("{} has no place in a wheel", zip::printable(member.name)));
  }
  if (dist_info.empty()) return;
  if (first_inside < last_outside)
    problems.warning("INF020", "the dist-info folder is not the last thing in the archive");
  const ZipMember* const metadata = archive.find(dist_info + "/METADATA");
  if (metadata != nullptr && metadata->header_offset + k_range_reader_tail < archive.bytes().size())
    problems.note("INF021", "METADATA is not in the last 16 KiB, so installers cannot fetch it alone");
}

}  // namespace

FileFacts read_wheel(const WheelArchive& archive, const InspectOptions& options) {
  FileFacts facts;
  facts.path = archive.path().string();
  facts.kind = "wheel";
  facts.size_bytes = archive.bytes().size();
  facts.members = read_members(archive, options, facts.sha256);

  WheelFacts& wheel = facts.wheel.emplace();
  const std::string file_name = options.wheel_name.empty() ? archive.path().filename().string() : options.wheel_name;
  wheel.problems = archive.problems();
  DistInfoTexts texts = read_texts(archive, file_name);
  if (options.wheel_name.empty()) texts.file = archive.path();
  if (options.member_hashes) texts.read = [&archive](const std::string& path) { return archive.read(path); };
  judge_dist_info(texts, file_name, facts.members, wheel);
  Problems layout(file_name);
  judge_layout(archive, texts.folder, layout);
  for (auto& problem : layout.take()) wheel.problems.push_back(std::move(problem));
  return facts;
}

}  // namespace sagekit
