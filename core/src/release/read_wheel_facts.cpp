#include "release/read_wheel_facts.hpp"

#include "archive/wheel_archive.hpp"
#include "inspect/file_hash.hpp"
#include "inspect/name_of_file.hpp"
#include "inspect/provenance.hpp"
#include "pypa/metadata_reader.hpp"
#include "pypa/release_text.hpp"
#include "release/origin.hpp"
#include "release/variant_index.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/try.hpp"

namespace sagekit {

namespace {

/// The dist-info folder of the wheel's name, else the only one there is: installers compare the normal forms.
std::string dist_info_of(const WheelArchive& archive, const WheelName& name) {
  const auto usual = fmt::format("{}-{}.dist-info/", name.distribution, name.version);
  if (archive.find(usual + "METADATA") != nullptr) return usual;
  std::string only;
  for (const auto& member : archive.members()) {
    const auto end = member.name.find(".dist-info/METADATA");
    if (end == std::string::npos || member.name.find('/') < end || !member.name.ends_with("/METADATA")) continue;
    if (!only.empty()) return usual;
    only = member.name.substr(0, member.name.size() - std::string_view("METADATA").size());
  }
  return only.empty() ? usual : only;
}

std::unexpected<Error> contradicts(const std::string& file, std::string_view what, const std::string& named,
                                   const std::string& said) {
  return fail(ErrorKind::failed, "REL011",
              fmt::format("{}: the file name says {} {}, METADATA says {}", file, what, named, said),
              fmt::format("it was renamed by hand, and pip refuses it: give it back the {} that METADATA says", what),
              file);
}

}  // namespace

Result<WheelReading> read_wheel_facts(const std::filesystem::path& file, const WheelNameReader& reader,
                                      Inflater& inflater) {
  TRY_ASSIGN(const auto archive, WheelArchive::open(file));
  WheelReading reading;
  ReleasedWheel& wheel = reading.wheel;
  wheel.file = file.filename().string();
  TRY_ASSIGN(const auto name, name_of_file(file));
  for (const auto& member : archive.members())
    if (!member.is_folder()) {
      auto content = archive.read(member, inflater);
      if (!content) {
        content.error().message = fmt::format("{}: {}", wheel.file, content.error().message);
        return std::unexpected(std::move(content).error());
      }
    }
  const auto dist_info = dist_info_of(archive, name);
  const auto* metadata = archive.find(dist_info + "METADATA");
  if (metadata == nullptr)
    return fail(ErrorKind::failed, "REL010", fmt::format("{} has no {}METADATA", wheel.file, dist_info),
                "it is no wheel that pip would install", wheel.file);
  const auto text_of = [&](const ZipMember& member) -> Result<std::string> {
    TRY_ASSIGN(const Bytes content, archive.read(member, inflater));
    return std::string(content.view());
  };
  TRY_ASSIGN(reading.metadata, text_of(*metadata));
  const auto headers = read_headers(reading.metadata);
  const auto said_name = headers.one("Name"), said_version = headers.one("Version");
  if (!said_name || !said_version)
    return fail(ErrorKind::failed, "REL010", fmt::format("{}: its METADATA has no single Name and Version", wheel.file),
                "sagekit verify says more", wheel.file);
  wheel.project = normalized_project(*said_name);
  wheel.version = *said_version;
  if (wheel.project != normalized_project(name.distribution))
    return contradicts(wheel.file, "project", name.distribution, *said_name);
  if (normal_version(wheel.version).empty() || normal_version(wheel.version) != normal_version(name.version))
    return contradicts(wheel.file, "version", name.version, *said_version);
  wheel.requires_python = headers.one("Requires-Python").value_or("");
  wheel.metadata_sha256 = sha256_hex(reading.metadata);
  wheel.metadata_bytes = reading.metadata.size();
  wheel.size_bytes = archive.bytes().size();
  wheel.sha256 = sha256_of(archive.file());

  if (!name.variant.empty()) {
    const auto* variant = archive.find(dist_info + "variant.json");
    std::string text;
    if (variant != nullptr) {
      TRY_ASSIGN(text, text_of(*variant));
    }
    TRY_ASSIGN(wheel.variants, variant_line(text, name.variant, wheel.file));
  }

  std::optional<Provenance> record;
  if (const auto* provenance = archive.find(dist_info + std::string(k_provenance_file))) {
    TRY_ASSIGN(const auto text, text_of(*provenance));
    if (auto read = read_provenance(text)) record = std::move(*read);
  }
  const auto requirements = headers.all("Requires-Dist");
  wheel.origin = origin_of(name, provenance_of(std::move(record), reader.read(name), requirements), requirements);
  return reading;
}

}  // namespace sagekit
