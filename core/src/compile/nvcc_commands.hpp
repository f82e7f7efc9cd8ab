#pragma once
// nvcc taken apart: what it would run for one .cu, read from `nvcc --dryrun --keep --keep-dir DIR` (docs/engine.md).

#include <sagekit/error.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

using CommandLine = std::vector<std::string>;

/// A file of GPU code that goes into the fatbin: what it is ("elf-90a", "ptx-120") and where it lies.
struct DeviceImage {
  std::string role;
  std::filesystem::path file;
};

/// The commands of one virtual architecture.
struct DeviceCommands {
  std::string arch;                   ///< "compute_90a"
  CommandLine preprocess;             ///< .cu -> .cpp1.ii
  CommandLine compile;                ///< cicc: .cpp1.ii -> .ptx and the stub
  std::vector<CommandLine> assemble;  ///< ptxas: .ptx -> .cubin; for PTX alone nvcc checks it so and keeps nothing
  std::filesystem::path text, ptx, stub;
  std::vector<DeviceImage> images;  ///< what `assemble` makes, and the PTX where it is wanted
};

struct NvccCommands {
  std::filesystem::path folder;                    ///< all files between lie here
  std::map<std::string, std::string> environment;  ///< what nvcc sets for its programs
  std::vector<DeviceCommands> devices;             ///< in the order of the fatbin
  CommandLine preprocess;                          ///< the host's: .cu -> .cpp4.ii
  CommandLine split;                               ///< cudafe++: .cpp4.ii -> .cudafe1.cpp and the module id
  CommandLine fatbinary;                           ///< all images -> .fatbin.c
  CommandLine compile;                             ///< .cudafe1.cpp, which includes stub and fatbin -> object
  std::filesystem::path module_id, stub, fatbin;   ///< the stub is that of the last architecture
};

/// Reads a dry run, by programs, options and suffixes and never by position. Checked with nvcc 13.0; an unknown line, a
/// missing or doubled part, a file nobody makes, any use of a shell's features but $CICC_PATH is an error (BLD009,
/// failed): then nvcc is run as a whole.
Result<NvccCommands> read_dryrun(std::string_view text);

/// The same with every file between in another folder.
NvccCommands in_folder(const NvccCommands& commands, const std::filesystem::path& folder);

/// A line as a POSIX shell would split it, for lines without variables, redirections and the like: those are BLD009.
Result<CommandLine> split_command(std::string_view line);

/// The word after `flag`; "" = there is none.
std::string word_after(const CommandLine& argv, std::string_view flag);

}  // namespace sagekit
