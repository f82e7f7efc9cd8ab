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

}  // namespace sagekit
