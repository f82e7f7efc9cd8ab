#pragma once
// One file that may hold code for a GPU: ELF or PE module, cubin, fatbin, PTX.

#include "support/bytes.hpp"

#include <sagekit/inspect.hpp>

#include <string>
#include <string_view>

namespace sagekit {

struct ModuleReading {
  std::string kind;   ///< "elf", "pe", "fatbin", "cubin", "ptx"; "" = none of these, nothing was read
  MemberFacts facts;  ///< without sha256
};

/// `name` is used for messages and for the Python ABI; only content decides what the file is.
/// `passed` is told what has been read: give it only for bytes that are mapped from a file.
ModuleReading read_module(std::string_view name, Bytes bytes, const InspectOptions& options, unsigned threads,
                          const PassedBytes& passed = {});

/// The ABI that a file name promises: "cp312" (x.cpython-312-x86_64-linux-gnu.so, x.cp312-win_amd64.pyd), "abi3",
/// "none"
/// (.pyd without a tag); "" for every other name. The suffixes are those of importlib's EXTENSION_SUFFIXES.
std::string python_abi_of_name(std::string_view path);

}  // namespace sagekit
