#pragma once
// What is published beside a wheel, held against the wheel: checksums and attestations. Signatures are not verified.

#include "verify/policy/judgement.hpp"

#include <sagekit/error.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

struct PublishedFile {
  const std::filesystem::path& path;
  std::string_view sha256;  ///< lower-case hex
};

/// TRU004 against `checksums`, else against SHA256SUMS or NAME.sha256 beside the file; TRU005 against
/// NAME.publish.attestation and NAME.provenance there. Where nothing lies beside it, nothing is said. Error FIL001
/// (usage): `checksums` cannot be read.
Status check_published(const PublishedFile& file, const std::filesystem::path& checksums, Judgement& judgement);

/// The hash that a text of sha256sum has for a file name (lower-case hex); nothing when it does not list it. Both of
/// the program's forms: "<hex>  name", "<hex> *name" and "SHA256 (name) = <hex>". Folders before a name do not count.
std::optional<std::string> listed_sha256(std::string_view text, std::string_view name);

/// Who an attestation says it is about.
struct AttestedSubject {
  std::string name, sha256;
};
/// The subjects of an attestation object (PEP 740), or of all in a provenance object. Error TRU005: it is neither.
Result<std::vector<AttestedSubject>> attested_subjects(std::string_view text);

}  // namespace sagekit
