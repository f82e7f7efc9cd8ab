#include "session.hpp"
#include "table.hpp"

#include <sagekit/inspect.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sagekit::host {

namespace {

std::string gpu_text(const std::vector<GpuCode>& gpu) {
  std::vector<std::string> words;
  for (const auto& code : gpu) {
    std::string word = (code.ptx ? compute_name(code.arch) : sm_name(code.arch));
    if (code.count > 1) word += fmt::format(" x{}", code.count);
    if (code.kernels > 0) word += fmt::format(" ({} kernels)", code.kernels);
    if (!code.loaded) word += " (never loaded)";
    words.push_back(word);
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

void show_file(const Console& console, const FileFacts& file, bool kernels) {
  std::string text = fmt::format("{}  {}, {}\n", console.bold(file.path), file.kind, human_bytes(file.size_bytes));
  if (file.wheel) {
    const WheelFacts& wheel = *file.wheel;
    text +=
        fmt::format("  {} {}  for {}\n", wheel.metadata_name, wheel.metadata_version, fmt::join(wheel.wheel_tags, " "));
    if (!wheel.requires_dist.empty()) text += fmt::format("  needs {}\n", fmt::join(wheel.requires_dist, "; "));
    if (!wheel.generator.empty()) text += fmt::format("  made by {}\n", wheel.generator);
  }
  Rows rows;
  std::size_t others = 0;
  for (const auto& member : file.members) {
    if (!member.elf && !member.pe && member.gpu.empty()) {
      ++others;
      continue;
    }
    std::string needs;
    if (member.elf)
      if (const auto glibc = member.elf->versions.find("GLIBC"); glibc != member.elf->versions.end())
        needs = "glibc " + glibc->second;
    rows.push_back({member.path, human_bytes(member.size_bytes), gpu_text(member.gpu), needs});
  }
  text += table(rows);
  if (others > 0) text += fmt::format("  and {} other files\n", others);
  if (kernels)
    for (const auto& member : file.members)
      for (const auto& code : member.gpu)
        for (const auto& name : code.names)
          text +=
              fmt::format("  {} {} {}\n", member.path, code.ptx ? compute_name(code.arch) : sm_name(code.arch), name);
  console.result(text);
  if (file.wheel)
    for (const auto& problem : file.wheel->problems) console.show(problem);
  for (const auto& member : file.members)
    for (const auto& problem : member.problems) console.show(problem);
}

}  // namespace

int run_verb(Session& session, const InspectArguments& arguments) {
  const InspectOptions options{.kernels = arguments.kernels};
  std::vector<FileFacts> files;
  int code = 0;
  for (const auto& path : arguments.files) {
    auto facts = inspect_file(path, options);
    if (facts)
      files.push_back(std::move(*facts));
    else
      code = std::max(code, report(session, facts.error()));
  }
  if (session.global.json)
    session.console.result(inspect_json(files, options));
  else
    for (const auto& file : files) show_file(session.console, file, arguments.kernels);
  return code;
}

}  // namespace sagekit::host
