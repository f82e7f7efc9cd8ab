// Wheel files, and staged files of a wheel to be.
#include "archive/wheel_archive.hpp"
#include "inspect/wheel_reader.hpp"
#include "spec/name_readings.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"
#include "verify/build_provenance.hpp"
#include "verify/checks/checks.hpp"
#include "verify/judge.hpp"

#include <sagekit/verify.hpp>

#include <algorithm>

namespace sagekit {

/// The one place that makes VerifiedBuild and VerifiedWheel, after a report passed.
struct Verification {
  static VerifiedBuild build(CellBuild build, WheelReport report) { return {std::move(build), std::move(report)}; }
  static VerifiedWheel wheel(std::filesystem::path file, std::string name, WheelReport report) {
    return {std::move(file), std::move(name), std::move(report)};
  }
};

namespace {

namespace fs = std::filesystem;

/// A wheel that cannot even be listed: its report is the one reason.
Result<WheelReport> unreadable_wheel(const fs::path& wheel, const Error& error, EffectivePolicy policy) {
  policy.require.clear();  // one reason is enough, and no policy makes a wheel of it
  policy.waives = false;
  FindingList findings(std::move(policy));
  findings.add({error.code, Severity::error, FindingResult::fail, error.message, error.where, error.hint});
  TRY_ASSIGN(auto sha256, sha256_file(wheel));
  auto report = std::move(findings).report(wheel.string(), std::move(sha256), {});
  report.kind = ArtifactKind::wheel;
  if (!report.waivers.empty())
    for (auto& finding : report.findings)
      finding.hint += (finding.hint.empty() ? "" : "; ") + std::string("no waiver makes a wheel of this file");
  return report;
}

bool has_family(const Diagnostics& problems, std::string_view letters) {
  return std::ranges::any_of(problems, [&](const Diagnostic& one) { return family(one.code) == letters; });
}

/// By its file name; where that is none of a wheel, by what METADATA and WHEEL say: what is inside is judged by them.
WheelName identity(const WheelFacts& wheel) {
  if (!wheel.name.distribution.empty()) return wheel.name;
  return parse_wheel_name(name_by_content(wheel)).value_or(WheelName{});
}

/// One wheel and who may judge it. `spec` set: that one, whatever the distribution's name.
struct Question {
  const fs::path& wheel;
  const std::string& final_name;
  const std::vector<const Plugin*>& plugins;
  const Spec* spec = nullptr;
};

Result<WheelReport> judge_wheel(const Question& question, const VerifyOptions& options, CommandRunner& runner,
                                FileFacts* read = nullptr) {
  const auto name = question.final_name.empty() ? question.wheel.filename().string() : question.final_name;
  TRY_ASSIGN(auto policy, effective_policy(options, {}, name));
  auto archive = WheelArchive::open(question.wheel);
  if (!archive && archive.error().kind != ErrorKind::failed) return std::unexpected(archive.error());
  if (!archive) return unreadable_wheel(question.wheel, archive.error(), std::move(policy));
  InspectOptions how = reading_options(options);
  how.wheel_name = question.final_name;
  FileFacts facts = read_wheel(*archive, how);
  TRY_ASSIGN(policy, effective_policy(options, facts.wheel->generator, name));

  FindingList findings(std::move(policy));
  findings.read_dist_info(*facts.wheel, facts.wheel->name.file_name());
  if (!has_family(facts.wheel->problems, "ZIP")) findings.done("ZIP100");

  Artifact artifact;
  artifact.name = identity(*facts.wheel);
  artifact.members = std::move(facts.members);
  artifact.wheel = &*facts.wheel;
  artifact.wheel_bytes = facts.size_bytes;
  artifact.finished = question.spec == nullptr;
  artifact.read = [&archive](const std::string& path) { return archive->read(path); };
  prepare(artifact, question.plugins, question.spec, options.schemes, findings);
  // A wheel that is being made has nothing published beside it yet.
  if (question.final_name.empty()) TRY(check_published({question.wheel, facts.sha256}, options.sha256_file, findings));
  auto report = judge(artifact, std::move(findings), options, runner, question.wheel.string(), facts.sha256);
  if (read != nullptr) {
    facts.members = std::move(artifact.members);
    *read = std::move(facts);
  }
  return report;
}

}  // namespace

Result<WheelReport> verify_wheel_file(const fs::path& wheel, const std::vector<const Plugin*>& plugins,
                                      const VerifyOptions& options, CommandRunner& runner, FileFacts& read) {
  return exceptions_as_errors(wheel,
                              [&] { return judge_wheel({wheel, "", plugins, nullptr}, options, runner, &read); });
}

Result<WheelReport> verify_wheel(const fs::path& wheel, const std::string& final_name,
                                 const std::vector<const Plugin*>& plugins, const VerifyOptions& options,
                                 CommandRunner& runner) {
  return exceptions_as_errors(wheel,
                              [&] { return judge_wheel({wheel, final_name, plugins, nullptr}, options, runner); });
}

Result<Verdict<VerifiedWheel>> verify_own_wheel(const fs::path& temporary, const std::string& final_name,
                                                const Spec& spec, const Plugin* plugin, const VerifyOptions& options,
                                                CommandRunner& runner) {
  VerifyOptions own = options;
  own.policy = "own";
  own.policy_file.reset();
  std::vector<const Plugin*> plugins;
  if (plugin != nullptr) plugins.push_back(plugin);
  TRY_ASSIGN(auto report, exceptions_as_errors(temporary, [&] {
               return judge_wheel({temporary, final_name, plugins, &spec}, own, runner);
             }));
  if (!report.pass) return Verdict<VerifiedWheel>(std::unexpected(std::move(report)));
  return Verdict<VerifiedWheel>(Verification::wheel(temporary, final_name, std::move(report)));
}

namespace {

/// What can be measured in a staged file. Only modules are read inside.
Result<MemberFacts> measure(const StagedFile& staged) {
  TRY_ASSIGN(const auto file, MappedFile::open(staged.file));
  const auto bytes = file.bytes();
  MemberFacts facts;
  if (is_native(staged.archive_path)) {
    InspectOptions how;
    how.resources = true;
    TRY_ASSIGN(facts, inspect_bytes(staged.archive_path, bytes, how));
  }
  facts.path = staged.archive_path;
  facts.size_bytes = bytes.size();
  facts.sha256 = sha256_hex(bytes);
  return facts;
}

/// Staged files are read twice, here and by `package`: they must be what the build recorded.
void check_recorded(const CellBuild& build, const std::vector<MemberFacts>& members, FindingList& findings) {
  for (std::size_t i = 0; i < members.size(); ++i)
    if (members[i].sha256 != build.files[i].sha256)
      findings.broken("CNT007", fmt::format("{} has changed since it was built", members[i].path), members[i].path,
                      "build again; something else writes to the store");
  findings.done("CNT007");
}

}  // namespace

Result<Verdict<VerifiedBuild>> verify_build(const Spec& spec, const Plugin* plugin, const CellBuild& build,
                                            const VerifyOptions& options, CommandRunner& runner) {
  VerifyOptions own = options;
  if (own.policy.empty()) own.policy = "own";
  TRY_ASSIGN(auto policy, effective_policy(own, {}, build.cell.wheel));
  FindingList findings(std::move(policy));
  Artifact artifact;
  artifact.kind = ArtifactKind::build;
  artifact.finished = false;
  TRY_ASSIGN(artifact.name, parse_wheel_name(build.cell.wheel));
  artifact.provenance =
      provenance_of(provenance_of(spec, build), name_readings(artifact.name, options.schemes, {&spec}), {});
  artifact.spec = &spec;
  artifact.plugin = plugin;
  for (const auto& staged : build.files) {
    auto facts = measure(staged);
    if (!facts && facts.error().kind != ErrorKind::failed) return std::unexpected(facts.error());
    if (facts) {
      artifact.members.push_back(std::move(*facts));
    } else {
      findings.found(facts.error().code, Severity::error, facts.error().message, staged.archive_path,
                     facts.error().hint);
      TRY_ASSIGN(auto sha256, sha256_file(staged.file));
      MemberFacts unread;
      unread.path = staged.archive_path;
      unread.sha256 = std::move(sha256);
      artifact.members.push_back(std::move(unread));
    }
  }
  check_recorded(build, artifact.members, findings);
  std::ranges::sort(artifact.members, {}, &MemberFacts::path);
  artifact.read = [&build](const std::string& path) -> Result<std::string> {
    const auto found = std::ranges::find(build.files, path, &StagedFile::archive_path);
    if (found == build.files.end())
      return fail(ErrorKind::no_match, "VFY002", fmt::format("no file {} was built", path));
    return read_file(found->file);
  };
  choose_revision(artifact);
  TRY_ASSIGN(auto report, judge(artifact, std::move(findings), options, runner, build.cell.id, {}));
  if (!report.pass) return Verdict<VerifiedBuild>(std::unexpected(std::move(report)));
  return Verdict<VerifiedBuild>(Verification::build(build, std::move(report)));
}

}  // namespace sagekit
