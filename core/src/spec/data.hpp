#pragma once
// Facts that several variants share: which torch exists for what, which nvcc knows which arch, what GPUs are called.
// The rows are core/data/*.toml, embedded, read once; each has its source.

#include <sagekit/arch.hpp>
#include <sagekit/diagnostic.hpp>
#include <sagekit/spec.hpp>
#include <sagekit/version_number.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// That something does not exist or is not known to: the reason in words, and who says so.
struct Absence {
  std::string reason;
  std::string source;
  bool operator==(const Absence&) const = default;
};

/// One CUDA build of a torch release, and the platforms it was published for.
struct TorchBuild {
  std::string cuda;  ///< "12.9"
  std::vector<std::string> platforms;
  bool on_package_index = false;  ///< the public package index has it; otherwise torch's own index only
};

struct TorchRelease {
  std::string version;               ///< "2.8.0"
  std::vector<std::string> pythons;  ///< "3.12", free-threaded "3.13t"
  std::vector<TorchBuild> builds;
  std::string source;
};

/// libstdc++'s string layout of the torch wheels `torch`, for every CUDA or one.
struct StringLayout {
  VersionRange torch;
  std::string cuda;  ///< "12.6"; empty = any
  bool is_new = false;
};

/// The Triton that torch's Linux wheels of some releases require.
struct TorchTriton {
  std::vector<std::string> torches;
  std::string specifiers;  ///< "==3.6.0"
};

/// Driver versions of one need, by system.
struct DriverNeed {
  std::string linux_branch;  ///< "580"
  std::string windows;       ///< "528.33"
  const std::string& on(bool is_windows) const { return is_windows ? windows : linux_branch; }
};

struct GpuModels {
  Capability capability;
  std::vector<std::string> names;
  std::vector<std::string> aarch64;  ///< of these: in machines with an Arm CPU only
  bool legacy = false;               ///< no current nvcc compiles for it
  /// The first CUDA whose system there loads machine code of another capability, too; "" = any does, of its major.
  std::string shares_code_from;
  DriverNeed driver;  ///< the first that knows it; empty texts: not said
  std::string source;
};

/// The driver that came with a toolkit, and the first that runs machine code of its family.
struct ToolkitDriver {
  VersionNumber cuda;
  DriverNeed own, family;
};

struct GpuData {
  std::vector<GpuModels> models;       ///< by capability
  std::vector<std::string> brands;     ///< "GeForce": people leave them out of a name
  std::vector<std::string> forms;      ///< "sxm5", "laptop": behind a name they tell no capability
  std::vector<ToolkitDriver> drivers;  ///< oldest first
  DriverNeed zstd_driver;              ///< the first that unpacks images compressed with zstd
};

/// An arch that nvcc can compile for, from release `since` until before `until` (empty = still).
struct NvccArch {
  Arch arch;
  VersionNumber since;
  std::optional<VersionNumber> until;
  std::string source;
};

/// What every system of a tag manylinux_X_Y has: the newest symbol versions, X.Y of glibc itself.
struct ManylinuxLevel {
  VersionNumber glibc, glibcxx, cxxabi, gcc;
  std::optional<VersionNumber> libatomic, zlib;  ///< nothing = no version of it
  std::vector<std::string> names;                ///< others that come with it: "GLIBC_ABI_DT_RELR"
};

struct ManylinuxMachine {
  std::string machine;                 ///< "x86_64"
  std::vector<ManylinuxLevel> levels;  ///< oldest first; the first glibc is the machine's first
  std::string source;
};

/// A header that keeps a symbol of glibc `since` out of what is compiled with it.
struct FloorHeader {
  std::string file;  ///< "sys/single_threaded.h"
  std::string text;
  VersionNumber since;
  std::string source;
};

/// A library that systems of a manylinux tag have.
struct ManylinuxLibrary {
  std::string name;                    ///< "libz.so.1"
  std::optional<VersionNumber> since;  ///< the first tag; nothing = all
};

