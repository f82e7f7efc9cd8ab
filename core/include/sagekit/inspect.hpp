#pragma once
// Facts read out of files: wheels, ELF and PE modules, fatbins, cubins. Native: no CUDA, no Python, no GPU.
// Every reader treats its bytes as hostile: checked arithmetic, bounded memory; a doubt is an error, never a guess.

#include <sagekit/arch.hpp>
#include <sagekit/diagnostic.hpp>
#include <sagekit/error.hpp>
#include <sagekit/export.hpp>
#include <sagekit/naming.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// What one kernel's machine code needs and holds.
struct KernelResources {
  std::string name;                  ///< mangled
  std::uint32_t registers = 0;       ///< per thread
  std::uint64_t shared_bytes = 0;    ///< static, without what the driver reserves
  std::uint64_t stack_bytes = 0;     ///< per thread
  std::uint64_t constant_bytes = 0;  ///< bank 0, parameters included
  std::uint64_t code_bytes = 0;      ///< its instructions, padding included
  std::uint64_t instructions = 0;    ///< without padding; 0 = not counted on this arch
  std::uint64_t local_load_bytes =
      0;  ///< bytes that its local-memory instructions move: none proves that nothing spills
  std::uint64_t local_store_bytes = 0;
  bool local_counted = false;  ///< false: instructions of this arch are not decoded, the two above mean nothing
  /// What is left of its body. `empty` returns at once. `trap` runs into a trap before it could store anything that
  /// outlives it, on every path that does not return early. Told only where instructions are decoded.
  enum class Body { full, empty, trap } body = Body::full;
  std::uint64_t traps = 0;             ///< trap instructions anywhere in it
  std::uint64_t mma_instructions = 0;  ///< of the tensor cores
  auto operator<=>(const KernelResources&) const = default;
};

/// How one module's fatbins are wired: each compiled file brings one container and one wrapper that registers it.
struct FatbinWiring {
  std::uint64_t containers = 0;  ///< where the runtime looks
  std::uint64_t wrappers = 0;    ///< in .nvFatBinSegment; fewer: code that nothing launches
  std::uint64_t repeated = 0;    ///< kernels that two containers hold for one arch; only with kernels read
  bool operator==(const FatbinWiring&) const = default;
};

/// GPU code of one arch and kind in one file, summed over its images.
struct GpuCode {
  bool ptx = false;  ///< PTX, else machine code (cubin)
  Arch arch;
  std::uint64_t count = 0;                 ///< images
  std::uint64_t kernels = 0;               ///< 0 unless kernels were read
  std::uint64_t bytes = 0;                 ///< as stored
  std::string toolkit;                     ///< "13.0"; "" = not known
  bool loaded = true;                      ///< in .nv_fatbin; false = __nv_relfatbin or outside the known sections
  std::vector<std::string> names;          ///< mangled kernel names, sorted; with InspectOptions::kernels
  bool lto = false;                        ///< LTO intermediate code, neither PTX nor cubin
  std::uint64_t zstd = 0;                  ///< images compressed with zstd: a driver before 550.54 cannot load them
  std::vector<KernelResources> resources;  ///< of machine code, sorted by name; with InspectOptions::resources
  /// The lowest virtual arch (compute_NN) that its machine code was compiled from, where that is recorded and was read.
  std::optional<Capability> compiled_from;
  std::uint64_t mislabelled = 0;  ///< images whose content is for another arch (FAT008): no GPU can use them
  std::uint64_t unreadable = 0;   ///< images whose content could not be read (FAT005, FAT007, FAT009)
};

struct ElfFacts {
  std::string machine;  ///< "x86_64", "aarch64", else "em_190"
  std::string soname;
  std::vector<std::string> needed;
  std::vector<std::string> run_paths;           ///< DT_RPATH and DT_RUNPATH
  std::map<std::string, std::string> versions;  ///< highest wanted: {"GLIBC","2.17"}, {"GLIBCXX",...}, {"CXXABI",...}
  std::vector<std::string> exports;             ///< defined dynamic symbols, sorted
  std::vector<std::string> undefined;           ///< undefined dynamic symbols, sorted
  bool debug_info = false;
  bool executable_stack = false;
  std::vector<std::string> undefined_weak;   ///< those of `undefined` that may stay so, sorted
  std::vector<std::string> wanted_versions;  ///< every one, as "libc.so.6:GLIBC_2.17", sorted
  /// Which symbols of `undefined` want each of them, sorted; a symbol that is in none wants no version.
  std::map<std::string, std::vector<std::string>> wanted_by;
  std::string libc;               ///< "glibc", "musl"; "" = it names neither
  std::string build_id;           ///< hex; "" = none
  std::string relro;              ///< "full", "partial", "none"
  std::string interpreter;        ///< of a program; a library has none
  std::uint64_t debug_bytes = 0;  ///< in .debug sections
  bool text_relocations = false;  ///< the loader must write into code
  bool position_independent = true;
  bool writable_code = false;  ///< a segment that is writable and executable
  std::string isa;             ///< instruction set its GNU property asks for: "x86-64-v3"; "" = none
};

