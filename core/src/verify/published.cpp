#include "verify/published.hpp"

#include "pypa/published_hashes.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/naming.hpp>

#include <algorithm>

namespace sagekit {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t k_largest = 16 << 20;

/// The text of a file beside the wheel; nothing when there is none, or none that somebody would publish.
std::optional<std::string> beside(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error) || fs::file_size(file, error) > k_largest || error) return std::nullopt;
  auto text = read_file(file);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

void check_listed(const PublishedFile& file, std::string_view text, const fs::path& list, bool must, Judgement& out) {
  const auto name = file.path.filename().string();
  const auto listed = listed_sha256(text, name);
  if (!listed) {
    if (must)
      out.broken("TRU004", fmt::format("{} does not list {}", list.string(), name), list.string(),
                 "was it renamed after the list was made?");
    return;
  }
  if (*listed != file.sha256)
    out.broken("TRU004", fmt::format("its sha256 is {}, {} says {}", file.sha256, list.filename().string(), *listed),
               list.string(), "it is not the file that was published: fetch it again, and do not install this one");
  out.done("TRU004");
}

void check_attestation(const PublishedFile& file, const fs::path& path, Judgement& judgement) {
  const auto text = beside(path);
  if (!text) return;
  const auto where = path.filename().string();
  const auto subjects = attested_subjects(*text);
  if (!subjects) return judgement.broken("TRU005", subjects.error().message, where);
  const auto name = file.path.filename().string();
  for (const auto& subject : *subjects) {
    // Index and attestation may spell one name in two ways; as wheel names they are equal.
    const auto mine = parse_wheel_name(name), its = parse_wheel_name(subject.name);
    const bool same = subject.name == name || (mine && its && lower(mine->file_name()) == lower(its->file_name()));
    if (!same)
      judgement.broken("TRU005", fmt::format("it is about {}, not about {}", subject.name, name), where);
    else if (subject.sha256 != file.sha256)
      judgement.broken("TRU005",
                       fmt::format("it is about a file with sha256 {}, this one has {}", subject.sha256, file.sha256),
                       where, "it is not the file that was published: fetch it again, and do not install this one");
  }
  judgement.done("TRU005", "the attestations are about this file; who signed them was not verified");
}

}  // namespace

Status check_published(const PublishedFile& file, const fs::path& checksums, Judgement& judgement) {
  if (!checksums.empty()) {
    TRY_ASSIGN(const auto text, read_file(checksums));
    check_listed(file, text, checksums, true, judgement);
  } else {
    for (const auto& list : {file.path.parent_path() / "SHA256SUMS", fs::path(file.path.string() + ".sha256")})
      if (const auto text = beside(list)) check_listed(file, *text, list, false, judgement);
  }
  for (const auto* suffix : {".publish.attestation", ".provenance"})
    check_attestation(file, file.path.string() + suffix, judgement);
  return {};
}

}  // namespace sagekit
