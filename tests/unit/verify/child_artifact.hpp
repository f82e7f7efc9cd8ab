#pragma once
// The demo's files as an artifact, and what one check of child processes says of it, without all other checks.

#include "unit/verify/fixture.hpp"
#include "verify/judge.hpp"

#include <sagekit/inspect.hpp>

namespace sagekit::test {

/// What a check says of these files. `python`: "3.12", the one that the modules are for; "" = any.
struct ChildArtifact {
  std::map<std::string, std::string> files;
  Spec spec;
  std::string python;
  std::vector<std::string> abi{"none"};      ///< of the wheel's name
  mutable std::optional<GpuGate> gate = {};  ///< of the last check

  /// `code`: one that the check may say.
  std::vector<Finding> judged(std::string_view code, const VerifyOptions& options, CommandRunner& runner) const {
    Artifact artifact;
    artifact.spec = &spec;
    artifact.name.python = {"py3"};
    artifact.name.abi = abi;
    artifact.provenance.python = python;
    artifact.provenance.torch = "2.11.0";
    artifact.provenance.cuda = "13.0";
    artifact.provenance.from = "the build record";
    artifact.provenance.commit = k_commit;
    for (const auto& [path, bytes] : files) {
      MemberFacts member;
      if (is_native(path)) {
        auto facts = inspect_bytes(path, bytes);
        REQUIRE(facts);
        member = std::move(*facts);
      }
      member.path = path;
      member.size_bytes = bytes.size();
      artifact.members.push_back(std::move(member));
    }
    artifact.read = [this](const std::string& path) -> Result<std::string> { return files.at(path); };
    choose_revision(artifact);
    FindingList findings(Policy::own, {});
    CheckResults results;
    const auto check =
        std::ranges::find_if(checks(), [&](const Check& one) { return std::ranges::count(one.codes, code) > 0; });
    REQUIRE(run_check(*check, {artifact, options, runner, results}, findings));
    gate = results.gate;
    return std::move(findings).report("demo", "", {}).findings;
  }
};

}  // namespace sagekit::test
