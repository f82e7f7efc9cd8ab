#pragma once
// An nvcc that is here, cannot be used, and is not mended by fetching: no "there is none, fetch it".

#include "support/format.hpp"

#include <sagekit/environment.hpp>
#include <sagekit/error.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace sagekit {

/// TCH008 for one of that CUDA whose tree was fetched before, or whose fault is the machine's (Nvcc::mend): what a
/// fetch would bring is there already, or would fail alike. Empty: a fetch may help.
inline std::optional<Error> nvcc_no_fetch_mends(const std::vector<Nvcc>& all, const std::string& cuda) {
  // The folder of a fetched nvcc is its tree's id; it knows the release when the program cannot say it.
  const auto tree_of = [](const Nvcc& n) { return n.executable.parent_path().parent_path().filename().string(); };
  const auto broken = std::ranges::find_if(all, [&](const Nvcc& n) {
    const bool fetched = n.source == ToolSource::wheels || n.source == ToolSource::redist;
    const bool wanted = n.cuda.empty() ? fetched && tree_of(n).starts_with("nvcc-" + cuda + ".") : n.cuda == cuda;
    return !n.ready && wanted && (fetched || !n.mend.empty());
  });
  if (broken == all.end()) return std::nullopt;
  return Error{
      ErrorKind::machine,
      "TCH008",
      fmt::format("nvcc {} is here ({}) and cannot be used: {}", cuda, broken->executable.string(), broken->why_not),
      {},
      broken->mend.empty()
          ? fmt::format("sagekit toolchain remove {}; the next build fetches it anew", tree_of(*broken))
          : broken->mend};
}

}  // namespace sagekit
