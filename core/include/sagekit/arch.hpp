#pragma once
// Compute capabilities and the code made for them, in the field's words: capability "9.0", arch "9.0a" = sm_90a,
// gencode "arch=compute_90a,code=sm_90a". No number here is special: which ones exist is data.

#include <sagekit/error.hpp>
#include <sagekit/export.hpp>

#include <compare>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// A GPU's compute capability. `minor` is one digit (CUDA writes capability 12.1 as sm_121).
struct Capability {
  int major = 0;
  int minor = 0;

  auto operator<=>(const Capability&) const = default;
};

/// How far machine code of an arch reaches (CUDA C++ Programming Guide, "feature sets"):
/// none = same major, same or higher minor; `a` = exactly this capability; `f` = this family.
enum class ArchSuffix : char { none = 0, a = 'a', f = 'f' };

struct Arch {
  Capability capability;
  ArchSuffix suffix = ArchSuffix::none;

  auto operator<=>(const Arch&) const = default;
};

/// What one -gencode flag asks for. `ptx` = code=compute_NN: text for the driver to compile, not machine code.
struct Gencode {
  Arch compute;  ///< the virtual arch
  Arch code;     ///< the real one; equal to `compute` when `ptx`
  bool ptx = false;

  auto operator<=>(const Gencode&) const = default;
};

/// One entry of a user's arch list, before a spec gave it its gencode.
struct ArchRequest {
  Capability capability;
  bool has_suffix = false;  ///< the user wrote `a` or `f`: taken literally or refused, never dropped
  ArchSuffix suffix = ArchSuffix::none;
  bool ptx = false;  ///< +PTX: plain compute_NN besides

  auto operator<=>(const ArchRequest&) const = default;
};

SAGEKIT_API std::string to_string(Capability c);          ///< "12.1"
SAGEKIT_API std::string to_string(const Arch& a);         ///< "12.1a"
SAGEKIT_API std::string sm_name(const Arch& a);           ///< "sm_121a"
SAGEKIT_API std::string compute_name(const Arch& a);      ///< "compute_121a"
SAGEKIT_API std::string to_string(const Gencode& g);      ///< "arch=compute_121a,code=sm_121a"
SAGEKIT_API std::string to_string(const ArchRequest& r);  ///< "12.1a+PTX"

/// "9.0" or "12.1"; nothing else.
SAGEKIT_API Result<Capability> parse_capability(std::string_view text);
/// "9.0", "9.0a", "12.0f".
SAGEKIT_API Result<Arch> parse_arch(std::string_view text);

/// The capability of a GPU by the name that people or nvidia-smi call it: "RTX 5090", "NVIDIA A100-SXM4-80GB", "DGX
/// Spark". Strict: ARC002 for a name that no GPU of core data has, ARC006 for one that GPUs of several capabilities
/// share ("RTX 6000").
SAGEKIT_API Result<Capability> find_gpu(std::string_view name);

/// An arch list in every spelling people use: separators `;`, `,` and blanks; `8.0`, `80`, `120a`,
/// `sm_80`, `compute_80`, `12.0a`, `12.0+PTX`, `native` (the capabilities in `native`), names of GPUs.
/// `compute_80;sm_80` is one arch. Strict: what is not understood is an error that quotes the item, never dropped.
/// Sorted, without duplicates.
SAGEKIT_API Result<std::vector<ArchRequest>> parse_arch_list(std::string_view text,
                                                             const std::vector<Capability>& native = {});

/// Does machine code for `code` run on a GPU of capability `gpu`? PTX is judged by `ptx_reaches`.
SAGEKIT_API bool code_runs_on(const Arch& code, Capability gpu);
/// Can a driver compile PTX of target `ptx` for `gpu`? Plain: same or newer; `a` and `f` as for machine code.
SAGEKIT_API bool ptx_reaches(const Arch& ptx, Capability gpu);

}  // namespace sagekit
