#pragma once
// Texts that are published beside a wheel and name its hash: lists of checksums, attestations (PEP 740).

#include <sagekit/error.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

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
