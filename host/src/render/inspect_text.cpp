#include "render/inspect_text.hpp"

#include "printable.hpp"
#include "render/table.hpp"
#include "render/text.hpp"

#include <sagekit/version_number.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <vector>

namespace sagekit::host {

namespace {

std::string code_name(const GpuCode& code) {
  return code.lto ? "LTO " + sm_name(code.arch) : code.ptx ? "PTX " + compute_name(code.arch) : sm_name(code.arch);
}

bool older(const std::string& a, const std::string& b) {
  return parse_version_number(a).value_or(VersionNumber{}) < parse_version_number(b).value_or(VersionNumber{});
}

/// The toolkits that made the code: "12.6, 13.0". PTX says the form it has, which later ones write, too: alone
/// "12.5 or newer", and nothing beside machine code that such a one made.
std::string toolkits(const std::vector<GpuCode>& gpu) {
  std::vector<std::string> found;
  std::string of_ptx;
  for (const auto& code : gpu) {
    if (code.ptx && older(of_ptx, code.toolkit)) of_ptx = code.toolkit;
    if (code.ptx || code.toolkit.empty() || std::ranges::count(found, code.toolkit) > 0) continue;
    found.push_back(code.toolkit);
  }
  std::ranges::sort(found, older);
  if (!of_ptx.empty() && (found.empty() || older(found.back(), of_ptx))) found.push_back(of_ptx + " or newer");
  return fmt::format("{}", fmt::join(found, ", "));
}

std::string codes_text(const std::vector<GpuCode>& gpu, bool loaded) {
  std::vector<std::string> words;
  for (const auto& code : gpu) {
    if (code.loaded != loaded) continue;
    std::string word = code_name(code);
    if (code.count > 1) word += fmt::format(" x{}", code.count);
    if (code.kernels > 0) word += fmt::format(" ({} kernels)", code.kernels);
    words.push_back(word);
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

/// A module's code of all arches; what is never loaded in a line of its own.
std::vector<std::string> gpu_lines(const std::vector<GpuCode>& gpu) {
  std::vector<std::string> lines;
  const auto made = toolkits(gpu);
  if (const auto text = codes_text(gpu, true); !text.empty())
    lines.push_back(made.empty() ? text : fmt::format("CUDA {}: {}", made, text));
  if (const auto text = codes_text(gpu, false); !text.empty()) lines.push_back("never loaded: " + text);
  return lines;
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

bool is_module(const MemberFacts& member) { return member.elf || member.pe || !member.gpu.empty(); }

/// A module by its name, of which nothing could be read, or not where GPU code lies.
bool is_unread(const MemberFacts& member) {
  if (hides_gpu_code(member)) return true;
  const auto name = std::string_view(member.path).substr(member.path.rfind('/') + 1);
  const bool named_so = name.ends_with(".so") || name.find(".so.") != std::string_view::npos ||
                        name.ends_with(".pyd") || name.ends_with(".dll");
  return named_so && !is_module(member) &&
         std::ranges::find(member.problems, Severity::error, &Diagnostic::severity) != member.problems.end();
}

/// A few of what everybody needs, and how many more there are: some wheels name hundreds.
std::string needs_text(const std::vector<std::string>& requirements, std::size_t width) {
  constexpr std::size_t k_most = 8;
  std::vector<std::string> shown;
  std::size_t more = 0, optional = 0;
  for (const auto& one : requirements) {
    if (one.find("extra ==") != std::string::npos)
      ++optional;
    else if (shown.size() < k_most)
      shown.push_back(one_line(one));
    else
      ++more;
  }
  std::string text = fmt::format("{}", fmt::join(shown, ", "));
  if (more > 0) text += fmt::format(" and {} more", more);
  if (optional > 0) text += fmt::format("{}{} for extras", text.empty() ? "" : "; ", optional);
  return text.empty() ? "" : wrap(text, "  needs ", "    ", width);
}

/// What all modules together have code for and ask of the machine.
std::string summary_text(const FileFacts& file, std::size_t width) {
  std::vector<GpuCode> all, every;  // of those that are never loaded, too, the toolkit tells who made the module
  std::set<std::string> pythons, machines;
  std::string glibc;
  std::size_t modules = 0, unread = 0;
  for (const auto& member : file.members) {
    unread += is_unread(member) ? 1 : 0;
    if (!is_module(member)) continue;
    ++modules;
    std::ranges::copy_if(member.gpu, std::back_inserter(all), &GpuCode::loaded);
    std::ranges::copy(member.gpu, std::back_inserter(every));
    if (!member.python_abi.empty() && member.python_abi != "none") pythons.insert(member.python_abi);
    if (member.pe) machines.insert(member.pe->machine + " Windows");
    if (!member.elf) continue;
    machines.insert(member.elf->machine + " Linux");
    if (const auto found = member.elf->versions.find("GLIBC"); found != member.elf->versions.end())
      if (glibc.empty() || older(glibc, found->second)) glibc = found->second;
  }
  if (modules == 0 && unread == 0) return "  no native module, no GPU code\n";
  const std::string damaged = unread == 0 ? ""
                                          : fmt::format("  {} could not be read: what GPU code is there is not known\n",
                                                        counted(unread, "module", "modules"));
  if (modules == 0) return damaged;
  std::vector<std::string> codes;
  std::ranges::sort(all, {}, [](const GpuCode& code) { return std::tuple(code.ptx, code.lto, code.arch); });
  for (const auto& code : all)
    if (const auto name = code_name(code); std::ranges::count(codes, name) == 0) codes.push_back(name);
  std::string text;
  if (codes.empty()) {
    text += unread == 0 ? "  no GPU code\n" : "";
  } else {
    const auto made = toolkits(every);
    text += wrap(fmt::format("{}{}", fmt::join(codes, ", "), made.empty() ? "" : "; made by CUDA " + made),
                 "  GPU code for ", "    ", width);
  }
  text += wrap(fmt::format("{}{}{}", fmt::join(machines, ", "), glibc.empty() ? "" : ", glibc " + glibc + " or newer",
                           pythons.empty() ? "" : fmt::format(", Python {}", fmt::join(pythons, " "))),
               "  for ", "    ", width);
  return text + damaged;
}

std::string wheel_text(const WheelFacts& wheel, std::size_t width) {
  std::string tags;
  for (const auto& tag : wheel.wheel_tags) tags += " " + one_line(tag);
  return wrap(fmt::format("{} {}  for{}", one_line(wheel.metadata_name), one_line(wheel.metadata_version), tags), "  ",
              "    ", width);
}

/// Columns where they fit; else a module's facts stand below its name.
std::string modules_text(const Console& console, const FileFacts& file, std::size_t width) {
  constexpr std::size_t k_least_gpu = 40;
  Rows rows{{"module", "size", "Python", "system", "GPU code"}};
  std::string blocks;
  std::size_t fixed = 0, others = 0;
  std::uint64_t other_bytes = 0;
  bool gpu = false;
  for (const auto& member : file.members) {
    if (!is_module(member)) {
      ++others, other_bytes += member.size_bytes;
      continue;
    }
    auto codes = gpu_lines(member.gpu);
    gpu = gpu || !codes.empty();
    const auto path = one_line(member.path), size = human_bytes(member.size_bytes), system = system_text(member);
    std::vector<std::string> facts{size};
    for (const auto& fact : {member.python_abi, system})
      if (!fact.empty() && fact != "none") facts.push_back(fact);
    blocks += fmt::format("  {}\n", console.bold(path));
    blocks += wrap(fmt::format("{}", fmt::join(facts, ", ")), "    ", "    ", width);
    for (const auto& line : codes) blocks += wrap(line, "    ", "      ", width);
    if (codes.empty()) codes.emplace_back();
    rows.push_back({path, size, member.python_abi, system, codes.front()});
    for (std::size_t i = 1; i < codes.size(); ++i) rows.push_back({"", "", "", "", codes[i]});
  }
  std::string text;
  if (rows.size() > 1) {
    std::size_t widths[4] = {};
    for (const auto& row : rows)
      for (std::size_t i = 0; i < 4; ++i) widths[i] = std::max(widths[i], display_width(row[i]) + 2);
    for (const auto one : widths) fixed += one;
    if (!gpu)
      for (auto& row : rows) row.pop_back();
    text = 2 + fixed + (gpu ? k_least_gpu : 0) <= width ? table(rows, "  ", width) : blocks;
  }
  if (others > 0)
    text += fmt::format("  and {}, {}\n", counted(others, "other file", "other files"), human_bytes(other_bytes));
  return text;
}

std::string kernels_text(const FileFacts& file, bool resources) {
  std::string text;
  for (const auto& member : file.members)
    for (const auto& code : member.gpu) {
      if (code.names.empty()) continue;
      text += fmt::format("\n  {}  {}\n", one_line(member.path), code_name(code));
      Rows rows;
      if (resources && !code.resources.empty()) {
        rows.push_back({"registers", "shared", "stack", "local", "code", "kernel"});
        for (const auto& kernel : code.resources)
          rows.push_back(
              {std::to_string(kernel.registers), std::to_string(kernel.shared_bytes),
               std::to_string(kernel.stack_bytes),
               kernel.local_counted ? std::to_string(kernel.local_load_bytes + kernel.local_store_bytes) : "?",
               std::to_string(kernel.code_bytes), one_line(kernel.name)});
      } else {
        for (const auto& name : code.names) rows.push_back({one_line(name)});
      }
      text += table(rows, "    ");
    }
  return text;
}

/// As sha256sum writes them: of the file, then of those in it.
std::string hashes_text(const FileFacts& file) {
  std::string text = fmt::format("\n  {}  {}\n", file.sha256, one_line(file.path));
  for (const auto& member : file.members)
    if (!member.sha256.empty()) text += fmt::format("  {}  {}\n", member.sha256, one_line(member.path));
  return text;
}

}  // namespace

std::string inspect_text(const Console& console, const FileFacts& file, const InspectOptions& options,
                         std::size_t width) {
  std::string text =
      wrap(fmt::format("{}  {}, {}", console.bold(one_line(file.path)), file.kind, human_bytes(file.size_bytes)), "",
           "  ", width);
  if (file.wheel) {
    text += wheel_text(*file.wheel, width) + summary_text(file, width) + needs_text(file.wheel->requires_dist, width);
    if (!file.wheel->generator.empty()) text += wrap(one_line(file.wheel->generator), "  made by ", "    ", width);
  }
  text += modules_text(console, file, width);
  if (options.kernels) text += kernels_text(file, options.resources);
  if (options.member_hashes) text += hashes_text(file);
  return text;
}

}  // namespace sagekit::host
