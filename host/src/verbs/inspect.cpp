#include "render/table.hpp"
#include "session.hpp"
#include "verb.hpp"

#include <sagekit/inspect.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace sagekit::host {

namespace {

struct InspectArguments {
  std::vector<std::string> files;
  bool kernels = false, resources = false, hashes = false, quick = false;
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;
};

void declare(Flags& flags, InspectArguments& arguments) {
  flags.arguments("file", arguments.files, "Wheels, modules, cubins, fatbins").required = true;
  flags.on("--kernels", arguments.kernels, "Read the kernels' names too");
  flags.on("--resources", arguments.resources, "And what each needs: registers, shared, local, stack memory");
  flags.on("--quick", arguments.quick,
           "Of a module, read the known sections only: no SHA-256, no search for GPU code elsewhere");
  flags.on("--hashes", arguments.hashes, "Hash every file of a wheel and compare with its RECORD, as verify does");
  flags.memory("--memory", arguments.memory_bytes, "Memory for what is inflated at a time; without it 2G");
}

std::string code_name(const GpuCode& code) {
  return code.lto ? "LTO " + sm_name(code.arch) : code.ptx ? "PTX " + compute_name(code.arch) : sm_name(code.arch);
}

/// A module's code of all arches, in lines that leave room for the other columns; what is never loaded comes last.
std::vector<std::string> gpu_lines(const std::vector<GpuCode>& gpu) {
  constexpr std::size_t k_columns = 56;
  std::vector<std::string> lines;
  for (const bool loaded : {true, false}) {
    std::string line;
    for (const auto& code : gpu) {
      if (code.loaded != loaded) continue;
      std::string word = code_name(code);
      if (code.count > 1) word += fmt::format(" x{}", code.count);
      if (code.kernels > 0) word += fmt::format(" ({} kernels)", code.kernels);
      if (line.empty()) {
        line = (loaded ? "" : "never loaded: ") + word;
      } else if (line.size() + word.size() < k_columns) {
        line += ", " + word;
      } else {
        lines.push_back(line + ",");
        line = "  " + word;
      }
    }
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
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

/// A few of what everybody needs, and how many more there are: some wheels name hundreds.
std::string needs_text(const std::vector<std::string>& requirements) {
  constexpr std::size_t k_most = 8;
  std::vector<std::string> shown;
  std::size_t more = 0, optional = 0;
  for (const auto& one : requirements) {
    if (one.find("extra ==") != std::string::npos)
      ++optional;
    else if (shown.size() < k_most)
      shown.push_back(one);
    else
      ++more;
  }
  std::string text = fmt::format("{}", fmt::join(shown, ", "));
  if (more > 0) text += fmt::format(" and {} more", more);
  if (optional > 0) text += fmt::format("{}{} for extras", text.empty() ? "" : "; ", optional);
  return text.empty() ? "" : fmt::format("  needs {}\n", text);
}

std::string wheel_text(const WheelFacts& wheel) {
  std::string text =
      fmt::format("  {} {}  for {}\n", wheel.metadata_name, wheel.metadata_version, fmt::join(wheel.wheel_tags, " "));
  text += needs_text(wheel.requires_dist);
  if (!wheel.generator.empty()) text += fmt::format("  made by {}\n", wheel.generator);
  return text;
}

std::string modules_text(const FileFacts& file) {
  Rows rows{{"module", "size", "GPU code", "CUDA", "Python", "system"}};
  std::size_t others = 0;
  std::uint64_t other_bytes = 0;
  for (const auto& member : file.members) {
    if (!member.elf && !member.pe && member.gpu.empty()) {
      ++others, other_bytes += member.size_bytes;
      continue;
    }
    auto code = gpu_lines(member.gpu);
    if (code.empty()) code.emplace_back();
    rows.push_back({member.path, human_bytes(member.size_bytes), code[0], toolkits(member.gpu), member.python_abi,
                    system_text(member)});
    for (std::size_t i = 1; i < code.size(); ++i) rows.push_back({"", "", code[i]});
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

int run(Session& session, const InspectArguments& arguments) {
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

}  // namespace

std::vector<Verb> inspect_verbs() {
  return {make_verb<InspectArguments>(
      {.name = "inspect",
       .what = "What is in a wheel, .so, .pyd, .dll, cubin or fatbin",
       .examples = {"sagekit inspect dist/*.whl", "sagekit inspect --kernels --json _fused.so"},
       .exits = {{0, "every file was read"}, {1, "a file that is readable is none of these"}}},
      declare, run)};
}

}  // namespace sagekit::host
