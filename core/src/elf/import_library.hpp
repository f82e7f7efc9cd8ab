#pragma once
// An import library for linkers that take no DLLs: Microsoft's, and lld where it stands in for it.
// Layout: Microsoft, "PE Format", "Archive (Library) File Format" and "Import Library Format" (short imports).

#include "elf/dll_exports.hpp"

#include <string>

namespace sagekit {

/// Each exported name as a function: who wants data of a library takes its `__imp_` name, which is there too.
/// Deterministic: no date, no owner.
std::string import_library(const DllExports& exports);

}  // namespace sagekit
