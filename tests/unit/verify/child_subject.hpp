#pragma once
// The demo's files as a subject, and what one check of child processes says of it, without all other checks.

#include "unit/verify/fixture.hpp"
#include "verify/judge.hpp"

#include <sagekit/inspect.hpp>

namespace sagekit::test {

/// What a check says of these files. `python`: "3.12", the one that the modules are for; "" = any.
struct ChildSubject {
  std::map<std::string, std::string> files;
  Spec spec;
  std::string python;
  std::vector<std::string> abi{"none"};  ///< of the wheel's name

  /// `code`: one that the check may say.
  std::vector<Finding> judged(std::string_view code, const VerifyOptions& options, CommandRunner& runner) const {
    Subject subject;
    subject.spec = &spec;
    subject.name.python = {"py3"};
    subject.name.abi = abi;
    subject.claims.python = python;
    subject.claims.torch = "2.11.0";
    subject.claims.cuda = "13.0";
    subject.claims.from = "the build record";
    subject.claims.commit = k_commit;
    for (const auto& [path, bytes] : files) {
      MemberFacts member;
      if (is_native(path)) {
        auto facts = inspect_bytes(path, bytes);
        REQUIRE(facts);
        member = std::move(*facts);
      }
      member.path = path;
      member.size_bytes = bytes.size();
      subject.members.push_back(std::move(member));
    }
    subject.read = [this](const std::string& path) -> Result<std::string> { return files.at(path); };
    choose_revision(subject);
    Judgement judgement(Policy::own, {});
    std::vector<RunsOn> rows;
    const auto check =
        std::ranges::find_if(checks(), [&](const Check& one) { return std::ranges::count(one.codes, code) > 0; });
    REQUIRE(run_check(*check, {subject, options, runner, rows}, judgement));
    return std::move(judgement).report("demo", "", {}).findings;
  }
};

}  // namespace sagekit::test
