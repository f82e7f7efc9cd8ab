#pragma once
// What this machine offers. A value: probing is done once, everything after is a pure function of it.

#include <sagekit/arch.hpp>
#include <sagekit/command.hpp>
#include <sagekit/export.hpp>
#include <sagekit/version_number.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sagekit {

/// Where a tool is from, in the order in which they are preferred; wheels and redist count alike.
enum class ToolSource {
  folder,   ///< given on purpose
  system,   ///< installed
  wheels,   ///< provisioned out of a package index (provision.hpp)
  redist,   ///< provisioned out of NVIDIA's archives
  derived,  ///< made of another one (Toolchain::python)
};

SAGEKIT_API std::string_view to_string(ToolSource source);  ///< "wheels"
SAGEKIT_API std::optional<ToolSource> parse_tool_source(std::string_view text);

struct Nvcc {
  std::filesystem::path executable;
  std::filesystem::path root;                      ///< has include/ and nvvm/ or is a merged tree
  std::filesystem::path include_dir, library_dir;  ///< library_dir holds libcudart.so*, for this machine's CPU
  /// Libraries of CUDA for linux_aarch64 in an x86_64 tree, libcudart_static.a among them; empty = it has none.
  std::filesystem::path cross_library_dir;
  std::string version;     ///< "13.0.88"
  std::string cuda;        ///< "13.0"
  std::vector<Arch> code;  ///< what --list-gpu-code shows (never a or f variants)
  std::string max_gcc;     ///< newest major gcc its host_config.h accepts, "15"; "" = not found
  std::string max_clang;   ///< first major clang it refuses, "21"
  ToolSource source = ToolSource::system;
  std::string found_by;  ///< "PATH"
  /// sha256 over what `--version` says and, for each compiler program (nvcc, cicc, ptxas, cudafe++, fatbinary), its
  /// size and its first and last 64 KiB, nvcc.profile and libdevice. Not the programs whole: 150 MB would be read at
  /// every start, and two builds of one program differ in build number, size, headers or symbol tables. No path counts:
  /// equal compilers in other places are equal.
  std::string identity;
  bool ready = false;
  std::string why_not;
  std::string mend = {};  ///< of one that is not ready and in whose place every other nvcc would fail too: what to do
};

enum class CompilerKind {
  unknown,
  gcc,
  clang,
  msvc,  ///< Microsoft's headers and libraries, without a compiler
};
SAGEKIT_API std::string_view to_string(CompilerKind kind);  ///< "gcc"; "" of `unknown`

struct HostCompiler {
  std::filesystem::path executable;  ///< of msvc: the folder
  CompilerKind kind = CompilerKind::unknown;
  std::string version;                ///< "12.2.0"
  std::string target;                 ///< "x86_64-linux-gnu"
  std::filesystem::path library_dir;  ///< of a mingw: where its libgcc is, and its C++ headers below that
  std::string c_runtime;              ///< for Windows: "UCRT", "msvcrt"; "" = not told
  ToolSource source = ToolSource::system;
  std::string identity;
  bool ready = false;
  std::string why_not;
};

struct Python {
  std::filesystem::path executable;                 ///< empty = headers alone
  std::string version;                              ///< "3.12.1"
  std::string minor;                                ///< "3.12"
  std::string abi;                                  ///< "cp312", "cp313t"
  std::string soabi;                                ///< "cpython-312-x86_64-linux-gnu"
  std::vector<std::filesystem::path> include_dirs;  ///< empty = no headers (`why_not` says how to get them)
  ToolSource source = ToolSource::system;
  std::string found_by;  ///< "PATH", "pyenv", "uv", "--python-headers"
  std::string identity;  ///< of headers and version
  bool ready = false;    ///< starts and has headers
  std::string why_not;
};

