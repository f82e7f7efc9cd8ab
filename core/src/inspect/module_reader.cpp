#include "inspect/module_reader.hpp"

#include "elf/elf_reader.hpp"
#include "elf/pe_reader.hpp"
#include "elf/python_library.hpp"
#include "gpu/cubin_reader.hpp"
#include "gpu/fatbin_wiring.hpp"
#include "gpu/gpu_code.hpp"
#include "gpu/gpu_scan.hpp"
#include "gpu/ptx_reader.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <array>

namespace sagekit {

namespace {

using Form = GpuArea::Form;

/// The GPU code sections of a host module, each once.
class Sections {
 public:
  explicit Sections(Bytes file, Problems& problems) : m_file(file), m_problems(problems) {}

  /// `content` is a view into the file.
  void add(Bytes content, bool loaded) {
    if (content.empty()) return;
    m_areas.push_back({content, Form::fatbins, loaded});
    m_ranges.push_back({static_cast<std::uint64_t>(content.data() - m_file.data()), content.size()});
  }

  std::vector<GpuArea> areas(bool scan, const PassedBytes& passed) {
    std::sort(m_ranges.begin(), m_ranges.end(),
              [](const FileStretch& a, const FileStretch& b) { return a.offset < b.offset; });
    for (std::size_t i = 1; i < m_ranges.size(); ++i) {
      if (m_ranges[i].offset >= m_ranges[i - 1].offset + m_ranges[i - 1].size) continue;
      m_problems.error("FAT011", "sections with GPU code share bytes; none of it was read");
      return {};
    }
    if (scan) add_hidden(passed);
    return std::move(m_areas);
  }

  bool any() const { return !m_areas.empty(); }

 private:
  void add_hidden(const PassedBytes& passed) {
    const HiddenCode hidden = find_hidden_code(m_file, m_ranges, m_problems, passed);
    for (const Bytes& one : hidden.fatbins) m_areas.push_back({one, Form::fatbins, false});
    for (const Bytes& one : hidden.cubins) m_areas.push_back({one, Form::cubin, false});
    if (!hidden.fatbins.empty() || !hidden.cubins.empty())
      m_problems.note("FAT010",
                      "some GPU code lies outside the sections made for it; whether it is ever loaded is not known");
  }

