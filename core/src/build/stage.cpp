#include "build/stage.hpp"

#include "archive/archive.hpp"
#include "build/build_record.hpp"
#include "support/file_stamp.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/version.hpp>

#include <algorithm>
#include <optional>
#include <set>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view k_stamps = "stamps";

/// A file of the wheel, before it is put anywhere: what it will be called there, and where it is now.
struct Piece {
  StagedFile staged;
  fs::path file;
  StoredObject object;  ///< of the store, where there is no file
};

/// What a cell's wheel will hold, by content: nothing is copied to find out.
class Stage {
 public:
  Stage(const Cell& cell, const StageContext& context, fs::path scratch)
      : m_cell(cell), m_context(context), m_scratch(std::move(scratch)) {
    m_build.cell = cell;
    m_build.commit = context.plan.commit;
    m_build.plugin_path = m_context.plan.plugin_path;
    m_build.plugin_sha256 = m_context.plan.plugin_sha256;
  }

  Status gather() {
    if (m_context.plan.backend == Backend::setup_py)
      TRY(add_wheel());
    else
      TRY(add_built_files());
    TRY(add_texts());
    add_provenance();
    for (auto* pieces : {&m_files, &m_licenses})
      std::ranges::sort(*pieces, {}, [](const Piece& piece) { return piece.staged.archive_path; });
    for (const auto& piece : m_files) m_build.files.push_back(piece.staged);
    for (const auto& piece : m_licenses) m_build.licenses.push_back(piece.staged);
    return {};
  }

  const CellBuild& build() const { return m_build; }

  /// Puts the files and the record below `folder`.
  Status write(const fs::path& folder, const std::string& record) const {
    TRY(make_directories(folder / "tree"));
    TRY(write_pieces(m_files, folder / "tree"));
    TRY(write_pieces(m_licenses, folder / "licenses"));
    return write_file_atomic(folder / "build.json", record);
  }

 private:
  Status add(const std::string& archive_path, Piece piece, bool license = false) {
    auto& pieces = license ? m_licenses : m_files;
    if (std::ranges::any_of(pieces, [&](const Piece& other) { return other.staged.archive_path == archive_path; }))
      return fail(ErrorKind::failed, "BLD004", fmt::format("{}: two files want the place {}", m_cell.id, archive_path),
                  "mend [[package_files]] in the plugin", m_cell.id);
    piece.staged.archive_path = archive_path;
    if (piece.file.empty()) {
      piece.staged.sha256 = piece.object.sha256;
      piece.staged.size_bytes = piece.object.size_bytes;
    } else {
      TRY_ASSIGN(piece.staged.sha256, sha256_file(piece.file));
      std::error_code error;
      piece.staged.size_bytes = fs::file_size(piece.file, error);
    }
    pieces.push_back(std::move(piece));
    return {};
  }

  Status write_pieces(const std::vector<Piece>& pieces, const fs::path& folder) const {
    for (const auto& piece : pieces) {
      const fs::path target = folder / piece.staged.archive_path;
      TRY(piece.file.empty() ? m_context.store.place(piece.object, target) : link_or_copy(piece.file, target));
    }
    return {};
  }

  Status add_built_files() {
    for (const auto& module : m_context.plan.modules) {
      if (module.cell != m_cell.id) continue;
      TRY_ASSIGN(const auto outputs, m_context.outputs(module.step));
      if (outputs.size() != 1)
        return fail(ErrorKind::bug, "BLD003", fmt::format("step {} made {} files", module.step, outputs.size()));
      TRY(add(module.archive_path, {{}, {}, outputs.front().object}));
    }
    for (const auto& files : m_context.spec.package_files) TRY(add_package_files(files));
    return {};
  }

  Status add_package_files(const PackageFiles& files) {
    const fs::path from = files.from.empty() ? m_context.source.folder : m_context.source.folder / files.from;
    std::set<std::string> chosen;
    std::error_code error;
    fs::recursive_directory_iterator walk(from, error), end;
    for (; !error && walk != end; walk.increment(error)) {
      std::error_code ignored;
      if (!walk->is_regular_file(ignored)) continue;
      auto path = walk->path().lexically_relative(from).generic_string();
      if (globs_select(files.include, path, true) && !globs_select(files.exclude, path, true))
        chosen.insert(std::move(path));
    }
    if (chosen.empty())
      return fail(ErrorKind::usage, "SRC010",
                  fmt::format("no file of {} in the source matches {}", files.from, join(files.include, ", ")),
                  "mend [[package_files]] in the plugin", m_cell.id);
    for (const auto& path : chosen) TRY(add(files.to.empty() ? path : files.to + "/" + path, {{}, from / path, {}}));
    return {};
  }

