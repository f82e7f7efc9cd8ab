#pragma once
// What all probes of this room share: running a tool, fingerprints, and where a tool was found.

#include "support/sha256.hpp"

#include <sagekit/environment.hpp>

#include <array>
#include <chrono>
#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// A place worth probing.
struct Found {
  std::filesystem::path path;
  ToolSource source = ToolSource::system;
  std::string found_by;  ///< "PATH", "CUDA_HOME", "/usr/local", "pyenv", "uv", "site-packages", "folder"
};

/// A probe's value, or why there is none, in words for `why_not`.
template <class T>
using Probed = std::expected<T, std::string>;

struct ProbeContext {
  const ProbeOptions& options;
  CommandRunner& runner;
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();

  /// stdout and stderr of a program that ended with 0. `extra` is added to the child environment.
  Probed<std::string> output_of(std::vector<std::string> argv,
                                const std::map<std::string, std::string>& extra = {}) const;
};

/// Adds what tells two builds of one program apart without reading all of it: size, first and last 64 KiB. A compiler
/// of 75 MB is not hashed whole because probing happens at every start; its build number stands in the version text,
/// and a relinked program differs in its headers (front) or its section and symbol tables (end). The path does not
/// count: equal compilers in other places are equal. False: it cannot be read.
bool add_program(Sha256& hash, const std::filesystem::path& program);
/// Adds the relative paths and sizes of all files below `folder`, sorted.
void add_listing(Sha256& hash, const std::filesystem::path& folder);

std::string first_line(std::string_view text);
/// The digits-and-dots run at the start of `text`: "13.0" of "13.0, V13.0.88".
std::string leading_version(std::string_view text);
/// The numbers of a version, for ordering; suffixes such as "rc1" are passed over.
std::vector<int> version_numbers(std::string_view version);
bool is_file(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);
bool is_executable(const std::filesystem::path& path);
/// On a file system that is mounted noexec, where no mode helps?
bool is_on_noexec(const std::filesystem::path& path);
/// nvcc and the programs that it starts, in bin or nvvm/bin of a toolkit.
inline constexpr std::array<std::string_view, 5> k_nvcc_programs{"nvcc", "cicc", "ptxas", "cudafe++", "fatbinary"};
/// Without symbolic links; the path itself when that cannot be told.
std::filesystem::path real_path(const std::filesystem::path& path);

}  // namespace sagekit