struct PeFacts {
  std::string machine;               ///< "x86_64", "aarch64"
  std::vector<std::string> imports;  ///< DLL names, as written
  std::vector<std::string> exports;
  std::map<std::string, std::vector<std::string>> imported;  ///< by DLL as in `imports`: names, or "#12" by number
  bool dynamic_base = false, high_entropy = false, no_execute = false;  ///< DllCharacteristics
  std::string debug_path;  ///< the .pdb that the debug directory names, as written; "" = none
};

/// One file inside a wheel, or the file itself.
struct MemberFacts {
  std::string path;
  std::uint64_t size_bytes = 0;
  std::string sha256;
  std::optional<ElfFacts> elf;
  std::optional<PeFacts> pe;
  std::vector<GpuCode> gpu;
  std::optional<FatbinWiring> wiring;  ///< of ELF and PE modules with GPU code
  bool kernels_read = false;           ///< `gpu` has kernels, and as InspectOptions says their resources
  /// From the file name: "cp312", "abi3", "none", "" = no extension module. Of a plain .pyd from the Python library
  /// that it imports: "abi3" of python3.dll, "cp312" of python312.dll, "none" without one.
  std::string python_abi;
  Diagnostics problems;  ///< what could not be read in it; any error = unverifiable, never a pass
};

/// Has damage hidden where its GPU code lies, so that one in which none was found may have some?
SAGEKIT_API bool hides_gpu_code(const MemberFacts& member);

struct WheelFacts {
  WheelName name;
  std::string metadata_name, metadata_version, requires_python;
  std::vector<std::string> requires_dist, license_files;
  std::vector<std::string> wheel_tags;  ///< Tag: lines of WHEEL
  std::string generator, build, root_is_purelib;
  std::string wheel_version;  ///< of WHEEL: "1.0"
  std::string plugin;         ///< that sagekit made it with, as the wheel says; "" = it does not
  std::string dist_info;      ///< folder name
  Diagnostics problems;       ///< NAM, ZIP, INF findings of the reading itself
  Diagnostics unchecked;      ///< notes: what the reading could not check, by the code that it neither passes nor fails
};

/// The file name that a wheel's METADATA and WHEEL give it; "" when they do not say.
SAGEKIT_API std::string name_by_content(const WheelFacts& wheel);

/// What a path is and what is in it.
struct FileFacts {
  std::string path;
  std::string kind;  ///< "wheel", "elf", "pe", "fatbin", "cubin", "ptx"
  std::string sha256;
  std::uint64_t size_bytes = 0;
  std::optional<WheelFacts> wheel;
  std::vector<MemberFacts> members;  ///< of a wheel all files, sorted by path; else one
};

struct InspectOptions {
  bool kernels = false;    ///< read kernel names (decompresses every image)
  bool resources = false;  ///< and what each kernel needs; implies `kernels`
  /// Look for GPU code outside the known sections of a module, which reads every byte. Off: only headers are read, in
  /// milliseconds per gigabyte, and no file is hashed. Wheels are always read whole.
  bool whole_file = true;
  /// Hash the file. Off: FileFacts::sha256 stays empty.
  bool file_hash = true;
  /// List what a module exports and what it wants of other libraries. Off: of ElfFacts, `exports` has Python's entry
  /// points only, `undefined`, `undefined_weak` and `wanted_by` stay empty.
  bool symbols = true;
  /// Hash each member of a wheel and compare with RECORD. Off: MemberFacts::sha256 stays empty, INF016 is not judged.
  bool member_hashes = true;
  /// Members of a wheel, and images of a module, are inflated into memory at the same time only as far as they fit.
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;
  std::string wheel_name = {};  ///< judge a wheel as if its file had this name; "" = its own
};

/// Reads one file. Errors: usage (unreadable path), failed (readable, but nothing that can be inspected, or damaged
/// beyond listing). Damage that leaves something to list is in `problems`.
SAGEKIT_API Result<FileFacts> inspect_file(const std::filesystem::path& path, const InspectOptions& options = {});

/// The content of one member of a wheel, inflated; for judges that look inside text files.
SAGEKIT_API Result<std::string> read_wheel_member(const std::filesystem::path& wheel, std::string_view member);

/// GPU code of a module already in memory (ELF, PE, fatbin, cubin); never throws, never reads beyond `bytes`.
SAGEKIT_API Result<MemberFacts> inspect_bytes(std::string_view name, std::string_view bytes,
                                              const InspectOptions& options = {});

SAGEKIT_API std::string inspect_json(const std::vector<FileFacts>& files, const InspectOptions& options = {},
                                     const std::vector<Error>& errors = {});  ///< of files that could not be read

}  // namespace sagekit
