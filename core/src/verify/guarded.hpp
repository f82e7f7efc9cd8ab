#pragma once
// Nothing is thrown out of core: memory that runs out while something large is judged is the machine's fault.

#include "support/format.hpp"

#include <sagekit/error.hpp>

#include <exception>
#include <filesystem>

namespace sagekit {

/// What `work` returns; INS004 (machine) when it throws.
template <class Work>
auto guarded(const std::filesystem::path& what, Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::exception& error) {
    return fail(ErrorKind::machine, "INS004", fmt::format("judging {} failed: {}", what.string(), error.what()),
                "free some memory, or judge it on a larger machine", what.string());
  }
}

}  // namespace sagekit
