#include "package/wheel_layout.hpp"

#include "support/utf8.hpp"
#include "package/metadata_text.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/try.hpp"
#include "verify/claims/claims.hpp"

#include <algorithm>

namespace sagekit {

namespace {

constexpr std::uint64_t k_tail = 16 * 1024;
constexpr std::uint64_t k_local_header = 30, k_central_header = 46, k_end_record = 22;

class Builder {
 public:
  Status add_file(const StagedFile& staged, std::string path) {
    TRY_ASSIGN(auto file, MappedFile::open(staged.file));
    if (sha256_hex(file.bytes()) != staged.sha256)
      return fail(ErrorKind::failed, "PKG003", fmt::format("{} has changed since it was verified", staged.archive_path),
                  "build again; something else writes to the store", staged.file.string());
    m_layout.files.push_back(std::move(file));
    add(std::move(path), m_layout.files.back().bytes());
    return {};
  }
  void add_text(std::string path, std::string text) {
    m_layout.texts.push_back(std::move(text));
    add(std::move(path), m_layout.texts.back());
  }
  void add_record(const std::string& path) {
    m_layout.texts.push_back(record_text(m_record, path));
    m_layout.entries.push_back({path, m_layout.texts.back()});
  }
  /// RECORD as it will be when METADATA has this text: its size does not depend on what the hashes are.
  std::string record_with(const std::string& metadata_path, std::string_view text, const std::string& path) const {
    auto record = m_record;
    record.push_back({metadata_path, sha256_record(text), text.size()});
    return record_text(record, path);
  }
  const std::vector<ZipEntry>& entries() const { return m_layout.entries; }
  WheelLayout& layout() { return m_layout; }

 private:
  void add(std::string path, std::string_view bytes) {
    m_record.push_back({path, sha256_record(bytes), bytes.size()});
    m_layout.entries.push_back({std::move(path), bytes});
  }

  WheelLayout m_layout;
  std::vector<RecordEntry> m_record;
};

/// Bytes from METADATA's local header to the end of the archive.
Result<std::uint64_t> tail_size(const Builder& builder, const std::string& metadata_path, std::string_view metadata,
                                const std::string& record_path) {
  std::uint64_t size = k_end_record;
  for (const auto& entry : builder.entries()) size += k_central_header + entry.name.size();
  for (const auto& path : {metadata_path, record_path}) size += k_local_header + k_central_header + 2 * path.size();
  TRY_ASSIGN(const auto metadata_size, deflated_size(metadata));
  TRY_ASSIGN(const auto record_size, deflated_size(builder.record_with(metadata_path, metadata, record_path)));
  return size + metadata_size + record_size;
}

/// The longest METADATA that leaves it in the tail. Where not even the headers fit (thousands of files), cutting gains
/// nothing and the whole text stays.
Result<std::string> fitting_metadata(Builder& builder, const std::string& headers, std::string_view body,
                                     const Spec& spec, const std::string& metadata_path,
                                     const std::string& record_path) {
  std::string whole = headers;
  if (!body.empty()) whole += "\n" + std::string(body);
  TRY_ASSIGN(const auto whole_size, tail_size(builder, metadata_path, whole, record_path));
  TRY_ASSIGN(const auto least, tail_size(builder, metadata_path, headers, record_path));
  if (whole_size <= k_tail || least > k_tail) return whole;

  std::string best = headers + "\n" + shortened_note(spec.metadata);
  for (std::size_t low = 0, high = body.size(); low < high;) {
    const auto middle = (low + high + 1) / 2;
    auto text = headers + "\n" + std::string(cut_at_paragraph(body, middle)) + shortened_note(spec.metadata);
    TRY_ASSIGN(const auto size, tail_size(builder, metadata_path, text, record_path));
    if (size <= k_tail) {
      best = std::move(text);
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  builder.layout().shortened = true;
  return best;
}

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
  builder.add_text(dist_info + std::string(k_provenance_file), provenance_json(spec, revision, build));
  builder.add_text(dist_info + "WHEEL", wheel_text(name));

  // METADATA is UTF-8 by definition; a description in anything else is left out.
  const std::string_view body = is_utf8(build.readme) ? std::string_view(build.readme) : std::string_view();
  const auto headers = metadata_headers(spec.metadata, cell, license_names, !body.empty());
  TRY_ASSIGN(auto metadata,
             fitting_metadata(builder, headers, body, spec, dist_info + "METADATA", dist_info + "RECORD"));
  builder.add_text(dist_info + "METADATA", std::move(metadata));
  builder.add_record(dist_info + "RECORD");

  builder.layout().name = std::move(name);
  return std::move(builder.layout());
}

}  // namespace sagekit
