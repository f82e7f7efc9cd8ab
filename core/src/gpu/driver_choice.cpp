#include "gpu/driver_choice.hpp"

#include <algorithm>
#include <set>

namespace sagekit {

namespace {

using Body = KernelResources::Body;

bool can_load(const GpuCode& code) { return code.loaded && !code.lto && code.count > 0; }

}  // namespace

const GpuCode* code_for(const MemberFacts& member, Capability gpu) {
  const bool counted = member.kernels_read && std::ranges::any_of(member.gpu, [](const GpuCode& code) {
                         return can_load(code) && code.kernels > 0;
                       });
  const GpuCode* best = nullptr;
  for (const auto& code : member.gpu) {
    // An image that nobody could read has no kernels that were counted.
    if (!can_load(code) || (counted && code.kernels == 0 && code.unreadable == 0)) continue;
    if (!(code.ptx ? ptx_reaches(code.arch, gpu) : code_runs_on(code.arch, gpu))) continue;
    if (best == nullptr || (best->ptx && !code.ptx) || (best->ptx == code.ptx && best->arch < code.arch)) best = &code;
  }
  return best;
}

KernelBodies::KernelBodies(const std::vector<GpuCode>& codes) {
  for (const auto& code : codes) {
    if (!can_load(code) || code.ptx) continue;
    for (const auto& kernel : code.resources) {
      if (!kernel.local_counted) continue;
      const Image image{kernel.body, kernel.traps, kernel.mma_instructions};
      const auto [place, fresh] = m_kernels[kernel.name].emplace(code.arch, image);
      // A kernel that several files bring counts as its best.
      if (!fresh && kernel.body == Body::full &&
          (place->second.body != Body::full || image.traps < place->second.traps))
        place->second = image;
    }
  }
}

/// A check that traps is in every arch's image, and more often where a loop is unrolled further, which brings more
/// tensor-core instructions, too. More traps with fewer of those are what stands in for them.
KernelBodies::State KernelBodies::state_of(const Images& images, const Image& image) {
  const auto any_other = [&](auto test) {
    return std::ranges::any_of(images, [&](const auto& one) { return test(one.second); });
  };
  if (image.body == Body::trap) return State::trap;
  if (image.body == Body::empty)
    return any_other([](const Image& other) { return other.body == Body::full; }) ? State::empty
                                                                                  : State::empty_everywhere;
  return any_other([&](const Image& other) {
    return other.body == Body::full && other.traps < image.traps && other.mma_instructions > image.mma_instructions;
  })
             ? State::part_trap
             : State::whole;
}

void KernelBodies::count(BrokenKernels& sum, std::string_view name, State state) {
  ++sum.kernels;
  sum.traps += state == State::trap;
  sum.empty += state == State::empty || state == State::empty_everywhere;
  sum.part_trap += state == State::part_trap;
  if (sum.example.empty() && state != State::whole && state != State::empty_everywhere) sum.example = name;
}

const KernelBodies::Images::value_type* KernelBodies::loaded(const Images& images, Capability gpu) {
  const Images::value_type* best = nullptr;
  for (const auto& one : images)
    if (code_runs_on(one.first, gpu)) best = &one;  // sorted: the last is the newest
  return best;
}

BrokenKernels KernelBodies::of_arch(const Arch& arch) const {
  BrokenKernels sum;
  for (const auto& [name, images] : m_kernels)
    if (const auto found = images.find(arch); found != images.end()) count(sum, name, state_of(images, found->second));
  return sum;
}

BrokenKernels KernelBodies::loaded_on(Capability gpu) const {
  BrokenKernels sum;
  for (const auto& [name, images] : m_kernels)
    if (const auto* one = loaded(images, gpu)) count(sum, name, state_of(images, one->second));
  return sum;
}

bool KernelBodies::breaks(Capability gpu, const Arch& arch) const {
  return std::ranges::any_of(m_kernels, [&](const auto& kernel) {
    const auto* one = loaded(kernel.second, gpu);
    if (one == nullptr || one->first != arch) return false;
    const State state = state_of(kernel.second, one->second);
    return state != State::whole && state != State::empty_everywhere;
  });
}

std::vector<Arch> KernelBodies::arches() const {
  std::set<Arch> all;
  for (const auto& [name, images] : m_kernels)
    for (const auto& [arch, image] : images) all.insert(arch);
  return {all.begin(), all.end()};
}

}  // namespace sagekit
