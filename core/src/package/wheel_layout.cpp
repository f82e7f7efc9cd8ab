#include "package/wheel_layout.hpp"

#include "elf/elf_file.hpp"
#include "package/metadata_text.hpp"
#include "package/sbom.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/try.hpp"
#include "support/utf8.hpp"
#include "verify/build_provenance.hpp"

#include <algorithm>

namespace sagekit {

namespace {

// Named among the licences (PEP 639), for the wheel's own say nothing of it.
constexpr const char* k_runtime_notice_file = "NVIDIA-CUDA-RUNTIME.txt";
constexpr const char* k_runtime_license = "LicenseRef-NVIDIA-CUDA-EULA";

std::string runtime_notice(const std::string& cuda) {
  return fmt::format(
      "Modules of this wheel have parts of the CUDA {} runtime library linked in (libcudart_static).\n"
      "Copyright NVIDIA Corporation. Licence: NVIDIA CUDA Toolkit End User License Agreement, whose Attachment A "
      "names\n"
      "the library among the files that may be distributed with an application:\n"
      "https://docs.nvidia.com/cuda/eula/\n",
      cuda);
}

/// The SPDX expression of both.
std::string and_license(const std::string& own, std::string_view other) {
  if (own.empty()) return std::string(other);
  return own.find(" OR ") == std::string::npos ? fmt::format("{} AND {}", own, other)
                                               : fmt::format("({}) AND {}", own, other);
}

/// Around a module's GPU code: that of all Pythons, torches and CPUs is the same, and most of what there is to
/// compress.
std::vector<std::uint64_t> cuts_of(std::string_view bytes) {
  constexpr std::uint64_t k_worth_it = std::uint64_t{64} << 10;
  if (bytes.size() < k_worth_it) return {};
  Problems ignored("a module");
  const auto file = ElfFile::read(Bytes(bytes), ignored);
  const auto* code = file ? file->section(".nv_fatbin") : nullptr;
  const auto inside = code == nullptr ? std::nullopt : file->content(*code);
  if (!inside || inside->size() < k_worth_it) return {};
  return {code->offset, code->offset + code->size};
}

class Builder {
 public:
  Status add_file(const StagedFile& staged, std::string path) {
    TRY_ASSIGN(auto file, MappedFile::open(staged.file));
    if (sha256_hex(file.bytes()) != staged.sha256)
      return fail(ErrorKind::failed, "PKG003", fmt::format("{} has changed since it was verified", staged.archive_path),
                  "build again; something else writes to the store", staged.file.string());
    m_layout.files.push_back(std::move(file));
    const auto bytes = m_layout.files.back().bytes();
    m_record.push_back({path, sha256_record_of_hex(staged.sha256), bytes.size()});
    m_layout.entries.push_back({std::move(path), bytes, {}, cuts_of(bytes)});
    return {};
  }
  void add_text(std::string path, std::string text) {
    m_layout.texts.push_back(std::move(text));
    const std::string_view bytes = m_layout.texts.back();
    m_record.push_back({path, sha256_record(bytes), bytes.size()});
    m_layout.entries.push_back({std::move(path), bytes});
  }
  void add_record(const std::string& path) {
    m_layout.texts.push_back(record_text(m_record, path));
    m_layout.entries.push_back({path, m_layout.texts.back()});
  }
  WheelLayout& layout() { return m_layout; }

 private:
  WheelLayout m_layout;
  std::vector<RecordEntry> m_record;
};

}  // namespace

Result<WheelLayout> lay_out_wheel(const CellBuild& build, const Spec& spec, const Revision& revision) {
  const Cell& cell = build.cell;
  Builder builder;
  TRY_ASSIGN(auto name, parse_wheel_name(cell.wheel));
  const auto dist_info = fmt::format("{}-{}.dist-info/", name.distribution, name.version);

  auto files = build.files;
  std::ranges::sort(files, {}, &StagedFile::archive_path);
  for (const auto& file : files) TRY(builder.add_file(file, file.archive_path));
  auto licenses = build.licenses;
  std::ranges::sort(licenses, {}, &StagedFile::archive_path);
  std::vector<std::string> license_names;
  for (const auto& file : licenses) {
    TRY(builder.add_file(file, dist_info + "licenses/" + file.archive_path));
    license_names.push_back(file.archive_path);
  }
  MetadataSpec about = spec.metadata;
  if (has_static_cuda_runtime(spec, build)) {
    builder.add_text(fmt::format("{}licenses/{}", dist_info, k_runtime_notice_file), runtime_notice(cell.cuda));
    license_names.emplace_back(k_runtime_notice_file);
    about.license = and_license(about.license, k_runtime_license);
  }
  builder.add_text(dist_info + std::string(k_sbom_file), sbom_json(spec, revision, build, name));
  builder.add_text(dist_info + std::string(k_provenance_file), provenance_json(spec, revision, build));
  builder.add_text(dist_info + "WHEEL", wheel_text(name));

  // METADATA is UTF-8 by definition; a description in anything else is left out.
  const std::string_view body = is_utf8(build.readme) ? std::string_view(build.readme) : std::string_view();
  auto metadata = metadata_headers(about, cell, license_names, !body.empty());
  if (!body.empty()) metadata += "\n" + std::string(body);
  builder.add_text(dist_info + "METADATA", std::move(metadata));
  builder.add_record(dist_info + "RECORD");

  builder.layout().name = std::move(name);
  return std::move(builder.layout());
}

}  // namespace sagekit
