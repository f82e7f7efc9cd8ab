#include "support/file.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"
#include "verify/judge.hpp"
#include "verify/prepare.hpp"
#include "verify/verification.hpp"

#include <sagekit/verify.hpp>

#include <algorithm>

namespace sagekit {

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
void check_recorded(const CellBuild& build, const std::vector<MemberFacts>& members, Judgement& judgement) {
  for (std::size_t i = 0; i < members.size(); ++i)
    if (members[i].sha256 != build.files[i].sha256)
      judgement.broken("CNT007", fmt::format("{} has changed since it was built", members[i].path), members[i].path,
                       "build again; something else writes to the store");
  judgement.done("CNT007");
}

}  // namespace

Result<Verdict<VerifiedBuild>> verify_build(const Spec& spec, const Plugin* plugin, const CellBuild& build,
                                            const VerifyOptions& options, CommandRunner& runner) {
  VerifyOptions own = options;
  if (own.policy.empty()) own.policy = "own";
  TRY_ASSIGN(auto standard, choose_standard(own, {}, build.cell.wheel));
  Judgement judgement(std::move(standard));
  Subject subject;
  subject.kind = Subject::Kind::build;
  subject.finished = false;
  TRY_ASSIGN(subject.name, parse_wheel_name(build.cell.wheel));
  subject.claims = claims_of(build);
  subject.spec = &spec;
  subject.plugin = plugin;
  for (const auto& staged : build.files) {
    auto facts = measure(staged);
    if (!facts && facts.error().kind != ErrorKind::failed) return std::unexpected(facts.error());
    if (facts) {
      subject.members.push_back(std::move(*facts));
    } else {
      judgement.found(facts.error().code, Severity::error, facts.error().message, staged.archive_path,
                      facts.error().hint);
      TRY_ASSIGN(auto sha256, sha256_file(staged.file));
      MemberFacts unread;
      unread.path = staged.archive_path;
      unread.sha256 = std::move(sha256);
      subject.members.push_back(std::move(unread));
    }
  }
  check_recorded(build, subject.members, judgement);
  std::ranges::sort(subject.members, {}, &MemberFacts::path);
  subject.read = [&build](const std::string& path) -> Result<std::string> {
    const auto found = std::ranges::find(build.files, path, &StagedFile::archive_path);
    if (found == build.files.end())
      return fail(ErrorKind::no_match, "VFY002", fmt::format("no file {} was built", path));
    return read_file(found->file);
  };
  choose_revision(subject);
  TRY_ASSIGN(auto report, judge(subject, std::move(judgement), options, runner, build.cell.id, {}));
  if (!report.pass) return Verdict<VerifiedBuild>(std::unexpected(std::move(report)));
  return Verdict<VerifiedBuild>(Verification::build(build, std::move(report)));
}

}  // namespace sagekit
