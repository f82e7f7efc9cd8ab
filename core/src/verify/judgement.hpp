#pragma once
// The list that all checks write to. A check says what it saw; the policy says what that means.

#include "verify/rules.hpp"

#include <sagekit/verify.hpp>

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

class Judgement {
 public:
  Judgement(Policy policy, const std::vector<std::string>& require)
      : m_policy(policy), m_require(require.begin(), require.end()) {}

  /// The rule `code` does not hold. Its weight under the policy makes it a failure, a warning, a note or nothing.
  void broken(std::string_view code, std::string message, std::string where = {}, std::string hint = {});
  /// The check `code` is finished: a pass, unless it said something before.
  void done(std::string_view code, std::string message = {});
  /// The check could not be made. Of a family that is required, that is a failure.
  void skipped(std::string_view code, std::string reason, std::string hint = {});
  /// Something said that neither passes nor fails anything.
  void note(std::string_view code, std::string message, std::string where = {});
  /// What a reader could not read. Our own wheels have nothing that a reader so much as warns of in names, framing and
  /// dist-info.
  void read_problems(const Diagnostics& problems, std::string_view where);
  /// A finding whose weight somebody else decided: a plugin's judge, a waiver.
  void add(Finding finding);

  Policy policy() const { return m_policy; }
  bool said(std::string_view code) const { return m_said.contains(code); }

  /// The report: sorted by code and place; `pass` set.
  WheelReport report(std::string path, std::string sha256, std::vector<RunsOn> runs_on) &&;

 private:
  Policy m_policy;
  std::set<std::string, std::less<>> m_require;  ///< families
  std::set<std::string, std::less<>> m_said;     ///< codes with a finding
  std::vector<Finding> m_findings;
};

}  // namespace sagekit
