#include "resolve/remote_modules.hpp"

#include "elf/elf_file.hpp"
#include "gpu/driver_choice.hpp"
#include "gpu/fatbin_reader.hpp"
#include "gpu/gpu_code.hpp"
#include "index/remote_exports.hpp"
#include "inspect/module_reader.hpp"
#include "resolve/module_facts.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"
#include "verify/judge.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace sagekit {

namespace {

constexpr std::uint64_t k_small = 1 << 20;  // read whole: asking for parts costs as much
constexpr std::uint64_t k_most_module = std::uint64_t{512} << 20;
constexpr std::uint64_t k_most_table = 64 << 20, k_section_size = 64, k_most_sections = 4096;
constexpr std::uint64_t k_gpu_step = 256 << 10;
constexpr std::uint32_t k_gnu_hash = 0x6ffffff6, k_verdef = 0x6ffffffd, k_verneed = 0x6ffffffe, k_versym = 0x6fffffff;

/// One module as a file of which only some bytes are known, the others zero. Its tables are where they belong, so the
/// reader of whole modules reads them; its GPU code is known up to a place.
class PartOfModule {
 public:
  PartOfModule(RemoteWheel& wheel, const ZipMember& member, std::stop_token stop)
      : m_ends(wheel, member), m_member(member), m_stop(std::move(stop)) {}

  /// False when the tables cannot be had this way. Errors are those of reading.
  Result<bool> read_tables() {
    if (m_member.size < 64 || m_member.size > k_most_module) return false;
    m_bytes.assign(static_cast<std::size_t>(m_member.size), '\0');
    TRY_ASSIGN(const bool header, know(0, 64));
    const Bytes file{m_bytes};
    if (header && file.starts_with("MZ")) return read_pe_tables();
    if (!header || !ElfFile::looks_like(file) || file.u8(4) != 2 || file.u8(5) != 1 || file.u16(58) != k_section_size ||
        file.u16(60) == 0 || file.u16(60) > k_most_sections)
      return false;
    TRY_ASSIGN(const bool programs, know(file.u64(32), std::uint64_t{file.u16(54)} * file.u16(56)));
    const std::uint64_t table = file.u64(40), count = file.u16(60);
    TRY_ASSIGN(const bool sections, know(table, count * k_section_size));
    if (!programs || !sections) return false;
    const std::uint64_t names = table + file.u16(62) * k_section_size;
    TRY_ASSIGN(const bool named, know(file.u64(names + 24), file.u64(names + 32)));
    if (!named) return false;
    for (std::uint64_t at = table; at < table + count * k_section_size; at += k_section_size) {
      const std::uint32_t type = file.u32(at + 4);
      const std::uint64_t offset = file.u64(at + 24), size = file.u64(at + 32);
      const auto name = file.c_string(file.u64(names + 24) + file.u32(at)).value_or("");
      if (name == ".nv_fatbin") m_gpu_at = offset, m_gpu_size = size;
      const bool wanted = type == SHT_DYNSYM || type == SHT_DYNAMIC || type == SHT_STRTAB || type == SHT_NOTE ||
                          type == k_gnu_hash || type == k_verdef || type == k_verneed || type == k_versym;
      if (!wanted || name == ".strtab") continue;
      TRY_ASSIGN(const bool known, know(offset, size));
      if (!known) return false;
    }
    return true;
  }

