#include "resolve/look.hpp"

#include "archive/wheel_archive.hpp"
#include "index/curl_client.hpp"
#include "index/remote_file.hpp"
#include "index/remote_wheel.hpp"
#include "inspect/provenance.hpp"
#include "inspect/wheel_reader.hpp"
#include "resolve/kept_look.hpp"
#include "resolve/listing.hpp"
#include "resolve/module_facts.hpp"
#include "resolve/remote_modules.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"
#include "verify/judge.hpp"

#include <algorithm>

namespace sagekit {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t k_most_metadata = 8 << 20;

/// Passes where the plugin knows of a run that the wheel's own record does not.
constexpr std::string_view k_experimental = "WIN008";

/// Findings that mean it is not the wheel it seems to be: the archive, what RECORD says of it, and the checksums and
/// attestations beside it.
const Finding* damage_in(const WheelReport& report) {
  const auto found = std::ranges::find_if(report.findings, [](const Finding& finding) {
    return finding.result == FindingResult::fail &&
           (finding.code.starts_with("ZIP") || finding.code.starts_with("INF") || finding.code.starts_with("INS") ||
            finding.code.starts_with("NAM") || finding.code == "TRU004" || finding.code == "TRU005");
  });
  return found == report.findings.end() ? nullptr : &*found;
}

bool is_about_the_file(const Error& error) {
  // The rest is of the server or of this machine.
  static const std::vector<std::string> codes = {"IDX010", "IDX020", "IDX021", "IDX023", "IDX024"};
  return contains(codes, error.code);
}

}  // namespace

Result<HttpClient*> Looker::http() {
  const std::lock_guard lock(m_mutex);
  if (!m_http) {
    TRY_ASSIGN(const IndexSettings settings, index_settings(m_options));
    TRY_ASSIGN(m_http, make_http_client(settings));
  }
  return m_http.get();
}

Status Looker::look(const Candidate& candidate, Traits& traits) {
  if (m_stop.stop_requested())
    return fail(ErrorKind::interrupted, "IDX016", "stopped while looking into " + candidate.file);
  if (candidate.remote) return look_there(candidate, traits);
  const KeptLook kept(candidate, traits, m_target, m_options);
  if (auto known = kept.find()) {
    traits = std::move(*known);
    return {};
  }
  TRY(look_here(candidate, traits));
  kept.keep(traits);
  return {};
}

Status Looker::look_here(const Candidate& candidate, Traits& traits) {
  VerifyOptions how;
  how.policy = "others";
  how.child_environment = m_options.child_environment;
  FileFacts facts;
  auto report = verify_wheel_file(candidate.address, m_options.plugins, how, m_runner, facts);
  if (!report) return std::unexpected(report.error());
  traits.sha256 = report->sha256;
  if (!candidate.sha256.empty() && report->sha256 != candidate.sha256) {
    traits.damage =
        fmt::format("its sha256 is {}, {}: it is another file", report->sha256,
                    candidate.sha256_from.empty() ? candidate.sha256 + " was published"
                                                  : fmt::format("{} says {}", candidate.sha256_from, candidate.sha256));
    return {};
  }
  if (const Finding* damage = damage_in(*report)) {
    // Name and METADATA that differ are the same thing where METADATA alone is read.
    (damage->code == "INF006" ? traits.contradiction : traits.damage) =
        fmt::format("{} ({})", damage->message, damage->code);
    return {};
  }
  if (!facts.wheel) {
    traits.damage = "it cannot be read";
    return {};
  }
  const auto metadata = read_wheel_member(candidate.address, facts.wheel->dist_info + "/METADATA");
  if (metadata) add_metadata(traits, *metadata, candidate.file);
  if (const auto record =
          read_wheel_member(candidate.address, fmt::format("{}/{}", facts.wheel->dist_info, k_provenance_file)))
    add_record(traits, *record);
  const auto said = std::ranges::find(report->findings, k_experimental, &Finding::code);
  if (said != report->findings.end() && said->result == FindingResult::pass) traits.experimental.clear();
  Artifact artifact;
  artifact.name = facts.wheel->name;
  artifact.members = std::move(facts.members);
  artifact.wheel = &*facts.wheel;
  add_modules(artifact, m_target, traits);
  traits.runs_on = std::move(report->runs_on);
  traits.runs_on_from = "measured in the file";
  return {};
}

Status Looker::ask_for_metadata(const Candidate& candidate, Traits& traits) {
  TRY_ASSIGN(HttpClient* const client, http());
  HttpRequest request;
  request.url = candidate.address.substr(0, candidate.address.find_first_of("?#")) + ".metadata";
  request.max_bytes = k_most_metadata;
  const auto answer = client->get(request, m_stop);
  if (!answer) return std::unexpected(answer.error());
  if (candidate.core_metadata_sha256.size() == 64 && sha256_hex(answer->body) != candidate.core_metadata_sha256) {
    traits.damage = "the METADATA beside it is not what the index says it is (sha256)";
    return {};
  }
  add_metadata(traits, answer->body, "beside the wheel");
  return {};
}

Status Looker::look_there(const Candidate& candidate, Traits& traits) {
  if (!candidate.core_metadata_sha256.empty() && !traits.has_metadata) return ask_for_metadata(candidate, traits);
  TRY_ASSIGN(HttpClient* const client, http());
  if (!m_scratch) {
    TRY_ASSIGN(auto folder, TemporaryFolder::create(
                                m_options.scratch.empty() ? fs::temp_directory_path() : m_options.scratch, "resolve"));
    m_scratch.emplace(std::move(folder));
  }
  const auto damaged = [&](const Error& error) -> Status {
    if (!is_about_the_file(error)) return std::unexpected(error);
    traits.damage = error.message;
    return {};
  };
  auto file =
      open_remote_file(*client, candidate.address, candidate.size_bytes, m_scratch->path(), {}, 64 * 1024, m_stop);
  if (!file) return damaged(file.error());
  auto wheel = RemoteWheel::open(std::move(*file), m_stop);
  if (!wheel) return damaged(wheel.error());
  if (!traits.has_metadata) {
    const auto metadata = wheel->read(wheel->dist_info() + "/METADATA", m_stop);
    if (!metadata) return damaged(metadata.error());
    add_metadata(traits, *metadata, candidate.file);
  }
  const auto provenance = fmt::format("{}/{}", wheel->dist_info(), k_provenance_file);
  if (wheel->find(provenance) != nullptr)
    if (const auto text = wheel->read(provenance, m_stop)) add_record(traits, *text);
  if (!traits.damage.empty() || !traits.contradiction.empty()) return {};
  return read_remote_modules(*wheel, candidate, m_target, m_options, traits, m_stop);
}

}  // namespace sagekit
