#pragma once
// nvcc's work in two halves (docs/decisions/0008): device code, which is the same whatever CPU the host has, and host
// code. What nvcc would run is read from `nvcc --dryrun`.

#include <sagekit/error.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// The commands of the host half, and the two files of device code that the host compiler then includes.
struct HostHalf {
  std::vector<std::string> preprocess;  ///< .cu -> .cpp4.ii
  std::vector<std::string> split;       ///< cudafe++: .cpp4.ii -> .cudafe1.cpp
  std::vector<std::string> compile;     ///< .cudafe1.cpp, which includes `stub` -> object
  std::filesystem::path stub;           ///< .cudafe1.stub.c: how the host launches each kernel; includes `fatbin`
  std::filesystem::path fatbin;         ///< .fatbin.c: the device code
};

/// Reads what `nvcc --dryrun --keep --keep-dir DIR` prints for one .cu to one object. Checked with nvcc 13.0; an
/// unknown line, a missing or a doubled part, any use of a shell's features is an error (BLD009, failed): then nvcc is
/// run as a whole.
Result<HostHalf> read_dryrun(std::string_view text);

/// A line as a POSIX shell would split it, for lines without variables, redirections and the like: those are BLD009.
Result<std::vector<std::string>> split_command(std::string_view line);

/// The word after `flag`; "" = there is none.
std::string word_after(const std::vector<std::string>& argv, std::string_view flag);

/// Are the kernels that the stub registers exactly the entries of each of these PTX texts? Both lists may be empty.
bool same_kernels(std::string_view stub, const std::vector<std::string>& ptx);

}  // namespace sagekit