  /// Reads the first container of GPU code until something for each GPU was seen, or to its end. False: not to be had.
  Result<bool> read_gpu_code(const std::vector<Gpu>& gpus, const std::function<bool()>& may_go_on) {
    if (m_gpu_size < k_container_header) return true;
    TRY_ASSIGN(const bool header, know(m_gpu_at, k_container_header));
    const Bytes area = Bytes(m_bytes).slice(m_gpu_at, m_gpu_size).value_or(Bytes());
    if (!header || !looks_like_fatbin(area)) return false;
    const std::uint64_t whole = std::min(m_gpu_size, k_container_header + area.u64(8));
    while (m_gpu_known < whole) {
      if (!may_go_on()) return false;
      const std::uint64_t next = std::min(whole, m_gpu_known + k_gpu_step);
      TRY_ASSIGN(const bool known, know(m_gpu_at, next));
      if (!known) return false;
      m_gpu_known = next;
      Problems cut("a part");  // that the container ends too early is no news
      const GpuReading quick{.beginnings = false};
      MemberFacts part;
      part.gpu = sagekit::read_gpu_code({{area.slice(0, m_gpu_known).value_or(Bytes()), GpuArea::Form::fatbins, true}},
                                        quick, cut)
                     .code;
      m_code = part.gpu;
      if (!gpus.empty() && std::ranges::all_of(gpus, [&](const Gpu& gpu) {
            const GpuCode* code = code_for(part, gpu.capability);
            return code != nullptr && !code->ptx;
          }))
        return true;
    }
    return true;
  }

  /// Nothing when a Windows module's tables are damaged: what it imports is then not known, and never "nothing".
  std::optional<MemberFacts> facts(const std::string& path) {
    // Containers that are not known are zeros, which the reader passes over.
    if (m_gpu_size > 0)
      std::memset(m_bytes.data() + m_gpu_at, 0,
                  static_cast<std::size_t>(std::min(m_gpu_size, m_bytes.size() - m_gpu_at)));
    InspectOptions options;
    options.whole_file = options.file_hash = options.member_hashes = false;
    MemberFacts facts = read_module(path, Bytes(m_bytes), options, 1).facts;
    const auto in_tables = [](const Diagnostic& problem) { return problem.code.starts_with("INS03"); };
    if (facts.pe && std::ranges::any_of(facts.problems, in_tables)) return std::nullopt;
    facts.path = path;
    facts.gpu = std::move(m_code);
    facts.problems.clear();
    return facts;
  }

 private:
  /// Headers, and the sections in which the loader's directories lie: imports, exports and their names. Layout:
  /// Microsoft's "PE Format". Which section has GPU code its name says (elf/pe_reader.hpp).
  Result<bool> read_pe_tables() {
    constexpr std::uint64_t k_coff = 24, k_directories = 112, k_section = 40;
    const Bytes file{m_bytes};
    const std::uint64_t pe = file.u32(60);
    TRY_ASSIGN(const bool coff, know(pe, k_coff));
    constexpr std::uint64_t k_most_pe_sections = 96;  // Windows loads no more
    if (!coff || file.u16(pe + 6) > k_most_pe_sections || !file.from(pe).starts_with(std::string_view("PE\0\0", 4)))
      return false;
    const std::uint64_t optional = pe + k_coff, optional_size = file.u16(pe + 20), count = file.u16(pe + 6);
    const std::uint64_t table = optional + optional_size;
    TRY_ASSIGN(const bool headers, know(optional, optional_size + count * k_section));
    if (!headers || optional_size < k_directories || file.u16(optional) != 0x20b) return false;
    std::size_t found = 0, there = 0;
    const std::uint64_t directories = std::min<std::uint64_t>(file.u32(optional + 108), 16);
    const auto directory = [&](std::uint64_t number) -> std::uint64_t {
      const bool listed = number < directories && k_directories + number * 8 + 8 <= optional_size;
      return listed ? file.u32(optional + k_directories + number * 8) : 0;
    };
    // Exports, imports, imports that are loaded when first called.
    constexpr std::array<std::uint64_t, 3> k_wanted = {0, 1, 13};
    for (const auto number : k_wanted) there += directory(number) != 0;
    for (std::uint64_t at = table; at < table + count * k_section; at += k_section) {
      const std::uint64_t address = file.u32(at + 12), offset = file.u32(at + 20);
      const std::uint64_t raw = file.u32(at + 16),
                          size = file.u32(at + 8) == 0 ? raw : std::min<std::uint64_t>(file.u32(at + 8), raw);
      if (file.c_string(at).value_or("").substr(0, 8) == ".nv_fatb") {
        m_gpu_at = offset, m_gpu_size = size;
        continue;
      }
      std::size_t here = 0;
      for (const auto number : k_wanted)
        if (const auto where = directory(number); where != 0 && where >= address && where - address < size) ++here;
      if (here == 0) continue;
      found += here;
      TRY_ASSIGN(const bool known, know(offset, size));
      if (!known) return false;
    }
    return found == there;
  }

