#include "plugin/judge.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "verify/checks.hpp"
#include "verify/claims/python_text.hpp"

#include <algorithm>

namespace sagekit {

namespace {

/// The file of the defect's probe, if it has a top-level name twice; "" = not visible.
std::string duplicate_name(const Subject& subject, const Defect& defect) {
  if (defect.duplicate_def_file.empty() || subject.find(defect.duplicate_def_file) == nullptr) return {};
  const auto text = subject.read(defect.duplicate_def_file);
  if (!text) return {};
  const auto found = duplicate_defs(*text);
  return found.empty() ? std::string() : found.front().name;
}

bool has_code_for(const Subject& subject, Capability gpu) {
  return std::ranges::any_of(subject.members, [&](const MemberFacts& member) {
    return std::ranges::any_of(member.gpu, [&](const GpuCode& code) {
      return code.loaded && !code.lto && (code.ptx ? ptx_reaches(code.arch, gpu) : code_runs_on(code.arch, gpu));
    });
  });
}

/// Does it hurt a GPU that this artifact was made for? Where nothing is claimed, its code says.
bool concerns(const Subject& subject, const Defect& defect) {
  if (defect.capabilities.empty()) return true;
  return std::ranges::any_of(defect.capabilities, [&](Capability hurt) {
    if (!subject.claims.arches) return has_code_for(subject, hurt);
    return std::ranges::count(*subject.claims.arches, hurt, &ArchRequest::capability) > 0;
  });
}

void check_defects(const Subject& subject, const VerifyOptions& options, Judgement& judgement) {
  if (subject.spec == nullptr) return judgement.skipped("TRU001", "no loaded plugin knows this package's defects");
  const auto visible = visible_defects(subject);
  for (const auto& defect : subject.spec->source.defects) {
    if (!concerns(subject, defect)) continue;
    const bool seen = std::ranges::count(visible, &defect) > 0;
    // A defect that leaves no trace in Python files is judged by the source it comes from. One that an edit mends is
    // mended by every build of ours.
    const bool of_source = defect.duplicate_def_file.empty() && defect.refuse && defect.edit.empty() &&
                           subject.recorded && std::ranges::count(subject.revision->defects, defect.id) > 0;
    if (!seen && !of_source) continue;
    const auto message = fmt::format("known defect {}: {}", defect.id, defect.message);
    if (std::ranges::count(options.allowed_defects, defect.id) > 0)
      judgement.waived("TRU001", message, defect.duplicate_def_file, "the build was asked to leave it in");
    else
      judgement.broken("TRU001", message, defect.duplicate_def_file,
                       "build from a later revision, or with the plugin's edit");
  }
  if (!subject.is_recognised() && !judgement.said("TRU001")) return judgement.skipped("TRU001", unrecognised(subject));
  judgement.done("TRU001");
}

void check_record(const Subject& subject, Judgement& judgement) {
  if (subject.wheel == nullptr) return;
  if (subject.claims.from != k_provenance_file)
    judgement.broken("TRU002", fmt::format("there is no {} in dist-info", k_provenance_file), {},
                     "sagekit build writes it");
  judgement.done("TRU002");
  if (subject.spec == nullptr || subject.claims.commit.empty())
    return judgement.skipped("TRU003", "what it was built from is not recorded in it");
  if (!subject.recorded)
    judgement.broken(
        "TRU003", fmt::format("the {} plugin knows no source revision {}", subject.spec->name, subject.claims.commit),
        {}, "it was made with another version of the plugin");
  const Claims said = claims_of_version(subject.name.version);
  const auto differ = [&](std::string_view what, const std::string& name, const std::string& recorded) {
    if (name.empty() || recorded.empty() || recorded.starts_with(name) || name.starts_with(recorded)) return;
    judgement.broken("TRU003", fmt::format("the name says {} {}, the record {}", what, name, recorded));
  };
  differ("torch", said.torch, subject.claims.torch);
  differ("CUDA", said.cuda, subject.claims.cuda);
  differ("commit", said.commit, subject.claims.commit);
  const auto& abi = subject.name.abi;
  const auto tag = "cp" + without_dots(subject.claims.python);
  if (tag != "cp" && std::ranges::count(abi, "abi3") == 0 && std::ranges::count(subject.name.python, tag) == 0 &&
      std::ranges::any_of(subject.name.python, [](const std::string& one) { return one.starts_with("cp"); }))
    judgement.broken("TRU003", fmt::format("the name says Python {}, the record {}", join(subject.name.python, "."),
                                           subject.claims.python));
  judgement.done("TRU003");
}

JudgedArtifact artifact_of(const Subject& subject) {
  JudgedArtifact artifact;
  artifact.distribution = subject.name.distribution;
  artifact.version = subject.name.version;
  artifact.python = subject.claims.python;
  artifact.torch = subject.claims.torch;
  artifact.cuda = subject.claims.cuda;
  artifact.platform = subject.name.platform.empty() ? "" : subject.name.platform.front();
  for (const auto& member : subject.members) artifact.files.push_back(member.path);
  for (const auto& [name, member] : subject.modules()) {
    JudgedModule module{name, member->path, {}, {}, {}, member->gpu};
    if (member->elf) {
      module.needed = member->elf->needed;
      module.exports = member->elf->exports;
      module.undefined = member->elf->undefined;
    } else if (member->pe) {
      module.needed = member->pe->imports;
      module.exports = member->pe->exports;
    }
    artifact.modules.push_back(std::move(module));
  }
  artifact.read_file = [&subject](std::string_view path) -> std::optional<std::string> {
    if (subject.find(path) == nullptr) return std::nullopt;
    auto text = subject.read(std::string(path));
    if (!text) return std::nullopt;
    return std::move(*text);
  };
  return artifact;
}

}  // namespace

std::string unrecognised(const Subject& subject) {
  return fmt::format("its source is none that the plugin {} knows", subject.spec->name);
}

std::vector<const Defect*> visible_defects(const Subject& subject) {
  std::vector<const Defect*> found;
  if (subject.spec == nullptr) return found;
  for (const auto& defect : subject.spec->source.defects)
    if (!duplicate_name(subject, defect).empty()) found.push_back(&defect);
  return found;
}

void check_source(const Subject& subject, const VerifyOptions& options, Judgement& judgement) {
  check_defects(subject, options, judgement);
  check_record(subject, judgement);
}

void ask_plugin(const Subject& subject, Judgement& judgement) {
  if (subject.plugin == nullptr || !subject.plugin->has_judge()) return;
  for (auto& found : run_judge(*subject.plugin, artifact_of(subject)))
    judgement.found(found.code, found.severity, std::move(found.message), std::move(found.where));
}

}  // namespace sagekit