  /// What upstream's own build put into its wheel, less the dist-info: that is written anew for every wheel.
  Status add_wheel() {
    const auto step = std::ranges::find_if(m_context.plan.steps, [&](const Step& s) {
      return s.kind == StepKind::setup_py && std::ranges::count(s.cells, m_cell.id) > 0;
    });
    if (step == m_context.plan.steps.end())
      return fail(ErrorKind::bug, "BLD003", fmt::format("{} has no setup.py step", m_cell.id));
    TRY(m_context.restore(step->id));
    TRY_ASSIGN(const auto outputs, m_context.outputs(step->id));
    std::vector<RecordedOutput> wheels;
    std::ranges::copy_if(outputs, std::back_inserter(wheels), [](const auto& o) { return o.path.ends_with(".whl"); });
    if (wheels.size() != 1)
      return fail(ErrorKind::failed, "BLD004",
                  fmt::format("{}: setup.py made {} wheels, not one", m_cell.id, wheels.size()));
    const fs::path wheel = m_scratch / "setup-py.whl", unpacked = m_scratch / "unpacked";
    TRY(m_context.store.place(wheels.front().object, wheel));
    TRY(make_directories(unpacked));
    TRY(unpack_archive(wheel, unpacked));
    std::error_code error;
    fs::recursive_directory_iterator walk(unpacked, error), end;
    for (; !error && walk != end; walk.increment(error)) {
      std::error_code ignored;
      const auto path = walk->path().lexically_relative(unpacked).generic_string();
      if (!walk->is_regular_file(ignored) || path.substr(0, path.find('/')).ends_with(".dist-info")) continue;
      TRY(add(path, {{}, walk->path(), {}}));
    }
    for (const auto& module : m_context.plan.modules)
      if (module.cell == m_cell.id && std::ranges::none_of(m_files, [&](const Piece& piece) {
            return piece.staged.archive_path == module.archive_path;
          }))
        return fail(ErrorKind::failed, "BLD004",
                    fmt::format("{}: the wheel that setup.py made has no {}", m_cell.id, module.archive_path),
                    "look into its log for an arch or extension that it left out", m_cell.id);
    return {};
  }

  /// Beside setup.py, else at the top: a subfolder often leaves these to the project's root.
  Result<fs::path> text_file(const std::string& name) const {
    std::error_code error;
    for (const auto& folder : {m_context.source.folder, m_context.source.root})
      if (fs::is_regular_file(folder / name, error)) return folder / name;
    return fail(ErrorKind::usage, "SRC010", fmt::format("the source has no {}", name), "mend [metadata] in the plugin",
                m_cell.id);
  }

  Status add_texts() {
    for (const auto& name : m_context.spec.metadata.license_files) {
      TRY_ASSIGN(const auto file, text_file(name));
      TRY(add(name, {{}, file, {}}, true));
    }
    if (m_context.spec.metadata.readme.empty()) return {};
    TRY_ASSIGN(const auto readme, text_file(m_context.spec.metadata.readme));
    TRY_ASSIGN(m_build.readme, read_file(readme));
    return {};
  }

  void add_provenance() {
    const auto& plan = m_context.plan;
    auto& lines = m_build.provenance;
    m_build.allowed_defects = plan.allowed_defects;
    lines.push_back(fmt::format("sagekit {}", SAGEKIT_VERSION));
    // Not the plugin file's own hash: another compiler makes another file of the same spec, and these lines go into the
    // wheel, whose bytes depend on content only. The build record has it.
    lines.push_back(fmt::format("plugin {} {}", plan.plugin_name, plan.plugin_version));
    lines.push_back(fmt::format("source {} commit {} tree {}", plan.source_url, plan.commit, plan.revision.tree));
    for (const auto& vendored : m_context.spec.source.vendored)
      lines.push_back(
          fmt::format("vendored {} {} commit {} tree {}", vendored.name, vendored.url, vendored.commit, vendored.tree));
    for (const auto& edit : m_context.source.edits) lines.push_back("edit " + edit);
    for (const auto& defect : plan.allowed_defects) lines.push_back("allowed defect " + defect);
    lines.push_back(fmt::format("backend {}", to_string(plan.backend)));
    if (auto proof = m_context.proof(m_cell); !proof.empty()) lines.push_back(std::move(proof));
    if (!m_cell.toolchain) return;
    const auto& t = *m_cell.toolchain;
    const auto tool = [&lines](const std::string& what, const std::string& identity) {
      lines.push_back(fmt::format("{} identity {}", what, identity));
    };
    if (!t.nvcc.version.empty()) tool("nvcc " + t.nvcc.version, t.nvcc.identity);
    tool(fmt::format("host compiler {} {} {}", to_string(t.host_compiler.kind), t.host_compiler.version,
                     t.host_compiler.target),
         t.host_compiler.identity);
    if (!t.torch.version.empty())
      tool("torch " + t.torch.version + (t.torch.local.empty() ? "" : "+" + t.torch.local), t.torch.identity);
    if (!t.python.version.empty()) tool("python " + t.python.version, t.python.identity);
  }

