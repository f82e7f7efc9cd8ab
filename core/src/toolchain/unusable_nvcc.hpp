#pragma once
// An nvcc that is here, cannot be used, and is not mended by fetching: no "there is none, fetch it". The same of one
// that lacks the CUDA runtime of another CPU.

#include "support/format.hpp"

#include <sagekit/environment.hpp>
#include <sagekit/error.hpp>
#include <sagekit/provision.hpp>
#include <sagekit/toolchain.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sagekit {

/// TCH008 for one of that CUDA whose tree was fetched before, or whose fault is the machine's (Nvcc::mend): what a
/// fetch would bring is there already, or would fail alike. Empty: a fetch may help.
inline std::optional<Error> nvcc_no_fetch_mends(const Environment& environment, const std::string& cuda) {
  const auto& all = environment.nvcc;
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
      !broken->mend.empty() ? broken->mend
      : broken->why_not.find(k_not_executable) != std::string::npos
          ? chmod_programs(broken->executable.parent_path().parent_path())
          : fmt::format("sagekit toolchain remove {}{}; then sagekit toolchain fetch --cuda {}{} brings it anew",
                        tree_of(*broken), environment.store_flag, cuda, environment.store_flag)};
}

/// TCH007. A fetched tree is verified, so what it lacks is added to a copy; and a toolkit without targets/ needs its
/// own part there too, or its nvcc finds no headers any more. Null: there is no nvcc of that CUDA.
inline std::unexpected<Error> no_cross_runtime(const ToolchainNeed& need, const Nvcc* nvcc, const std::string& here,
                                               const std::string& fetch_flags = {}) {
  const bool installed = nvcc != nullptr && nvcc->source != ToolSource::wheels && nvcc->source != ToolSource::redist;
  const auto root = installed ? nvcc->root : std::filesystem::path("DIR");
  const auto own = root / "targets/x86_64-linux";
  auto hint = fmt::format("put lib/libcudart*.* of CUDA {} for {} into {}", need.cuda, need.platform,
                          (root / "targets/sbsa-linux/lib").string());
  if (!installed || !nvcc->include_dir.lexically_relative(root).string().starts_with("targets/"))
    hint += fmt::format(", link {} and {} into {}", (root / "include").string(), (root / "lib").string(), own.string());
  if (!installed)
    hint = fmt::format("copy {} to a folder DIR, {}, and give it with --toolchain folder:DIR",
                       nvcc != nullptr ? nvcc->root.string()
                                       : fmt::format("a CUDA {} (sagekit toolchain fetch --cuda {}{} brings one)",
                                                     need.cuda, need.cuda, fetch_flags),
                       hint);
  const std::string why = "its module has the CUDA runtime linked in";
  if (nvcc == nullptr)
    return fail(ErrorKind::machine, "TCH007",
                fmt::format("no nvcc {} with a libcudart_static.a for {}: {}; {}", need.cuda, need.platform, why, here),
                hint);
  return fail(ErrorKind::machine, "TCH007",
              fmt::format("no libcudart_static.a for {} in CUDA {} ({}): {}", need.platform, nvcc->cuda,
                          nvcc->root.string(), why),
              hint);
}

}  // namespace sagekit