  Bytes m_file;
  Problems& m_problems;
  std::vector<GpuArea> m_areas;
  std::vector<FileStretch> m_ranges;
};

std::vector<GpuArea> elf_areas(const ElfFile& file, bool scan, const PassedBytes& passed, Problems& problems) {
  Sections sections(file.bytes(), problems);
  for (const ElfSection& section : file.sections()) {
    const bool loaded = section.name == ".nv_fatbin";
    if (!loaded && section.name != "__nv_relfatbin") continue;
    if (const auto content = file.content(section))
      sections.add(*content, loaded);
    else
      problems.error("FAT001", "a section with GPU code lies outside the file");
  }
  auto areas = sections.areas(scan || file.sections().empty(), passed);
  if (!file.sections().empty() || areas.empty()) return areas;
  for (GpuArea& area : areas) area.loaded = true;
  problems.error("FAT012", "the file has no section table, so which of its GPU code is loaded is not known");
  return areas;
}

std::vector<GpuArea> pe_areas(const PeFile& file, Bytes bytes, bool scan, const PassedBytes& passed,
                              Problems& problems) {
  Sections sections(bytes, problems);
  for (const PeSection& section : file.sections) {
    const bool loaded = section.name == ".nv_fatb";
    if (loaded || section.name == "__nv_rel") sections.add(section.content, loaded);
  }
  return sections.areas(scan, passed);
}

bool exports_python_init(const std::vector<std::string>& exports) {
  return std::any_of(exports.begin(), exports.end(), is_python_init);
}

std::string extension_abi(std::string_view path, const std::vector<std::string>& exports) {
  std::string abi = python_abi_of_name(path);
  // A bare ".so" is an extension module's suffix too, and that of every library: the entry point tells.
  if (abi.empty() && lower(path).ends_with(".so") && exports_python_init(exports)) abi = "none";
  return abi;
}

void read_elf(ModuleReading& reading, Bytes bytes, const InspectOptions& options, const GpuReading& how,
              Problems& problems) {
  const auto file = ElfFile::read(bytes, problems);
  if (!file) return;
  reading.facts.elf = read_elf_facts(*file, options.symbols, problems);
  reading.facts.python_abi = extension_abi(reading.facts.path, reading.facts.elf->exports);
  auto code = read_gpu_code(elf_areas(*file, options.whole_file, how.passed, problems), how, problems);
  reading.facts.wiring = read_wiring(*file, code);
  reading.facts.gpu = std::move(code.code);
}

void read_windows(ModuleReading& reading, Bytes bytes, const InspectOptions& options, const GpuReading& how,
                  Problems& problems) {
  auto file = read_pe(bytes, problems);
  if (!file) return;
  auto code = read_gpu_code(pe_areas(*file, bytes, options.whole_file, how.passed, problems), how, problems);
  reading.facts.wiring = read_wiring(*file, bytes, code);
  reading.facts.gpu = std::move(code.code);
  reading.facts.pe = std::move(file->facts);
  reading.facts.python_abi = extension_abi(reading.facts.path, reading.facts.pe->exports);
  // Windows has no suffix for the stable ABI: what a plain .pyd is for, its imports say.
  if (reading.facts.python_abi == "none")
    if (auto bound = python_abi_of_imports(reading.facts.pe->imports); !bound.empty())
      reading.facts.python_abi = std::move(bound);
}

/// The file, its section table or a section could not be read.
constexpr std::array<std::string_view, 7> k_lost_sections{"FAT001", "FAT011", "INS020", "INS021",
                                                          "INS022", "INS030", "INS031"};

}  // namespace

bool hides_gpu_code(const MemberFacts& member) {
  return std::ranges::none_of(member.gpu, &GpuCode::loaded) &&
         std::ranges::any_of(member.problems, [](const Diagnostic& problem) {
           return std::ranges::find(k_lost_sections, std::string_view(problem.code)) != k_lost_sections.end();
         });
}

std::string python_abi_of_name(std::string_view path) {
  const std::string file = lower(after_last(path, '/'));
  const bool windows = file.ends_with(".pyd");
  if (!windows && !file.ends_with(".so")) return {};
  const std::string stem = file.substr(0, file.rfind('.'));
  const std::size_t dot = stem.rfind('.');
  if (dot == std::string::npos) return windows ? "none" : "";
  const std::string tag = stem.substr(dot + 1);
  if (tag == "abi3" || tag == "abi3t") return tag;
  const std::string first = tag.substr(0, tag.find('-'));
  if (tag.starts_with("cpython-")) {
    const std::string rest = tag.substr(8);
    return "cp" + rest.substr(0, rest.find('-'));
  }
  if (windows && first.size() > 2 && first.starts_with("cp") && first.find_first_not_of("0123456789", 2) >= 3)
    return first;
  return windows ? "none" : "";
}

ModuleReading read_module(std::string_view name, Bytes bytes, const InspectOptions& options, unsigned threads,
                          const PassedBytes& passed) {
  const GpuReading how = gpu_reading(options, threads, passed);
  ModuleReading reading;
  reading.facts.path = name;
  reading.facts.size_bytes = bytes.size();
  Problems problems{std::string(name)};
  if (looks_like_cubin(bytes)) {
    reading.kind = "cubin";
    reading.facts.gpu = read_gpu_code({{bytes, Form::cubin, true}}, how, problems).code;
  } else if (ElfFile::looks_like(bytes)) {
    reading.kind = "elf";
    read_elf(reading, bytes, options, how, problems);
  } else if (looks_like_pe(bytes)) {
    reading.kind = "pe";
    read_windows(reading, bytes, options, how, problems);
  } else if (bytes.u32(0) == k_fatbin_magic) {
    reading.kind = "fatbin";
    reading.facts.gpu = read_gpu_code({{bytes, Form::fatbins, true}}, how, problems).code;
  } else if (looks_like_ptx(bytes.view())) {
    reading.kind = "ptx";
    reading.facts.gpu = read_gpu_code({{bytes, Form::ptx, true}}, how, problems).code;
  }
  reading.facts.kernels_read = how.kernels;
  reading.facts.problems = problems.take();
  return reading;
}

}  // namespace sagekit
