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
};

/// Package files by name, then dist-info: licences, the bill of materials, sagekit.json, WHEEL, METADATA, RECORD: installers that
/// read by HTTP Range fetch a file's end first. Errors: PKG003 (failed) when a file is not what was verified.
Result<WheelLayout> lay_out_wheel(const CellBuild& build, const Spec& spec, const Revision& revision);

}  // namespace sagekit
