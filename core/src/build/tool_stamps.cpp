#include "build/tool_stamps.hpp"

#include "support/format.hpp"

namespace sagekit {

namespace fs = std::filesystem;

ToolStamps::ToolStamps(const std::vector<const Cell*>& cells) {
  for (const auto* cell : cells) {
    if (!cell->toolchain) continue;
    const auto watch = [this](const fs::path& file) {
      if (!file.empty()) m_stamps.emplace(file, stamp_of(file));
    };
    const auto& tools = *cell->toolchain;
    for (const auto* compiler : {&tools.host_compiler, &tools.mingw, &tools.device_compiler})
      if (compiler->kind != CompilerKind::msvc) watch(compiler->executable);  // that is a folder
    watch(tools.windows_linker);
    if (tools.nvcc.executable.empty()) continue;
    watch(tools.nvcc.executable);
    std::error_code error;
    const auto bin = fs::weakly_canonical(tools.nvcc.executable, error).parent_path();
    for (const auto name : {"cudafe++", "ptxas", "fatbinary", "../nvvm/bin/cicc"}) watch(bin / name);
  }
}

Status ToolStamps::unchanged() const {
  // Without the time of its record, which every hard link changes: perf keeps programs so.
  const auto same = [](std::optional<FileStamp> before, std::optional<FileStamp> now) {
    if (before && now) now->changed_ns = before->changed_ns;
    return before == now;
  };
  for (const auto& [file, stamp] : m_stamps)
    if (!same(stamp, stamp_of(file)))
      return fail(ErrorKind::failed, "BLD011",
                  fmt::format("{} was replaced while it was in use; what it made is not kept", file.string()),
                  "run the build again: it goes on from what was finished before");
  return {};
}

}  // namespace sagekit
