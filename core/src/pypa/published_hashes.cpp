#include "pypa/published_hashes.hpp"

#include "support/json.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

namespace sagekit {

namespace {

std::string_view last_part(std::string_view path) { return path.substr(path.find_last_of("/\\") + 1); }

std::unexpected<Error> no_attestation(std::string why) {
  return fail(ErrorKind::failed, "TRU005", "it cannot be read as an attestation: " + std::move(why));
}

Result<AttestedSubject> subject_of(const Json& attestation) {
  const auto envelope = attestation.find("envelope");
  if (envelope == attestation.end()) return no_attestation("it has no envelope");
  const auto text = decode_base64(text_at(*envelope, "statement"));
  if (!text || text->empty()) return no_attestation("its statement is not base64");
  const Json statement = parse_json(*text);
  if (!statement.is_object()) return no_attestation("its statement is not a JSON object");
  const auto subjects = statement.find("subject");
  if (subjects == statement.end() || !subjects->is_array() || subjects->size() != 1)
    return no_attestation("its statement does not have exactly one subject");
  const Json& subject = subjects->front();
  AttestedSubject found{text_at(subject, "name"), {}};
  if (subject.is_object() && subject.contains("digest")) found.sha256 = lower(text_at(subject["digest"], "sha256"));
  if (found.name.empty() || !is_sha256(found.sha256)) return no_attestation("its subject has no name or no sha256");
  return found;
}

}  // namespace

std::optional<std::string> listed_sha256(std::string_view text, std::string_view name) {
  for (const auto& raw : split(text, '\n')) {
    std::string_view line(raw);
    if (line.ends_with('\r')) line.remove_suffix(1);
    std::string_view hash, path;
    if (line.starts_with("SHA256 (")) {
      const auto end = line.rfind(") = ");
      if (end == std::string_view::npos) continue;
      path = line.substr(8, end - 8);
      hash = line.substr(end + 4);
    } else {
      hash = line.substr(0, 64);
      if (line.size() < 67 || line[64] != ' ' || (line[65] != ' ' && line[65] != '*')) continue;
      path = line.substr(66);
    }
    if (auto digits = lower(hash); is_sha256(digits) && last_part(path) == name) return digits;
  }
  return std::nullopt;
}

Result<std::vector<AttestedSubject>> attested_subjects(std::string_view text) {
  const Json json = parse_json(text);
  if (!json.is_object()) return no_attestation("it is not a JSON object");
  std::vector<AttestedSubject> found;
  const auto bundles = json.find("attestation_bundles");
  if (bundles == json.end()) {
    TRY_ASSIGN(auto subject, subject_of(json));
    found.push_back(std::move(subject));
    return found;
  }
  for (const Json& bundle : *bundles) {
    if (!bundle.is_object() || !bundle.contains("attestations")) return no_attestation("a bundle has no attestations");
    for (const Json& attestation : bundle["attestations"]) {
      if (!attestation.is_object()) return no_attestation("an attestation is not a JSON object");
      TRY_ASSIGN(auto subject, subject_of(attestation));
      found.push_back(std::move(subject));
    }
  }
  if (found.empty()) return no_attestation("it holds none");
  return found;
}

}  // namespace sagekit
