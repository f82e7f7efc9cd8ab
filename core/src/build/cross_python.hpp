#pragma once
// Python's headers as one folder in the store: for another CPU from those of this machine's own Python
// (docs/decisions/0007), or those of a package that were unpacked among other packages' headers.

#include "store/store.hpp"

#include <sagekit/environment.hpp>
#include <sagekit/error.hpp>

#include <filesystem>
#include <string>

namespace sagekit {

/// The text of an x86_64 Linux pyconfig.h as configure writes it on aarch64: four macros differ. BLD008 (machine) for a
/// text that is no such pyconfig.h.
Result<std::string> aarch64_pyconfig(std::string text);

/// The folder in the store with all headers of `python` (source `derived`) and the platform's pyconfig.h: that one, or
/// for Windows core/data/windows/pyconfig.h. Made when it is not there yet. Errors: BLD008, FIL.
Result<std::filesystem::path> make_cross_headers(const Python& python, const std::string& platform, const Store& store);

/// The same with its own pyconfig.h. Debian's forwards to one below the folder's parent, and that parent on the include
/// path would bring along whatever else was unpacked into it: a C library's headers, in place of the compiler's.
Result<std::filesystem::path> make_own_headers(const Python& python, const Store& store);

}  // namespace sagekit
