#pragma once
// What a Windows library exports, from its export directory alone, and a library of the same names to link against.
// Layout: Microsoft, "PE Format", the .edata section.

#include "support/bytes.hpp"

#include <sagekit/error.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

struct DllExports {
  std::string name;                ///< as modules import from it: "torch_cpu.dll"
  std::vector<std::string> names;  ///< sorted, once each
  bool operator==(const DllExports&) const = default;
};

/// Where the export directory lies in the file, by the library's first bytes.
struct DirectoryPlace {
  std::uint64_t offset = 0, size = 0;
  std::uint32_t address = 0;  ///< what its own pointers count from
};

/// As many first bytes as find_export_directory wants.
inline constexpr std::uint64_t k_pe_beginning = 4096;

/// Nothing when these do not begin a 64-bit library for x86-64 that exports something.
std::optional<DirectoryPlace> find_export_directory(Bytes beginning);

/// IDX030 (failed) when it is damaged: names must lie in it and be sorted, as the format has it, so that bytes which
/// came from elsewhere do not pass.
Result<DllExports> read_export_directory(Bytes directory, std::uint32_t address);

/// Both, from a whole library.
Result<DllExports> read_dll_exports(std::string_view library);

/// A library to link against: the same name, the same exported names, each a function that only returns. Linkers for
/// Windows that take libraries themselves (GNU ld, lld) make from it what they would of the real one. Deterministic.
std::string link_stub(const DllExports& exports);

/// The canonical text of it, a line a name: what a lock hashes.
std::string export_text(const DllExports& exports);

}  // namespace sagekit
