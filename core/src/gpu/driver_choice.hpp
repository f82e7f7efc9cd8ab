#pragma once
// Which of a module's GPU code the driver takes for a GPU, and what is left of the kernels in it.

#include <sagekit/inspect.hpp>

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace sagekit {

/// The code that decides what the module does on a GPU: machine code before PTX, and of each the newest that fits (CUDA
/// C++ Programming Guide, "Just-in-Time Compilation"). Code without a kernel decides nothing where others have some:
/// nvcc's device link leaves such. Null: there is none.
const GpuCode* code_for(const MemberFacts& member, Capability gpu);

/// How many of some kernels cannot do their work.
struct BrokenKernels {
  std::uint64_t kernels = 0;    ///< all that were looked at
  std::uint64_t traps = 0;      ///< run into a trap before they could store anything
  std::uint64_t empty = 0;      ///< return at once
  std::uint64_t part_trap = 0;  ///< have traps where another arch's image has tensor-core instructions
  /// The first that should not be so: libraries bring kernels that are empty on every arch. "" = none.
  std::string_view example;

  bool any() const { return !example.empty(); }
  /// Is nothing left of any of them, and is that a fault?
  bool all() const { return any() && traps + empty == kernels; }
};

/// What is left of the machine code's kernels, each compared with its images for the module's other arches. Views into
/// the code that it was made from.
class KernelBodies {
 public:
  explicit KernelBodies(const std::vector<GpuCode>& code);
  explicit KernelBodies(std::vector<GpuCode>&&) = delete;

  /// Those of one arch's images.
  BrokenKernels of_arch(const Arch& arch) const;
  /// Those that the driver loads for a GPU: of each kernel the newest image that runs there, for a file may be compiled
  /// for other arches than its neighbour.
  BrokenKernels loaded_on(Capability gpu) const;
  /// Does a GPU load a broken kernel from this arch's images?
  bool breaks(Capability gpu, const Arch& arch) const;
  std::vector<Arch> arches() const;

 private:
  struct Image {
    KernelResources::Body body = KernelResources::Body::full;
    std::uint64_t traps = 0, mma_instructions = 0;
  };
  using Images = std::map<Arch, Image>;  ///< of one kernel

  enum class State { whole, empty_everywhere, empty, trap, part_trap };
  static State state_of(const Images& images, const Image& image);
  static void count(BrokenKernels& sum, std::string_view name, State state);
  static const Images::value_type* loaded(const Images& images, Capability gpu);

  std::map<std::string_view, Images> m_kernels;
};

}  // namespace sagekit