/// Symbols of such a library that systems of a tag need not have.
struct ForbiddenSymbols {
  std::string library;
  std::vector<std::string> symbols;    ///< sorted
  std::optional<VersionNumber> until;  ///< the first tag that has them; nothing = none
};

struct LibcData {
  std::vector<ManylinuxMachine> manylinux;
  std::vector<ManylinuxLibrary> libraries;
  std::vector<ForbiddenSymbols> forbidden;
  std::vector<FloorHeader> floor_headers;
};

/// ptxas's --split-compile, of the releases that were seen to keep the machine code, for what takes at least so long.
struct SplitCompile {
  std::vector<std::string> cuda;  ///< "13.0"
  double cpu_seconds = 0;
  unsigned threads = 1;
};

struct CoreData {
  std::vector<TorchRelease> torches;         ///< oldest first
  std::string torch_index;                   ///< with {cuda_digits}
  std::vector<StringLayout> string_layouts;  ///< the first that fits holds
  std::vector<TorchTriton> tritons;
  std::vector<NvccArch> nvcc_arches;
  SplitCompile split_compile;
};

/// All of it but what has a function of its own below. Thread-safe; read at the first call.
const CoreData& core_data();
/// The C library's facts. Thread-safe; read at the first call.
const LibcData& libc_data();
/// GPUs and drivers. Thread-safe; read at the first call.
const GpuData& gpu_data();
/// What was wrong with the embedded files: nothing, or a test fails.
Diagnostics core_data_problems();

/// Why there is no such torch; nothing when it was published. "2.8.0", "12.9", "linux_x86_64", "3.12".
std::optional<Absence> torch_absence(std::string_view torch, std::string_view cuda, std::string_view platform,
                                     std::string_view python);

/// The CUDAs that the public package index's wheels of a torch release "2.12.1" are built for; nothing when the
/// release is not known.
std::optional<std::vector<std::string>> cudas_on_package_index(std::string_view torch, std::string_view platform);

/// Whether torch's own Linux wheels have libstdc++'s strings of C++11 (_GLIBCXX_USE_CXX11_ABI=1). "2.6" or "2.6.0",
/// "12.6"; nothing when no row knows that torch or its CUDA decides and is "".
std::optional<bool> torch_has_new_strings(std::string_view torch, std::string_view cuda);
/// The same on a platform "linux_x86_64" or "manylinux_2_28_x86_64": only libstdc++ has two layouts.
std::optional<bool> torch_has_new_strings(std::string_view torch, std::string_view cuda, std::string_view platform);

/// The Triton that torch's own Linux wheels of a release "2.9.1" require: "==3.5.1"; "" = not known.
std::string triton_of_torch(std::string_view torch);

/// What people call the GPUs of a capability that machines with such a CPU can have ("x86_64"; "" = any); empty when it
/// is not a current one.
std::vector<std::string> gpu_names(Capability capability, std::string_view cpu = {});

/// The oldest driver that runs machine code (`ptx`: compiles PTX) of a toolkit "13.0"; empty texts = not known.
DriverNeed driver_for(std::string_view toolkit, bool ptx);
/// torch's own index for a CUDA "13.0".
std::string torch_index(std::string_view cuda);

/// The oldest driver that knows a GPU, whatever code it is to run; empty texts = not known.
DriverNeed first_driver_of(Capability gpu);

/// Why that nvcc cannot compile for `arch`; nothing when it can.
std::optional<Absence> nvcc_absence(const VersionNumber& cuda, const Arch& arch);
bool nvcc_supports(const VersionNumber& cuda, const Arch& arch);
/// The first nvcc release that can; nothing when no known one does.
std::optional<VersionNumber> first_nvcc_for(const Arch& arch);

/// With how many threads that nvcc "13.0" compiles a source of such a cost for one arch; 1 = as it does by itself. A
/// matter of the plan, not of the machine: the number stands in the machine code's notes.
unsigned split_compile_threads(std::string_view cuda, const Cost& one_arch);

}  // namespace sagekit
