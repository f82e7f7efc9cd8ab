#include "archive/zip_writer.hpp"
#include "package/place_file.hpp"
#include "package/wheel_layout.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/package.hpp>

#include <algorithm>

namespace sagekit {

namespace {

namespace fs = std::filesystem;

/// Gives the cell the name that another scheme makes.
Status rename_cell(Cell& cell, const Spec& spec, const Revision& revision, const std::string& scheme_name) {
  auto found = find_scheme(spec, scheme_name);
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
  CellBuild build = verified.build();
  if (!options.naming.empty()) TRY(rename_cell(build.cell, spec, revision, options.naming));
  TRY_ASSIGN(const auto layout, lay_out_wheel(build, spec, revision));
  TRY(make_directories(options.output_folder));
  TRY_ASSIGN(const auto folder, TemporaryFolder::create(options.output_folder, ".sagekit"));
  const auto temporary = folder.path() / "wheel.tmp";
  TRY(write_zip(temporary, layout.entries, dos_time(revision.date)));
  std::error_code ignored;
  fs::permissions(temporary, fs::perms(0644), ignored);  // a file system without modes has none to set

  TRY_ASSIGN(auto judged, verify_own_wheel(temporary, layout.name.file_name(), spec, plugin, options.verify, runner));
  if (!judged) {
    judged.error().path = (options.output_folder / layout.name.file_name()).string();
    return Verdict<PackagedWheel>(std::unexpected(std::move(judged.error())));
  }
  TRY_ASSIGN(auto made, place(*judged, build.cell.id, options.output_folder));
  return Verdict<PackagedWheel>(std::move(made));
}

}  // namespace sagekit
