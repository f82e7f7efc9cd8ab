#include "elf/symbol_name.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "verify/abi/torch_abi.hpp"
#include "verify/checks.hpp"
#include "verify/claims/declared_torch.hpp"

#include <algorithm>
#include <map>

namespace sagekit {

namespace {

/// PyTorch's releases for Linux have been built with the C++ ABI of GCC 5 since this one.
constexpr std::string_view k_first_new_strings = "2.7";

std::string minor_of(const VersionNumber& version) { return fmt::format("{}.{}", version.major(), version.minor()); }

/// "2.7 to 2.9", "2.11", "2.7, 2.13".
std::string list_of(const std::vector<VersionNumber>& fits) {
  const auto known = fits.size() < 2 ? fits : std::vector{fits.front(), fits.back()};
  std::vector<std::string> texts;
  for (const auto& version : known) texts.push_back(minor_of(version));
  return join(texts, " to ");
}

class TorchCheck {
 public:
  TorchCheck(const Subject& subject, Judgement& judgement)
      : m_subject(subject), m_judgement(judgement), m_oldest(oldest_torch(subject)) {
    if (const auto declared = declared_torch(subject))
      if (const auto number = parse_version_number(declared->version)) m_declared = *number;
  }

  void module(const MemberFacts& member) {
    const TorchUse use = torch_use(m_subject, member);
    if (!use.any()) return;
    strings(use, member);
    if (use.is_stable()) return stable(use, member);
    linked_with(use, member);
  }

  void end() {
    for (const auto& [text, places] : m_notes)
      m_judgement.note("TAB003", places.size() == 1 ? text : fmt::format("{} modules: {}", places.size(), text),
                       places.size() == 1 ? places.front() : "");
    for (const auto code : {"TAB001", "TAB002", "TAB003", "TAB004"})
      m_judgement.done(code, m_any ? "" : "no module uses torch");
  }

 private:
  void say(std::string text, const MemberFacts& member) { m_notes[std::move(text)].push_back(member.path); }

  void strings(const TorchUse& use, const MemberFacts& member) {
    m_any = true;
    const auto old = std::ranges::find_if(use.unstable, wants_old_strings);
    const auto first = parse_version_number(k_first_new_strings);
    if (old == use.unstable.end() || !first || !m_oldest || *m_oldest < *first) return;
    m_judgement.broken(
        "TAB001",
        fmt::format("it wants {} with the strings of the C++ ABI before GCC 5, which torch {} does not have",
                    name_for_people(*old), minor_of(*m_oldest)),
        member.path, "compile with -D_GLIBCXX_USE_CXX11_ABI=1");
  }

  void stable(const TorchUse& use, const MemberFacts& member) {
    say(fmt::format("only torch's stable ABI is used, for which torch {} is new enough ({})", minor_of(*use.since),
                    use.newest),
        member);
    if (!m_oldest) {
      if (!m_judgement.said("TAB002"))
        m_judgement.skipped("TAB002", "nothing says which torch is the oldest that the wheel is for");
      return;
    }
    if (*m_oldest < *use.since && minor_of(*m_oldest) != minor_of(*use.since))
      m_judgement.broken("TAB002",
                         fmt::format("it uses {}, which came with torch {}; the wheel allows torch {}", use.newest,
                                     minor_of(*use.since), minor_of(*m_oldest)),
                         member.path, fmt::format("require torch>={}", minor_of(*use.since)));
  }

  void linked_with(const TorchUse& use, const MemberFacts& member) {
    if (!member.elf) return say("torch's C++ ABI is used, which changes with each minor release", member);
    const auto print = torch_fingerprint(use.unstable);
    const auto old = std::ranges::find_if(use.unstable, wants_old_strings);
    if (old != use.unstable.end())
      say("torch's C++ ABI is used, with the strings of before GCC 5: torch 2.6 or older", member);
    else if (!print)
      say("torch's C++ ABI is used, but nothing of it that tells which torch it was linked with", member);
    else if (print->fits.empty())
      say("torch's C++ ABI is used, as no known torch since 2.7 has it", member);
    else
      say(fmt::format("torch's C++ ABI is used, as torch {} has it", list_of(print->fits)), member);
    if (!print || !m_declared) return;
    if (const auto missing = print->missing_in(*m_declared))
      m_judgement.broken(
          "TAB004",
          fmt::format("it wants {}, which torch {} does not have{}", name_for_people(*missing), minor_of(*m_declared),
                      print->fits.empty() ? "" : fmt::format("; torch {} has it", list_of(print->fits))),
          member.path, "it was linked with another torch than the wheel names");
  }

  const Subject& m_subject;
  Judgement& m_judgement;
  std::optional<VersionNumber> m_oldest, m_declared;
  std::map<std::string, std::vector<std::string>> m_notes;  ///< text -> members
  bool m_any = false;
};

}  // namespace

void check_torch_abi(const Subject& subject, Judgement& judgement) {
  TorchCheck check(subject, judgement);
  for (const auto& [name, member] : subject.modules()) check.module(*member);
  check.end();
}

}  // namespace sagekit
