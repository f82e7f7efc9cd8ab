#include "resolve/module_facts.hpp"

#include "resolve/judge.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "verify/runs_on.hpp"
#include "verify/torch_abi.hpp"

#include <algorithm>
#include <set>

namespace sagekit {

namespace {

using Kind = TorchTrait::Kind;

void add_libc(const MemberFacts& member, Traits& traits) {
  if (!member.elf) return;
  if (!member.elf->libc.empty()) traits.libc = member.elf->libc;
  const auto wanted = member.elf->versions.find("GLIBC");
  if (wanted == member.elf->versions.end()) return;
  const auto now = parse_version_number(wanted->second), before = parse_version_number(traits.glibc);
  if (now && (!before || *before < *now)) traits.glibc = wanted->second;
}

}  // namespace

void add_modules(const Artifact& artifact, const Target& target, Traits& traits) {
  const auto modules = artifact.modules();
  traits.modules_read = true;
  traits.native = !modules.empty();
  TorchTrait torch{Kind::none, {}, "its symbols", {}, true};
  std::set<std::string> unstable, runtimes;
  bool stable = false, linked_in = false;
  std::optional<VersionNumber> since;
  for (const auto& [name, member] : modules) {
    add_libc(*member, traits);
    const TorchUse use = torch_use(artifact, *member);
    unstable.insert(use.unstable.begin(), use.unstable.end());
    stable |= !use.stable.empty();
    if (use.since && (!since || *since < *use.since)) since = use.since;
    if (const auto runtime = cuda_runtime(*member); !runtime.empty())
      runtimes.insert(runtime);
    else
      linked_in |= std::ranges::any_of(member->gpu, &GpuCode::loaded);
  }
  if (linked_in && runtimes.size() > 1) runtimes.insert("others");  // sorts last
  state_runtimes(traits, {runtimes.begin(), runtimes.end()});
  if (!unstable.empty()) {
    torch.kind = Kind::unsaid;
    const auto print = torch_fingerprint({unstable.begin(), unstable.end()});
    const auto here = parse_version_number(minor_of(target.torch));
    if (print && here) torch.missing_symbol = print->missing_in(*here).value_or("");
    const bool old_strings = std::ranges::any_of(unstable, wants_old_strings),
               new_strings = std::ranges::any_of(unstable, wants_new_strings);
    if (old_strings != new_strings) traits.cxx11_abi = new_strings;
  } else if (stable) {
    // The stable interface began with 2.9 (torch's notes of that release); older C shims are not promised.
    torch.kind = since ? Kind::at_least : Kind::unsaid;
    if (since) torch.version = to_string(*since);
  }
  state_torch(traits, std::move(torch));
}

}  // namespace sagekit
