#include "gpu/driver_choice.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace sagekit;

namespace {

using Body = KernelResources::Body;

KernelResources kernel(const std::string& name, Body body, std::uint64_t traps = 0, std::uint64_t mma = 0) {
  KernelResources one;
  one.name = name;
  one.body = body;
  one.traps = traps;
  one.mma_instructions = mma;
  one.local_counted = true;
  return one;
}

GpuCode code(Arch arch, const std::vector<KernelResources>& kernels, bool ptx = false) {
  GpuCode one;
  one.arch = arch;
  one.ptx = ptx;
  one.count = 1;
  one.kernels = kernels.size() + (ptx ? 1 : 0);
  one.resources = kernels;
  return one;
}

const Arch k_80{{8, 0}}, k_89{{8, 9}}, k_90{{9, 0}}, k_90a{{9, 0}, ArchSuffix::a};
const KernelResources k_work = kernel("work", Body::full, 0, 8);

MemberFacts member(const std::vector<GpuCode>& codes) {
  MemberFacts facts;
  facts.gpu = codes;
  facts.kernels_read = true;
  return facts;
}

std::string chosen(const MemberFacts& facts, Capability gpu) {
  const auto* one = code_for(facts, gpu);
  return one == nullptr ? "none" : (one->ptx ? "PTX " : "") + to_string(one->arch);
}

}  // namespace

TEST_CASE("the driver takes machine code before PTX, and the newest that fits") {
  const auto facts = member({code(k_80, {k_work}), code(k_89, {k_work}), code(k_90a, {k_work}), code(k_89, {}, true)});
  CHECK(chosen(facts, {8, 0}) == "8.0");
  CHECK(chosen(facts, {8, 6}) == "8.0");
  CHECK(chosen(facts, {8, 9}) == "8.9");
  CHECK(chosen(facts, {9, 0}) == "9.0a");
  CHECK(chosen(facts, {12, 0}) == "PTX 8.9");
  CHECK(chosen(facts, {7, 5}) == "none");
}

TEST_CASE("images without a kernel decide nothing where others have some, unless nobody could read them") {
  auto facts = member({code(k_80, {k_work}), code(k_89, {})});
  CHECK(chosen(facts, {8, 9}) == "8.0");
  facts.gpu[1].unreadable = 1;
  CHECK(chosen(facts, {8, 9}) == "8.9");
  facts.gpu[1].unreadable = 0;
  facts.kernels_read = false;
  CHECK(chosen(facts, {8, 9}) == "8.9");
}

TEST_CASE("each kernel is judged by the newest image that the GPU loads of it") {
  const std::vector<GpuCode> images{code(k_80, {kernel("fp8", Body::trap, 4), kernel("old", Body::trap, 1)}),
                             code(k_89, {kernel("fp8", Body::full, 0, 8)}), code(k_90, {kernel("new", Body::full)})};
  const KernelBodies bodies(images);
  CHECK(bodies.loaded_on({8, 0}).traps == 2);
  CHECK(bodies.loaded_on({8, 0}).all());
  const auto on_89 = bodies.loaded_on({8, 9});  // "old" was never compiled for 8.9
  CHECK(on_89.kernels == 2);
  CHECK(on_89.traps == 1);
  CHECK(on_89.example == "old");
  CHECK_FALSE(on_89.all());
  CHECK(bodies.breaks({8, 9}, k_80));
  CHECK_FALSE(bodies.breaks({8, 9}, k_89));
  CHECK_FALSE(bodies.loaded_on({9, 0}).any());
  CHECK(bodies.loaded_on({7, 5}).kernels == 0);
  CHECK(bodies.arches() == std::vector<Arch>{k_80, k_89, k_90});
}

TEST_CASE("traps that stand in for tensor-core instructions are told from checks") {
  const auto broken = [](KernelResources on_80, KernelResources on_89) {
    const std::vector<GpuCode> images{code(k_80, {std::move(on_80)}), code(k_89, {std::move(on_89)})};
    return KernelBodies(images).of_arch(k_80).part_trap;
  };
  CHECK(broken(kernel("k", Body::full, 2, 4), kernel("k", Body::full, 0, 8)) == 1);
  CHECK(broken(kernel("k", Body::full, 3, 4), kernel("k", Body::full, 1, 8)) == 1);
  CHECK(broken(kernel("k", Body::full, 1, 8), kernel("k", Body::full, 1, 8)) == 0);   // a check
  CHECK(broken(kernel("k", Body::full, 4, 32), kernel("k", Body::full, 1, 8)) == 0);  // unrolled further
  CHECK(broken(kernel("k", Body::full, 2, 4), kernel("k", Body::trap, 0, 8)) == 0);   // nothing whole to compare with
}

TEST_CASE("a kernel that is empty on every arch is meant so") {
  const std::vector<GpuCode> empty{code(k_80, {kernel("k", Body::empty)}), code(k_89, {kernel("k", Body::empty)})};
  const KernelBodies both(empty);
  CHECK_FALSE(both.of_arch(k_80).any());
  CHECK(both.of_arch(k_80).empty == 1);
  const std::vector<GpuCode> differing{code(k_80, {kernel("k", Body::empty)}), code(k_89, {kernel("k", Body::full)})};
  const KernelBodies one(differing);
  CHECK(one.of_arch(k_80).any());
  CHECK(one.of_arch(k_80).all());
}

TEST_CASE("of a kernel that several files bring the best image counts") {
  const std::vector<GpuCode> images{code(k_80, {kernel("k", Body::trap, 3), kernel("k", Body::full, 0, 2)})};
  const KernelBodies bodies(images);
  CHECK_FALSE(bodies.of_arch(k_80).any());
}
