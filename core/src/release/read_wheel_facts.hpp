#pragma once
// One wheel file read for publishing: is it whole, and what does it say?

#include "archive/inflate.hpp"

#include <sagekit/naming.hpp>
#include <sagekit/release.hpp>

#include <filesystem>
#include <string>

namespace sagekit {

struct WheelReading {
  ReleasedWheel wheel;
  std::string metadata;  ///< METADATA's bytes
};

/// Every member is inflated and its CRC compared, so that a damaged wheel is never published. Errors (failed): what the
/// archive's reader says, NAM001 to NAM006, REL010 no METADATA to read, REL011 the file name says another project or
/// version than METADATA, REL024 a variant's label is not that of its variant.json.
Result<WheelReading> read_wheel_facts(const std::filesystem::path& file, const WheelNameReader& reader,
                                      Inflater& inflater);

}  // namespace sagekit
