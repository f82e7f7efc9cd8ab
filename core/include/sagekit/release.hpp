#pragma once
// What a folder of wheels is published as: one value. The manifest, indexes, checksums, reports, notes and coverage are
// renderings of it.

#include <sagekit/error.hpp>
#include <sagekit/export.hpp>
#include <sagekit/spec.hpp>
#include <sagekit/verify.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// What a wheel says it was made from: its sagekit.json, else what its file name and METADATA tell. "" and empty = not
/// said.
struct WheelOrigin {
  std::string plugin, plugin_version;
  std::string source_url, commit;
  std::string cell, python, torch, cuda, platform;  ///< "3.12" "2.11.0" "13.0" "linux_x86_64"
  std::string torch_min;                            ///< "2.10.0": this torch and every newer one, instead of `torch`
  std::vector<std::string> arches, edits, tools;    ///< "9.0a"; ids of source edits; "nvcc 13.0.88 sha256..."
  bool default_arches = false;                      ///< its name says that it has the plugin's default arch set
  std::string requires_torch = {};                  ///< ">=2.10": what METADATA asks where nothing says a torch
  bool operator==(const WheelOrigin&) const = default;
};

struct ReleasedWheel {
  std::string file;  ///< its name
  std::string path;  ///< below the folder that was read, with "/"; "" = only a manifest knows it
  std::string url;   ///< where it is published; "" = not known
  std::uint64_t size_bytes = 0;
  std::string sha256;
  std::string project, version;  ///< normal form of the name; METADATA's version
  std::string requires_python;
  std::string metadata_sha256;  ///< of the bytes of METADATA; "" = not known
  std::uint64_t metadata_bytes = 0;
  std::string modified;    ///< the file's own time, as below; "" = it is not at hand
  std::string uploaded;    ///< "2026-08-22T10:00:00.000000Z"; "" = not known
  std::string provenance;  ///< PEP 740: a file below the folder, or an address; "" = none
  /// Why installers leave it alone (yanked.toml, PEP 592); nothing = they do not.
  std::optional<std::string> yanked;
  std::string variants;  ///< its variant.json (PEP 825, a draft) on one line; "" = it is no variant
  WheelOrigin origin;
  WheelVerdict verdict = WheelVerdict::unjudged;
  std::vector<RunsOn> runs_on;    ///< of a manifest: capability, verdict and reason only
  std::vector<Finding> findings;  ///< that are no passes
};

struct Release {
  /// That made the wheels; "" = several, or none. The hash is that of the one here, when it has that version.
  std::string plugin, plugin_version, plugin_sha256;
  std::string source_url;
  std::vector<ReleasedWheel> wheels;  ///< by file name
};

inline constexpr std::string_view k_manifest_file = "sagekit.release.json";

/// "2026-08-22T10:00:00Z", with a fraction of a second or without: a day and a time that there are. Installers refuse
/// the whole page of an index that has another.
SAGEKIT_API bool is_upload_time(std::string_view text);

/// What stands before a wheel's name, with "/" at its end: in its path, what no address may hold is escaped, and what
/// is escaped stays. REL019 (usage) for what no wheel can be below: no http or https address, one with ? or #, one with
/// a user name or password, which everybody would read.
SAGEKIT_API Result<std::string> base_address(const std::string& url);

/// "sagekit.release/1" (docs/json.md). A function of the value: no time, no path of this machine.
SAGEKIT_API std::string release_json(const Release& release);
/// Reads it back. Strict about what programs rely on (file names, hashes, sizes), for it decides what is installed.
/// Error REL015 (failed).
SAGEKIT_API Result<Release> read_release(std::string_view text, std::string_view origin);

struct ScanOptions {
  /// Facts of wheels whose size and times are as they were when this file was written are taken from it; then it is
  /// written anew. Empty: every wheel is read.
  std::filesystem::path cache = {};
  std::vector<std::filesystem::path> skip = {};  ///< folders that are not looked into
  bool with_metadata = false;                    ///< fill Scan::metadata
  std::vector<NamingScheme> schemes = {};        ///< rows that names are read by before those that are always there
  std::stop_token stop = {};                     ///< asked before each wheel; nothing was written then
};

/// METADATA's bytes, and where an index wants them: beside the wheel, as NAME.whl.metadata (PEP 658).
struct MetadataBeside {
  std::filesystem::path path;
  std::string bytes;
};

struct Scan {
  Release release;                       ///< without verdicts
  std::vector<Error> refused;            ///< wheels that must not be published, each with its one reason
  std::size_t read = 0;                  ///< wheels that were read; the others were known
  std::vector<MetadataBeside> metadata;  ///< of the wheels that were read: the others have theirs beside them
};

/// Judges the wheels of a folder as `verify` does, fills in verdict, findings and the GPUs they run on, and names the
/// plugin and the source where all have one. `plugins`: all loaded. `on_wheel`: called before each. `stop`: asked
/// before each. Errors: those of verify_wheel; interrupted.
SAGEKIT_API Status judge_release(Release& release, const std::filesystem::path& folder,
                                 const std::vector<const Plugin*>& plugins, const VerifyOptions& options,
                                 CommandRunner& runner, const std::function<void(const std::string& file)>& on_wheel,
                                 const std::stop_token& stop = {});

/// What sha256sum writes and checks, by file name.
SAGEKIT_API std::string checksums_text(const Release& release);
/// An in-toto statement about all wheels with SLSA's provenance predicate (slsa.dev/provenance/v1), unsigned: for
/// cosign and for GitHub's attestations to sign.
SAGEKIT_API std::string provenance_statement(const Release& release);
inline constexpr std::string_view k_checksums_file = "SHA256SUMS", k_statement_file = "sagekit.intoto.json";
/// What `release_notes` says (publish.hpp).
inline constexpr std::string_view k_notes_file = "NOTES.md";

/// Every wheel below a folder, read whole: its framing, the CRC of each member, its name against its METADATA; hidden
/// folders are passed over. A manifest in the folder is held against the wheels and gives their addresses and times.
/// Errors: FIL001, FIL002, REL015, interrupted. In `refused`: REL010 to REL014, and what the readers say of a damaged
/// one.
SAGEKIT_API Result<Scan> scan_wheels(const std::filesystem::path& folder, const ScanOptions& options = {});

}  // namespace sagekit
