#pragma once
// torch: which one a wheel says it is for, the copy of it on this machine, and what modules use of it: the C functions
// that keep their ABI, or the C++ that does not.

#include "elf/exports.hpp"
#include "verify/artifact.hpp"

#include <sagekit/environment.hpp>
#include <sagekit/error.hpp>
#include <sagekit/version_number.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

struct TorchUse {
  std::vector<std::string> stable;     ///< C functions of the stable interface, sorted
  std::vector<std::string> unstable;   ///< symbols of c10, at, torch and caffe2, and of torch's Python library, sorted
  std::optional<VersionNumber> since;  ///< the first torch that has all of `stable`
  std::string newest;                  ///< one of `stable` that needs that torch
  bool any() const { return !stable.empty() || !unstable.empty(); }
  /// Built with the stable ABI alone: it runs with every torch from `since` on.
  bool is_stable() const { return !stable.empty() && unstable.empty(); }
};

/// Symbols that other libraries of the wheel bring are left out, and weak ones.
TorchUse torch_use(const Artifact& artifact, const MemberFacts& member);

/// std::string as GCC's C++ library had it before 5 ("Ss"), and since ("std::__cxx11"), in symbols of torch.
bool wants_old_strings(const std::string& symbol);
bool wants_new_strings(const std::string& symbol);

/// "2.9": the wheel says that it is for this torch and every newer one. Nothing: it does not.
std::optional<VersionNumber> promised_from(const Artifact& artifact);

/// Which known torch releases have all of `symbols`; nothing when none of these tells them apart.
struct TorchFingerprint {
  std::vector<VersionNumber> fits;
  /// The symbol that a release lacks; nothing: it has all, or it is not known.
  std::optional<std::string> missing_in(const VersionNumber& release) const;
  std::vector<std::pair<VersionNumber, std::string>> lacks;  ///< the releases that do not fit, each with one symbol
};
std::optional<TorchFingerprint> torch_fingerprint(const std::vector<std::string>& symbols);

/// The oldest torch that the wheel says it is for: its pin, else the lower bound of Requires-Dist.
std::optional<VersionNumber> oldest_torch(const Artifact& artifact);

struct DeclaredTorch {
  std::string version;          ///< "2.11.0", or "2.11" when only that much is said
  std::string cuda;             ///< "13.0"; "" = not known
  std::string from, cuda_from;  ///< who says it: "the build record", "sagekit.json", "its name", "Requires-Dist"

  /// "torch 2.11.0 for CUDA 13.0"
  std::string text() const;
};

/// The one torch that it says it is for (provenance_of). Nothing: it says none, or a range.
std::optional<DeclaredTorch> declared_torch(const Artifact& artifact);

/// The sysroot of that torch for a platform ("linux_x86_64"): of exactly its version; of a declared "2.11" the first
/// 2.11.x. Null when there is none.
const TorchSysroot* find_sysroot(const DeclaredTorch& torch, const std::vector<TorchSysroot>& sysroots,
                                 std::string_view platform);

/// The release to fetch: the newest known one of a declared "2.10".
std::string newest_release(const std::string& torch);

/// The platform part of the tag its wheel had: "manylinux_2_28_x86_64". "" when no dist-info lies beside it.
std::string wheel_platform(const TorchSysroot& sysroot);

class TorchLibraries {
 public:
  /// `folder`: torch's lib/.
  explicit TorchLibraries(std::filesystem::path folder) : m_folder(std::move(folder)) {}

  bool has(const std::string& library) const;

  /// Those of `symbols` that none of `libraries` exports, nor any library that these need in turn: where the loader
  /// looks. Libraries that are not in the folder count for nothing. A link stub names no libraries that it needs; it is
  /// taken to need all of torch's. Errors: of opening and reading (IDX030).
  Result<std::vector<std::string>> missing(std::vector<std::string> symbols, const std::vector<std::string>& libraries);

 private:
  Result<const ExportList*> exports(const std::string& library);
  Result<std::vector<std::string>> needed_by(const std::string& library) const;
  std::vector<std::string> all() const;

  std::filesystem::path m_folder;
  std::map<std::string, ExportList> m_exports;
};

}  // namespace sagekit
