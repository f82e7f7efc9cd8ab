#include "archive/zip_writer.hpp"
#include "package/kept_verdict.hpp"
#include "package/place_file.hpp"
#include "package/wheel_layout.hpp"
#include "support/file.hpp"
#include "support/file_stamp.hpp"
#include "support/format.hpp"
#include "support/run_owner.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/package.hpp>

#include <algorithm>

namespace sagekit {

std::shared_ptr<CompressedParts> make_compressed_parts() { return std::make_shared<CompressedParts>(); }

namespace {

namespace fs = std::filesystem;

/// Gives the cell the name that another scheme makes.
Status rename_cell(Cell& cell, const Spec& spec, const Revision& revision, const PackageOptions& options) {
  auto found = find_scheme(spec, options.naming, options.schemes);
  if (!found) {
    found.error().code = "PKG005";
    return std::unexpected(std::move(found).error());
  }
  const auto* scheme = *found;
  const auto values = naming_values(cell, revision);
  TRY_ASSIGN(auto name, parse_wheel_name(cell.wheel));
  TRY_ASSIGN(name.version, expand_template(scheme->version, values));
  TRY_ASSIGN(name.build, expand_template(scheme->build, values));
  cell.wheel = name.file_name();
  cell.version = name.version;
  cell.build_tag = name.build;
  return {};
}

/// A finished wheel under a temporary name.
struct TemporaryWheel {
  TemporaryFolder folder;
  fs::path file;
  std::string name;  ///< that it will have
};

Result<TemporaryWheel> write_temporary(CellBuild build, const Spec& spec, const Revision& revision,
                                       const PackageOptions& options) {
  if (!options.naming.empty()) TRY(rename_cell(build.cell, spec, revision, options));
  TRY_ASSIGN(const auto layout, lay_out_wheel(build, spec, revision));
  TRY(make_directories(options.output_folder));
  TRY_ASSIGN(auto folder, own_temporary(options.output_folder, ".sagekit"));
  auto file = folder.path() / "wheel.tmp";
  TRY(write_zip(file, layout.entries, dos_time(revision.date), available_threads(), options.compressed.get()));
  std::error_code ignored;
  fs::permissions(file, fs::perms(0644), ignored);  // a file system without modes has none to set
  return TemporaryWheel{std::move(folder), std::move(file), layout.name.file_name()};
}

/// Moves the judged wheel to its name, or finds that it is there already.
Result<PackagedWheel> place(const VerifiedWheel& wheel, const std::string& cell, const fs::path& folder) {
  PackagedWheel made{cell, folder / wheel.name(), wheel.report().sha256, 0, wheel.report(), false};
  std::error_code error;
  made.size_bytes = fs::file_size(wheel.file(), error);
  if (error)
    return fail(ErrorKind::machine, "PKG002",
                fmt::format("{} cannot be read: {}", wheel.file().string(), error.message()));
  made.report.path = made.path.string();
  TRY_ASSIGN(const bool placed, place_file(wheel.file(), made.path));
  made.unchanged = !placed;
  return made;
}

}  // namespace

Result<Verdict<PackagedWheel>> write_package(const VerifiedBuild& verified, const Spec& spec, const Plugin* plugin,
                                             const Revision& revision, const PackageOptions& options,
                                             CommandRunner& runner) {
  const CellBuild& build = verified.build();
  TRY_ASSIGN(const auto written, write_temporary(build, spec, revision, options));
  const auto& [folder, temporary, name] = written;

  TRY_ASSIGN(auto judged, verify_own_wheel(temporary, name, spec, plugin, options.verify, runner));
  if (!judged) {
    judged.error().path = (options.output_folder / name).string();
    return Verdict<PackagedWheel>(std::unexpected(std::move(judged.error())));
  }
  TRY_ASSIGN(auto made, place(*judged, build.cell.id, options.output_folder));
  return Verdict<PackagedWheel>(std::move(made));
}

namespace {

/// The wheel of a kept verdict, when it is in its place or packing brings it back; nothing when it has to be judged.
Result<std::optional<PackagedWheel>> kept_wheel(const KeptVerdict& kept, const CellBuild& build, const Spec& spec,
                                                const Revision& revision, const PackageOptions& options) {
  PackagedWheel wheel{build.cell.id, options.output_folder / kept.wheel, kept.sha256, kept.size_bytes, kept.report,
                      true};
  wheel.report.path = wheel.path.string();
  if (const auto stamp = stamp_of(wheel.path)) {
    if (to_string(*stamp) == kept.stamp) return wheel;
    const auto there = stamp->size_bytes == kept.size_bytes ? sha256_file(wheel.path) : "";
    if (there && *there == kept.sha256) return wheel;
  }
  TRY_ASSIGN(const auto written, write_temporary(build, spec, revision, options));
  TRY_ASSIGN(const auto ours, sha256_file(written.file));
  if (ours != kept.sha256 || written.name != kept.wheel) return std::nullopt;
  TRY_ASSIGN(const bool placed, place_file(written.file, wheel.path));
  wheel.unchanged = !placed;
  return wheel;
}

}  // namespace

Result<Verdict<PackagedWheel>> package_build(const CellBuild& build, const Plugin& plugin,
                                             const PackageOptions& options, CommandRunner& runner) {
  const Revision* revision = find_revision(plugin.spec(), build.commit);
  if (revision == nullptr)
    return fail(ErrorKind::usage, "PKG004",
                fmt::format("{} was built from {}, which this {} plugin does not know", build.cell.id, build.commit,
                            plugin.name()),
                "use the plugin version that built it, or build again");
  PackageOptions allowing = options;
  allowing.verify.allowed_defects = build.allowed_defects;
  const auto key = verdict_key(plugin.sha256(), *revision, allowing);
  const auto kept = key ? find_verdict(build, *key) : std::nullopt;
  std::optional<PackagedWheel> made;
  if (kept) {
    TRY_ASSIGN(made, kept_wheel(*kept, build, plugin.spec(), *revision, allowing));
  }
  if (!made) {
    VerifyOptions staged = allowing.verify;
    staged.interpreters.clear();  // the wheel itself is imported, a moment later
    TRY_ASSIGN(auto verified, verify_build(plugin.spec(), &plugin, build, staged, runner));
    if (!verified) return Verdict<PackagedWheel>(std::unexpected(std::move(verified.error())));
    TRY_ASSIGN(auto packaged, write_package(*verified, plugin.spec(), &plugin, *revision, allowing, runner));
    if (!packaged) return packaged;
    made = std::move(*packaged);
  }
  const auto stamp = stamp_of(made->path);
  const auto stamped = stamp ? to_string(*stamp) : std::string();
  if (key && (!kept || kept->stamp != stamped || kept->wheel != made->path.filename()))
    keep_verdict(build, *key, {made->path.filename().string(), made->sha256, made->size_bytes, stamped, made->report});
  return Verdict<PackagedWheel>(std::move(*made));
}

}  // namespace sagekit
