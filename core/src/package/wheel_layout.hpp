#pragma once
// A wheel's members in their order, from a verified build: what the zip writer then writes.

#include "archive/zip_writer.hpp"
#include "support/file.hpp"

#include <sagekit/naming.hpp>
#include <sagekit/spec.hpp>
#include <sagekit/verify.hpp>

#include <deque>
#include <string>
#include <vector>

namespace sagekit {

/// Owns the bytes that the entries point to. Movable, not copyable.
struct WheelLayout {
  WheelName name;
  std::vector<ZipEntry> entries;
  std::deque<MappedFile> files;
  std::deque<std::string> texts;
  bool shortened = false;  ///< the description was cut
};

/// Package files by name, then dist-info: licences, sagekit.json, WHEEL, METADATA, RECORD. The description is cut at a
/// paragraph when METADATA and what follows it would not fit into the file's last 16 KiB: that is what installers that
/// read by HTTP Range fetch first. Errors: PKG003 (failed) when a file is not what was verified.
Result<WheelLayout> lay_out_wheel(const CellBuild& build, const Spec& spec, const Revision& revision);

}  // namespace sagekit
