#include "inspect/archive_reader.hpp"

#include "inspect/module_reader.hpp"
#include "support/parallel.hpp"
#include "archive/archive.hpp"
#include "support/sha256.hpp"

#include <algorithm>
#include <array>

namespace sagekit {

constexpr std::uint64_t k_small_archive = std::uint64_t{64} << 20;  // may unpack to so much whatever its size

bool looks_like_archive(Bytes file) {
  using namespace std::string_view_literals;
  constexpr std::array k_starts{"\x1f\x8b"sv, "\xfd\x37zXZ\0"sv, "\x28\xb5\x2f\xfd"sv,
                                "BZh"sv,      "!<arch>\n"sv,     "PK\x03\x04"sv};
  return std::ranges::any_of(k_starts, [&](std::string_view start) { return file.starts_with(start); }) ||
         file.from(257).starts_with("ustar");
}

Result<FileFacts> read_archive_file(const std::string& path, Bytes file, const InspectOptions& options) {
  FileFacts facts;
  facts.path = path;
  facts.kind = "archive";
  facts.size_bytes = file.size();
  const unsigned threads = available_threads();
  const auto visit = [&](const std::string& name, std::string_view content) -> Status {
    MemberFacts member = read_module(name, Bytes(content), options, threads).facts;
    if (options.member_hashes) member.sha256 = sha256_hex(content);
    facts.members.push_back(std::move(member));
    return {};
  };
  // Deflate cannot pass 1032, and nothing that people build comes near it.
  const ArchiveLimits limits{.file_bytes = options.memory_bytes, .all_bytes = k_small_archive + file.size() * 1032};
  const auto walked = read_archive(file.view(), limits, visit);
  if (!walked && facts.members.empty()) {
    Error error = walked.error();
    error.where = path;
    return std::unexpected(std::move(error));
  }
  if (!walked) {
    MemberFacts rest;
    rest.path = "(the rest)";
    rest.problems.push_back({Severity::error, walked.error().code, walked.error().message, {path, 0, 0, {}}, {}});
    facts.members.push_back(std::move(rest));
  }
  std::ranges::stable_sort(facts.members, {}, &MemberFacts::path);
  if (options.whole_file && options.file_hash) facts.sha256 = sha256_hex(file.view());
  return facts;
}

}  // namespace sagekit
