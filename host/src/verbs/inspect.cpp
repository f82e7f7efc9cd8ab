#include "session.hpp"
#include "table.hpp"

#include <sagekit/inspect.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace sagekit::host {

namespace {

std::string code_name(const GpuCode& code) {
  return code.lto ? "LTO " + sm_name(code.arch) : code.ptx ? "PTX " + compute_name(code.arch) : sm_name(code.arch);
}

std::string gpu_text(const std::vector<GpuCode>& gpu) {
  std::vector<std::string> words;
  for (const auto& code : gpu) {
    std::string word = code_name(code);
    if (code.count > 1) word += fmt::format(" x{}", code.count);
    if (code.kernels > 0) word += fmt::format(" ({} kernels)", code.kernels);
    if (!code.loaded) word += " (never loaded)";
    words.push_back(word);
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

/// The toolkits that made the code: "13.0".
std::string toolkits(const std::vector<GpuCode>& gpu) {
  std::vector<std::string> found;
  for (const auto& code : gpu)
    if (!code.toolkit.empty() && std::ranges::count(found, code.toolkit) == 0) found.push_back(code.toolkit);
  std::ranges::sort(found);
  return fmt::format("{}", fmt::join(found, ", "));
}

/// What it asks of the system: "x86_64, glibc 2.14".
std::string system_text(const MemberFacts& member) {
  if (member.pe) return member.pe->machine + ", Windows";
  if (!member.elf) return "";
  std::string text = member.elf->machine;
  if (const auto glibc = member.elf->versions.find("GLIBC"); glibc != member.elf->versions.end())
    text += ", glibc " + glibc->second;
  else if (member.elf->libc == "musl")
    text += ", musl";
  return text;
}

std::string wheel_text(const WheelFacts& wheel) {
  std::string text =
      fmt::format("  {} {}  for {}\n", wheel.metadata_name, wheel.metadata_version, fmt::join(wheel.wheel_tags, " "));
  if (!wheel.requires_dist.empty()) text += fmt::format("  needs {}\n", fmt::join(wheel.requires_dist, ", "));
  if (!wheel.generator.empty()) text += fmt::format("  made by {}\n", wheel.generator);
  return text;
}

std::string modules_text(const FileFacts& file) {
  Rows rows{{"module", "size", "GPU code", "CUDA", "Python", "system"}};
  std::size_t others = 0;
  std::uint64_t other_bytes = 0;
  for (const auto& member : file.members) {
    if (member.elf || member.pe || !member.gpu.empty())
      rows.push_back({member.path, human_bytes(member.size_bytes), gpu_text(member.gpu), toolkits(member.gpu),
                      member.python_abi, system_text(member)});
    else
      ++others, other_bytes += member.size_bytes;
  }
  std::string text = rows.size() > 1 ? table(rows) : "";
  if (others > 0) text += fmt::format("  and {} other files, {}\n", others, human_bytes(other_bytes));
  return text;
}

std::string kernels_text(const FileFacts& file, bool resources) {
  std::string text;
  for (const auto& member : file.members)
    for (const auto& code : member.gpu) {
      if (code.names.empty()) continue;
      text += fmt::format("\n  {}  {}\n", member.path, code_name(code));
      Rows rows;
      if (resources && !code.resources.empty()) {
        rows.push_back({"registers", "shared", "stack", "local", "code", "kernel"});
        for (const auto& kernel : code.resources)
          rows.push_back(
              {std::to_string(kernel.registers), std::to_string(kernel.shared_bytes),
               std::to_string(kernel.stack_bytes),
               kernel.local_counted ? std::to_string(kernel.local_load_bytes + kernel.local_store_bytes) : "?",
               std::to_string(kernel.code_bytes), kernel.name});
      } else {
        for (const auto& name : code.names) rows.push_back({name});
      }
      text += table(rows, "    ");
    }
  return text;
}

void show_file(const Console& console, const FileFacts& file, const InspectOptions& options) {
  std::string text = fmt::format("{}  {}, {}\n", console.bold(file.path), file.kind, human_bytes(file.size_bytes));
  if (file.wheel) text += wheel_text(*file.wheel);
  text += modules_text(file);
  if (options.kernels) text += kernels_text(file, options.resources);
  console.result(text);
  if (file.wheel)
    for (const auto& problem : file.wheel->problems) console.show(problem);
  for (const auto& member : file.members)
    for (const auto& problem : member.problems) console.show(problem);
}

}  // namespace

int run_verb(Session& session, const InspectArguments& arguments) {
  InspectOptions options{.kernels = arguments.kernels || arguments.resources, .resources = arguments.resources};
  options.member_hashes = arguments.hashes;
  options.file_hash = arguments.hashes || session.global.json;  // the table does not show it
  options.whole_file = options.symbols = !arguments.quick;
  options.memory_bytes = arguments.memory_bytes;
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
    for (const auto& file : files) show_file(session.console, file, options);
  return code;
}

}  // namespace sagekit::host
