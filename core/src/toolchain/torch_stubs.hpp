#pragma once
// Libraries of a torch sysroot: linked against by name, so a stub of what the real one exports is all that is kept.

#include "index/remote_wheel.hpp"
#include "toolchain/fetch.hpp"

#include <string>
#include <string_view>

namespace sagekit {

/// Puts a stub into torch/lib, and into the lock what names it has (`names`). PRV006 when that is not what the lock
/// pins.
Status stage_link_stub(Fetch& fetch, const std::string& library, const std::string& names, const std::string& stub,
                       LockedTree& tree);

/// What modules for Windows are linked against: torch's libraries, and CUDA's runtime out of its own package. Where the
/// wheel has no torch_cuda.dll, being built without CUDA, its stub has the functions of torch's stable interface that
/// the wheel's other libraries lack.
Status stage_windows_libraries(Fetch& fetch, RemoteWheel& torch, LockedTree& tree);

}  // namespace sagekit