/// torch's headers and libraries: installed, or an unpacked wheel. Read from its files, never imported.
struct TorchSysroot {
  std::filesystem::path root;         ///< the folder `torch` itself: include/, lib/, version.py
  std::string version;                ///< "2.11.0"
  std::string local;                  ///< "cu130", "cpu"; "" = none
  std::string cuda;                   ///< "13.0"; "" = built without CUDA
  std::string platform;               ///< "linux_x86_64", "linux_aarch64"
  bool cxx11_abi = true;              ///< TorchConfig.cmake; 2.7+ is always 1
  std::string python;                 ///< "3.12" of the interpreter it is installed for; "" = a folder
  std::filesystem::path interpreter;  ///< that can import it; empty = none
  ToolSource source = ToolSource::system;
  std::string identity;
  bool ready = false;
  std::string why_not;
  std::string mend = {};  ///< of a fetched one that is not ready: what to do; "" = what mends every damaged tree
};

struct Gpu {
  std::string name;
  Capability capability;
  std::string driver;  ///< "580.159.03"
};

/// Where a Python has what is installed in it, and whether that may be changed, told by that Python.
struct PythonPlace {
  std::filesystem::path prefix;                ///< sys.prefix
  std::filesystem::path site;                  ///< where wheels with machine code go
  std::vector<std::filesystem::path> folders;  ///< sys.path: where packages are looked for
  bool externally_managed = false;             ///< PEP 668
  bool writable = false;
};

struct Environment {
  std::string os;                  ///< "linux"
  std::string machine;             ///< "x86_64"
  std::string platform;            ///< wheel platform "linux_x86_64"
  std::string glibc;               ///< "2.36"
  int cpus = 1;                    ///< usable by this process (cgroup, affinity)
  std::uint64_t memory_bytes = 0;  ///< of the machine or cgroup, the smaller
  std::vector<Nvcc> nvcc;
  std::vector<HostCompiler> host_compilers;
  std::vector<Python> pythons;
  std::vector<TorchSysroot> torches;
  std::vector<Gpu> gpus;
  std::vector<std::string> notes;  ///< places that were named and hold nothing, in sentences
  /// --toolchain's words where nvcc and torch of other sources were left out: "wheels, redist"; "" = all were taken
  std::string narrowed_to = {};
  std::string pinned_in = {};  ///< with --locked the lock: of fetched ones only those that it pins were taken
  std::string store_flag = {}, fetch_flags = {};  ///< of ProvisionOptions
  std::string store_mend = {};  ///< what to do where the store's folder of toolchains cannot be read; "" = it can
  bool usual_index = false;     ///< of ProvisionOptions
  /// The command that brings a Python with headers here, with {} for its "3.12"; "" = none is known.
  std::string python_command = {};
  std::vector<std::string> packaged_pythons = {};  ///< "3.11" of those whose headers apt-get installs here
};

/// Where to look; filled by the host from flags and environment variables (core reads none).
struct ProbeOptions {
  std::vector<std::filesystem::path> path;        ///< PATH, split
  std::vector<std::filesystem::path> cuda_homes;  ///< CUDA_HOME, CUDA_PATH
  std::vector<std::filesystem::path> folders;     ///< --toolchain folder:DIR; may hold any tool
  /// Trees of the store with their source, wheels or redist.
  std::vector<std::pair<std::filesystem::path, ToolSource>> provisioned;
  std::vector<std::filesystem::path> python_headers;  ///< --python-headers DIR: include folders, or contents of a .deb
  bool system = true;                                 ///< look at the machine at all, beside `folders`
  std::filesystem::path home;                         ///< for ~/.pyenv, ~/.local/share/uv
  std::filesystem::path root = "/";                   ///< prefix of /usr/local and the like; tests point it elsewhere
  std::map<std::string, std::string> child_environment;  ///< for the probed programs
  double timeout_seconds = 10;                           ///< for each program that is asked
  double all_seconds = 60;                               ///< for all of them: what is not asked by then is not ready
};

/// Looks at the machine. Never fails: what does not work is listed with `ready = false` and `why_not`. Each list is
/// ordered: what is ready, given folders, newest, then PATH's order.
SAGEKIT_API Environment probe_environment(const ProbeOptions& options, CommandRunner& runner);

/// `sagekit env --json`: {"schema":"sagekit.env/1", ...} and `toolchain list --json` from the same value.
SAGEKIT_API std::string environment_json(const Environment& environment);
SAGEKIT_API std::string toolchains_json(const Environment& environment);

}  // namespace sagekit
