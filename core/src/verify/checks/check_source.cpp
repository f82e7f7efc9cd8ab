// Where a wheel comes from: known defects of its source, what it says of itself, what is published beside it.
#include "plugin/judge.hpp"
#include "pypa/published_hashes.hpp"
#include "spec/name_values.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"
#include "verify/checks/checks.hpp"

#include <sagekit/naming.hpp>

#include <algorithm>
#include <set>

namespace sagekit {

namespace {

/// The first name that two lines `def NAME` at column 0 define; "" = none. No grammar is needed: only a file that a
/// defect names is looked at. `_` and overloads are meant to be repeated.
std::string defined_twice(std::string_view source) {
  std::set<std::string> names;
  bool overload = false;
  for (const auto& line : split(source, '\n')) {
    const auto word = line.starts_with("async ") ? line.find_first_not_of(' ', 6) : 0;
    if (line.compare(std::min(word, line.size()), 4, "def ") == 0) {
      const auto name = trim(line.substr(word + 4, line.find_first_of("([", word) - word - 4));
      if (!overload && name != "_" && !names.insert(name).second) return name;
    }
    overload = line.starts_with('@') && line.find("overload") != std::string::npos;
  }
  return {};
}

/// The file of the defect's probe, if it has a top-level name twice; "" = not visible.
std::string duplicate_name(const Artifact& artifact, const Defect& defect) {
  if (defect.duplicate_def_file.empty() || artifact.find(defect.duplicate_def_file) == nullptr) return {};
  const auto text = artifact.read(defect.duplicate_def_file);
  return text ? defined_twice(*text) : std::string();
}

bool has_code_for(const Artifact& artifact, Capability gpu) {
  return std::ranges::any_of(artifact.members, [&](const MemberFacts& member) {
    return std::ranges::any_of(member.gpu, [&](const GpuCode& code) {
      return code.loaded && !code.lto && (code.ptx ? ptx_reaches(code.arch, gpu) : code_runs_on(code.arch, gpu));
    });
  });
}

/// Does it hurt a GPU that this artifact was made for? Where nothing is claimed, its code says.
bool concerns(const Artifact& artifact, const Defect& defect) {
  if (defect.capabilities.empty()) return true;
  return std::ranges::any_of(defect.capabilities, [&](Capability hurt) {
    if (!artifact.provenance.arches) return has_code_for(artifact, hurt);
    return std::ranges::count(*artifact.provenance.arches, hurt, &ArchRequest::capability) > 0;
  });
}

JudgedArtifact judged_artifact(const Artifact& artifact) {
  JudgedArtifact judged;
  judged.distribution = artifact.name.distribution;
  judged.version = artifact.name.version;
  judged.python = artifact.provenance.python;
  judged.torch = artifact.provenance.torch;
  judged.cuda = artifact.provenance.cuda;
  judged.platform = artifact.name.platform.empty() ? "" : artifact.name.platform.front();
  for (const auto& member : artifact.members) judged.files.push_back(member.path);
  for (const auto& [name, member] : artifact.modules()) {
    JudgedModule module{name, member->path, {}, {}, {}, member->gpu};
    if (member->elf) {
      module.needed = member->elf->needed;
      module.exports = member->elf->exports;
      module.undefined = member->elf->undefined;
    } else if (member->pe) {
      module.needed = member->pe->imports;
      module.exports = member->pe->exports;
    }
    judged.modules.push_back(std::move(module));
  }
  judged.read_file = [&artifact](std::string_view path) -> std::optional<std::string> {
    if (artifact.find(path) == nullptr) return std::nullopt;
    auto text = artifact.read(std::string(path));
    if (!text) return std::nullopt;
    return std::move(*text);
  };
  return judged;
}

}  // namespace

std::string unrecognised(const Artifact& artifact) {
  if (!artifact.missing_plugin.empty())
    return fmt::format("it was made with the plugin {}, which is not loaded (--plugin-dir)", artifact.missing_plugin);
  return fmt::format("its source is none that the plugin {} knows", artifact.spec->name);
}

std::vector<const Defect*> visible_defects(const Artifact& artifact) {
  std::vector<const Defect*> found;
  if (artifact.spec == nullptr) return found;
  for (const auto& defect : artifact.spec->source.defects)
    if (!duplicate_name(artifact, defect).empty()) found.push_back(&defect);
  return found;
}

void check_defects(const Artifact& artifact, const VerifyOptions& options, FindingList& findings) {
  const auto visible = visible_defects(artifact);
  for (const auto& defect : artifact.spec->source.defects) {
    if (!concerns(artifact, defect)) continue;
    const bool seen = std::ranges::count(visible, &defect) > 0;
    // A defect that leaves no trace in Python files is judged by the source it comes from. One that an edit mends is
    // mended by every build of ours.
    const bool of_source = defect.duplicate_def_file.empty() && defect.refuse && defect.edit.empty() &&
                           artifact.recorded && std::ranges::count(artifact.revision->defects, defect.id) > 0;
    if (!seen && !of_source) continue;
    const auto message = fmt::format("known defect {}: {}", defect.id, defect.message);
    if (std::ranges::count(options.allowed_defects, defect.id) > 0)
      findings.waived("TRU001", message, defect.duplicate_def_file, "the build was asked to leave it in");
    else
      findings.broken("TRU001", message, defect.duplicate_def_file,
                      "build from a later revision, or with the plugin's edit");
  }
  if (!artifact.is_recognised() && !findings.said("TRU001")) return findings.skipped("TRU001", unrecognised(artifact));
}

void check_record(const Artifact& artifact, FindingList& findings) {
  if (artifact.provenance.from != k_provenance_file)
    findings.broken("TRU002", fmt::format("there is no {} in dist-info", k_provenance_file), {},
                    "sagekit build writes it");
  if (artifact.provenance.commit.empty())
    return findings.skipped("TRU003", "what it was built from is not recorded in it");
  if (artifact.spec == nullptr) return findings.skipped("TRU003", "no loaded plugin makes this package");
  if (!artifact.recorded && artifact.missing_plugin.empty())
    findings.broken(
        "TRU003",
        fmt::format("the {} plugin knows no source revision {}", artifact.spec->name, artifact.provenance.commit), {},
        "it was made with another version of the plugin");
  const auto& said = artifact.provenance.named;
  const auto differ = [&](std::string_view what, const std::string& name, const std::string& recorded) {
    if (name.empty() || recorded.empty() || recorded.starts_with(name) || name.starts_with(recorded)) return;
    findings.broken("TRU003", fmt::format("the name says {} {}, the record {}", what, name, recorded));
  };
  if (artifact.provenance.is_recorded()) {
    differ("torch", said.torch, artifact.provenance.torch);
    differ("CUDA", said.cuda, artifact.provenance.cuda);
    if (is_commit(said.revision)) differ("commit", said.revision, artifact.provenance.commit);
  }
  const auto& abi = artifact.name.abi;
  const auto tag = "cp" + without_dots(artifact.provenance.python);
  if (tag != "cp" && std::ranges::count(abi, "abi3") == 0 && std::ranges::count(artifact.name.python, tag) == 0 &&
      std::ranges::any_of(artifact.name.python, [](const std::string& one) { return one.starts_with("cp"); }))
    findings.broken("TRU003", fmt::format("the name says Python {}, the record {}", join(artifact.name.python, "."),
                                          artifact.provenance.python));
  if (!artifact.recorded && !findings.said("TRU003")) findings.skipped("TRU003", unrecognised(artifact));
}

void ask_plugin(const Artifact& artifact, FindingList& findings) {
  if (artifact.plugin == nullptr || !artifact.plugin->has_judge()) return;
  for (auto& found : run_judge(*artifact.plugin, judged_artifact(artifact)))
    findings.found(found.code, found.severity, std::move(found.message), std::move(found.where));
}

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

void check_listed(const PublishedFile& file, std::string_view text, const fs::path& list, bool must, FindingList& out) {
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

void check_attestation(const PublishedFile& file, const fs::path& path, FindingList& findings) {
  const auto text = beside(path);
  if (!text) return;
  const auto where = path.filename().string();
  const auto attested = attested_subjects(*text);
  if (!attested) return findings.broken("TRU005", attested.error().message, where);
  const auto name = file.path.filename().string();
  for (const auto& one : *attested) {
    // Index and attestation may spell one name in two ways; as wheel names they are equal.
    const auto mine = parse_wheel_name(name), its = parse_wheel_name(one.name);
    const bool same = one.name == name || (mine && its && lower(mine->file_name()) == lower(its->file_name()));
    if (!same)
      findings.broken("TRU005", fmt::format("it is about {}, not about {}", one.name, name), where);
    else if (one.sha256 != file.sha256)
      findings.broken("TRU005",
                      fmt::format("it is about a file with sha256 {}, this one has {}", one.sha256, file.sha256), where,
                      "it is not the file that was published: fetch it again, and do not install this one");
  }
  findings.done("TRU005", "the attestations are about this file; who signed them was not verified");
}

}  // namespace

Status check_published(const PublishedFile& file, const fs::path& checksums, FindingList& findings) {
  if (!checksums.empty()) {
    TRY_ASSIGN(const auto text, read_file(checksums));
    check_listed(file, text, checksums, true, findings);
  } else {
    for (const auto& list : {file.path.parent_path() / "SHA256SUMS", fs::path(file.path.string() + ".sha256")})
      if (const auto text = beside(list)) check_listed(file, *text, list, false, findings);
  }
  for (const auto* suffix : {".publish.attestation", ".provenance"})
    check_attestation(file, file.path.string() + suffix, findings);
  return {};
}

}  // namespace sagekit
