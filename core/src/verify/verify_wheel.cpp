#include "inspect/wheel_archive.hpp"
#include "inspect/wheel_reader.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"
#include "verify/judge.hpp"
#include "verify/verification.hpp"

#include <sagekit/verify.hpp>

#include <algorithm>

namespace sagekit {

namespace {

namespace fs = std::filesystem;

/// A wheel that cannot even be listed: its report is the one reason.
Result<WheelReport> hopeless(const fs::path& wheel, const Error& error) {
  Judgement judgement(Policy::others, {});
  judgement.add({error.code, Severity::error, FindingResult::fail, error.message, error.where, error.hint});
  TRY_ASSIGN(auto sha256, sha256_file(wheel));
  return std::move(judgement).report(wheel.string(), std::move(sha256), {});
}

/// What a wheel says of itself: its record, else its version.
Claims claims_in(const WheelArchive& archive, const FileFacts& facts, Judgement& judgement) {
  const auto path = fmt::format("{}/{}", facts.wheel->dist_info, k_provenance_file);
  Claims claims = claims_of_version(facts.wheel->name.version);
  if (archive.find(path) == nullptr) return claims;
  const auto text = archive.read(path);
  auto recorded = text ? read_provenance(*text) : std::unexpected(text.error());
  if (recorded) return std::move(*recorded);
  judgement.broken("TRU003", recorded.error().message, path);
  return claims;
}

/// Of the plugins that make this distribution: the one the wheel was made with, else one that knows its commit, else
/// the first.
const Plugin* choose_plugin(const std::vector<const Plugin*>& plugins, const WheelName& name, const Claims& claims) {
  const Plugin* chosen = nullptr;
  bool knows_commit = false;
  for (const Plugin* plugin : plugins) {
    if (normalized_project(plugin->spec().metadata.name) != normalized_project(name.distribution)) continue;
    if (!claims.plugin.empty() && plugin->name() == claims.plugin) return plugin;
    const bool knows = !claims.commit.empty() && find_revision(plugin->spec(), claims.commit) != nullptr;
    if (chosen == nullptr || (knows && !knows_commit)) chosen = plugin, knows_commit = knows;
  }
  return chosen;
}

Result<Policy> policy_for(const VerifyOptions& options, const WheelFacts& wheel) {
  if (!options.policy.empty()) return parse_policy(options.policy);
  return wheel.generator.starts_with("sagekit ") ? Policy::own : Policy::others;
}

bool has_family(const Diagnostics& problems, std::string_view letters) {
  return std::ranges::any_of(problems, [&](const Diagnostic& one) { return family(one.code) == letters; });
}

/// One wheel and who may judge it. `spec` set: that one, whatever the distribution's name.
struct Question {
  const fs::path& wheel;
  const std::string& final_name;
  const std::vector<const Plugin*>& plugins;
  const Spec* spec = nullptr;
};

Result<WheelReport> judge_wheel(const Question& question, const VerifyOptions& options, CommandRunner& runner) {
  auto archive = WheelArchive::open(question.wheel);
  if (!archive && archive.error().kind != ErrorKind::failed) return std::unexpected(archive.error());
  if (!archive) return hopeless(question.wheel, archive.error());
  InspectOptions how;
  how.wheel_name = question.final_name;
  FileFacts facts = read_wheel(*archive, how);
  TRY_ASSIGN(const auto policy, policy_for(options, *facts.wheel));

  Judgement judgement(policy, options.require);
  judgement.read_problems(facts.wheel->problems, facts.wheel->name.file_name());
  if (!has_family(facts.wheel->problems, "ZIP")) judgement.done("ZIP100");
  if (!has_family(facts.wheel->problems, "INF")) judgement.done("INF100");

  Subject subject;
  subject.name = facts.wheel->name;
  subject.members = std::move(facts.members);
  subject.wheel = &*facts.wheel;
  subject.wheel_bytes = facts.size_bytes;
  subject.claims = claims_in(*archive, facts, judgement);
  subject.plugin = choose_plugin(question.plugins, subject.name, subject.claims);
  subject.spec = question.spec != nullptr    ? question.spec
                 : subject.plugin != nullptr ? &subject.plugin->spec()
                                             : nullptr;
  subject.read = [&archive](const std::string& path) { return archive->read(path); };
  choose_revision(subject);
  // Files that are no modules say here what could not be read in them.
  for (const auto& member : subject.members)
    if (!is_native(member.path)) judgement.read_problems(member.problems, member.path);
  return judge(subject, std::move(judgement), options, runner, question.wheel.string(), facts.sha256);
}

}  // namespace

Result<WheelReport> verify_wheel(const fs::path& wheel, const std::string& final_name,
                                 const std::vector<const Plugin*>& plugins, const VerifyOptions& options,
                                 CommandRunner& runner) {
  if (!options.policy.empty()) TRY(parse_policy(options.policy));
  return judge_wheel({wheel, final_name, plugins, nullptr}, options, runner);
}

Result<Verdict<VerifiedWheel>> verify_own_wheel(const fs::path& temporary, const std::string& final_name,
                                                const Spec& spec, const Plugin* plugin, const VerifyOptions& options,
                                                CommandRunner& runner) {
  VerifyOptions own = options;
  own.policy = "own";
  std::vector<const Plugin*> plugins;
  if (plugin != nullptr) plugins.push_back(plugin);
  TRY_ASSIGN(auto report, judge_wheel({temporary, final_name, plugins, &spec}, own, runner));
  if (!report.pass) return Verdict<VerifiedWheel>(std::unexpected(std::move(report)));
  return Verdict<VerifiedWheel>(Verification::wheel(temporary, final_name, std::move(report)));
}

}  // namespace sagekit
