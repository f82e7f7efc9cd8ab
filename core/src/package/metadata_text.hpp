#pragma once
// The texts of a dist-info folder: METADATA, WHEEL, RECORD (core metadata 2.4, binary distribution format 1.0).

#include "pypa/metadata_reader.hpp"

#include <sagekit/naming.hpp>
#include <sagekit/plan.hpp>
#include <sagekit/spec.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// METADATA without its body.
std::string metadata_headers(const MetadataSpec& metadata, const Cell& cell,
                             const std::vector<std::string>& license_files, bool has_body);
/// WHEEL; `name` gives tags and build tag.
std::string wheel_text(const WheelName& name);

struct RecordEntry {
  std::string path;
  std::string hash;  ///< "sha256=..."; "" with RECORD itself
  std::uint64_t size_bytes = 0;
};
/// RECORD: a row for each entry, in their order, and one for itself.
std::string record_text(const std::vector<RecordEntry>& entries, const std::string& own_path);
/// The same of rows that are whole.
std::string record_text(const std::vector<RecordRow>& rows);

}  // namespace sagekit