  Result<bool> know(std::uint64_t offset, std::uint64_t size) {
    if (size > k_most_table || offset > m_bytes.size() || size > m_bytes.size() - offset) return false;
    TRY_ASSIGN(const auto bytes, m_ends.read(offset, size, m_stop));
    if (!bytes) return false;
    std::memcpy(m_bytes.data() + offset, bytes->data(), bytes->size());
    return true;
  }

  MemberEnds m_ends;
  const ZipMember& m_member;
  std::stop_token m_stop;
  std::string m_bytes;
  std::uint64_t m_gpu_at = 0, m_gpu_size = 0, m_gpu_known = 0;
  std::vector<GpuCode> m_code;
};

}  // namespace

Status read_remote_modules(RemoteWheel& wheel, const Candidate& candidate, const Target& target,
                           const ResolveOptions& options, Traits& traits, std::stop_token stop) {
  const std::uint64_t most = std::max(wheel.size() / 2, 2 * k_small);
  const auto may_go_on = [&] { return wheel.bytes_read() < most; };
  const std::vector<Gpu> gpus = target.gpus.value_or(std::vector<Gpu>());
  Artifact artifact;
  artifact.name = traits.name;
  bool partly = false;
  for (const ZipMember& member : wheel.members()) {
    if (member.is_folder()) continue;
    MemberFacts facts;
    facts.path = member.name;
    facts.size_bytes = member.size;
    if (is_native(member.name)) {
      PartOfModule part(wheel, member, stop);
      bool known = false;
      if (member.compressed_size > k_small) {
        TRY_ASSIGN(known, part.read_tables());
        if (known) {
          TRY_ASSIGN(known, part.read_gpu_code(gpus, may_go_on));
        }
        if (known) {
          auto some = part.facts(member.name);
          known = some.has_value();
          if (known) facts = std::move(*some);
        }
        partly = true;
      }
      if (!known) {
        // A module that cannot be known in part is not known: the rest of the wheel then tells nothing either.
        if (member.compressed_size > k_small || !may_go_on()) {
          traits.notes.push_back(fmt::format("{} cannot be judged by a part of its bytes", member.name));
          return {};
        }
        TRY_ASSIGN(const std::string content, wheel.read(member.name, stop));
        InspectOptions quick;
        quick.whole_file = quick.file_hash = quick.member_hashes = false;
        facts = read_module(member.name, Bytes(content), quick, 1).facts;
        facts.path = member.name;
      }
    }
    artifact.members.push_back(std::move(facts));
  }
  WheelFacts about;
  about.name = traits.name;
  about.dist_info = wheel.dist_info();
  about.requires_dist = traits.requires_dist;
  artifact.wheel = &about;
  artifact.read = [&](const std::string& path) { return wheel.read(path, stop); };
  FindingList findings(Policy::others, {});
  prepare(artifact, options.plugins, nullptr, options.schemes, findings);
  add_modules(artifact, target, traits);
  auto table = runs_on(artifact, {});
  // Of other GPUs the part that was read says nothing.
  if (partly)
    std::erase_if(table, [&](const RunsOn& row) {
      return std::ranges::none_of(gpus, [&](const Gpu& gpu) { return gpu.capability == row.capability; });
    });
  const bool any_code =
      std::ranges::any_of(artifact.members, [](const MemberFacts& member) { return !member.gpu.empty(); });
  if (!table.empty() || !any_code) traits.runs_on = std::move(table);
  // A small one's end is asked for twice.
  traits.runs_on_from = fmt::format("measured in {} of its {} bytes{}", std::min(wheel.bytes_read(), wheel.size()),
                                    wheel.size(), partly ? ", the first compiled file of each module" : "");
  (void)candidate;
  return {};
}

}  // namespace sagekit