  const Cell& m_cell;
  const StageContext& m_context;
  fs::path m_scratch;
  CellBuild m_build;
  std::vector<Piece> m_files, m_licenses;
};

/// A file's stamp and path.
std::string stamp_line(const StagedFile& file) {
  const auto stamp = stamp_of(file.file);
  return stamp ? to_string(*stamp) + " " + file.archive_path + "\n" : std::string();
}

std::string stamps_text(const std::vector<StagedFile>& files) {
  std::string text;
  for (const auto& file : files) text += stamp_line(file);
  return text;
}

/// What has not been touched since it was looked at is not read again: a matrix of wheels that are all there has
/// gigabytes of modules.
bool is_intact(const CellBuild& build, const fs::path& folder) {
  const auto stamps = stamps_text(build.files), kept = read_file(folder / k_stamps).value_or("");
  if (kept == stamps) return true;
  const auto as_recorded = [](const StagedFile& file) {
    const auto found = sha256_file(file.file);
    return found && *found == file.sha256;
  };
  const auto untouched = [&](const StagedFile& file) {
    const auto line = stamp_line(file);
    return (!line.empty() && ("\n" + kept).find("\n" + line) != std::string::npos) || as_recorded(file);
  };
  if (!std::ranges::all_of(build.files, untouched) || !std::ranges::all_of(build.licenses, as_recorded)) return false;
  (void)write_file_atomic(folder / k_stamps, stamps);
  return true;
}

/// One that somebody or the disk changed is removed.
std::optional<CellBuild> ready_build(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder, error)) return std::nullopt;
  auto ready = read_build_record(folder);
  if (!ready || !is_intact(*ready, folder)) {
    remove_quietly(folder);
    return std::nullopt;
  }
  fs::last_write_time(folder, fs::file_time_type::clock::now(), error);  // for `cache trim`: it is used now
  return *std::move(ready);
}

}  // namespace

Result<CellBuild> stage_cell(const Cell& cell, const StageContext& context) {
  TRY_ASSIGN(const TemporaryFolder scratch, context.store.temporary());
  const auto gathered = [&](const char* folder) -> Result<Stage> {
    Stage stage(cell, context, scratch.path() / folder);
    TRY(stage.gather());
    return stage;
  };
  const auto folder_of = [&](const std::string& record) {
    return context.store.folder("builds") / (cell.id + "-" + sha256_hex(record).substr(0, 16));
  };
  TRY_ASSIGN(const auto found, gathered("found"));
  if (auto ready = ready_build(folder_of(build_record_text(found.build())))) return *std::move(ready);
  // What the store lost meanwhile is made again, and may be other bytes then.
  for (const auto& module : context.plan.modules)
    if (module.cell == cell.id) TRY(context.restore(module.step));
  TRY_ASSIGN(const auto stage, gathered("stage"));
  const auto record = build_record_text(stage.build());
  const auto folder = folder_of(record);
  const fs::path made = scratch.path() / "build";
  TRY(stage.write(made, record));
  // Another build may have put it there since, and be reading it.
  if (auto ready = ready_build(folder)) return *std::move(ready);
  TRY(publish_folder(made, folder));
  TRY_ASSIGN(auto build, read_build_record(folder));
  (void)write_file_atomic(folder / k_stamps, stamps_text(build.files));
  return build;
}

void settle_stamps(const CellBuild& build) {
  const auto folder = fs::path(build.record).parent_path();
  const auto kept = read_file(folder / k_stamps);
  if (!kept) return;
  std::string settled;
  for (const auto& file : build.files) {
    const auto stamp = stamp_of(file.file);
    if (!stamp) return;
    // The time of change is the stamp's last number; all else has to be as it was.
    const auto line = stamp_line(file);
    const auto same = line.substr(0, line.rfind('-', line.find(' ')) + 1);
    if (("\n" + *kept).find("\n" + same) == std::string::npos) return;
    settled += line;
  }
  if (settled != *kept) (void)write_file_atomic(folder / k_stamps, settled);
}

}  // namespace sagekit
