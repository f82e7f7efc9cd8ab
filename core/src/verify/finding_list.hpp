#pragma once
// The list that all checks write to. A check says what it saw; the policy says what that means.

#include "verify/policy.hpp"

#include <sagekit/inspect.hpp>
#include <sagekit/verify.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// How a failure begins that only says that a required check could not be made: nothing about the wheel.
inline constexpr std::string_view k_not_made = "required, but could not be checked: ";

class FindingList {
 public:
  explicit FindingList(EffectivePolicy policy) : m_policy(std::move(policy)) {}
  FindingList(Policy policy, std::vector<std::string> require)
      : FindingList(EffectivePolicy{policy, nullptr, {}, {}, std::move(require)}) {}

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
  /// The same of a dist-info and of what was not checked in it; where nothing of it is wrong, that is said, too
  /// (INF100).
  void read_dist_info(const WheelFacts& wheel, std::string_view where);
  /// Found by somebody who knows how bad it is, a reader or a plugin's judge; rules and the policy file may differ.
  void found(std::string_view code, Severity severity, std::string message, std::string where = {},
             std::string hint = {});
  /// The rule does not hold, and the build was asked to leave it so.
  void waived(std::string_view code, std::string message, std::string where, std::string reason);
  /// As it is: no policy changes it.
  void add(Finding finding);

  /// Skips every code of the running check that it has said nothing about.
  void skip_rest(const std::string& reason, const std::string& hint = {});

  /// While it lives, what checks say must be of these codes: another one is a mistake of this program, and throws.
  class Scope {
   public:
    Scope(FindingList& findings, const std::vector<std::string_view>& codes) : m_list(findings) {
      findings.m_codes = &codes;
    }
    ~Scope() { m_list.m_codes = nullptr; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    FindingList& m_list;
  };

  Policy policy() const { return m_policy.base; }
  /// What was found so far, before waivers.
  const std::vector<Finding>& all() const { return m_findings; }
  bool said(std::string_view code) const { return m_groups.contains(code); }

  /// The report: waivers applied, sorted by code and place; `pass` set.
  WheelReport report(std::string path, std::string sha256, std::vector<RunsOn> runs_on) &&;

 private:
  void weigh(std::string_view code, Weight usual, std::string message, std::string where, std::string hint);
  void expect(std::string_view code) const;
  bool is_off(std::string_view code) const;
  bool is_required(std::string_view code) const;
  /// Every required family must have been looked at.
  void require_all();
  /// Returns the waivers that were needed, by number.
  std::vector<std::size_t> apply_waivers();

  /// The findings of one code.
  struct Group {
    std::size_t size = 0;
    std::size_t rest = 0;  ///< index of the one that stands for those beyond the limit
  };

  EffectivePolicy m_policy;
  std::map<std::string, Group, std::less<>> m_groups;
  std::vector<Finding> m_findings;
  const std::vector<std::string_view>* m_codes = nullptr;  ///< of the running check; null = none runs
};

std::string_view to_string(Severity severity);     ///< "error", "warning", "note"
std::string_view to_string(FindingResult result);  ///< "pass", "fail", "warn", "skipped", "waived"
/// "until 2026-12-31: reason"; "" = not waived.
std::string waiver_text(const Finding& finding);

}  // namespace sagekit
