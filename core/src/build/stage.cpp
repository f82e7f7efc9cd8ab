#include "build/stage.hpp"

#include "archive/archive.hpp"
#include "build/build_record.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/version.hpp>

#include <algorithm>
#include <set>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

class Stage {
 public:
  Stage(const Cell& cell, const StageContext& context, fs::path scratch)
      : m_cell(cell), m_context(context), m_scratch(std::move(scratch)) {
    m_build.cell = cell;
    m_build.commit = context.plan.commit;
    m_build.plugin_path = m_context.plan.plugin_path;
    m_build.plugin_sha256 = m_context.plan.plugin_sha256;
  }

  Result<CellBuild> make() {
    if (m_context.plan.backend == Backend::setup_py)
      TRY(add_wheel());
    else
      TRY(add_built_files());
    TRY(add_texts());
    add_provenance();
    std::ranges::sort(m_build.files, {}, &StagedFile::archive_path);
    std::ranges::sort(m_build.licenses, {}, &StagedFile::archive_path);
    return std::move(m_build);
  }

 private:
  Status add(const std::string& archive_path, const fs::path& file, const char* folder = "tree") {
    auto& list = std::string_view(folder) == "tree" ? m_build.files : m_build.licenses;
    if (std::ranges::find(list, archive_path, &StagedFile::archive_path) != list.end())
      return fail(ErrorKind::failed, "BLD004", fmt::format("{}: two files want the place {}", m_cell.id, archive_path),
                  "mend [[package_files]] in the plugin", m_cell.id);
    const fs::path target = m_scratch / folder / archive_path;
    TRY(link_or_copy(file, target));
    StagedFile staged{archive_path, target, {}, 0};
    TRY_ASSIGN(staged.sha256, sha256_file(target));
    std::error_code error;
    staged.size_bytes = fs::file_size(target, error);
    list.push_back(std::move(staged));
    return {};
  }

  Status add_built_files() {
    for (const auto& module : m_context.plan.modules) {
      if (module.cell != m_cell.id) continue;
      TRY_ASSIGN(const auto outputs, m_context.outputs(module.step));
      if (outputs.size() != 1)
        return fail(ErrorKind::bug, "BLD003", fmt::format("step {} made {} files", module.step, outputs.size()));
      const fs::path module_file = m_scratch / "module";
      TRY(m_context.store.place(outputs.front().object, module_file));
      TRY(add(module.archive_path, module_file));
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
    for (const auto& path : chosen) TRY(add(files.to.empty() ? path : files.to + "/" + path, from / path));
    return {};
  }

  /// What upstream's own build put into its wheel, less the dist-info: that is written anew for every wheel.
  Status add_wheel() {
    const auto step = std::ranges::find_if(m_context.plan.steps, [&](const Step& s) {
      return s.kind == StepKind::setup_py && std::ranges::count(s.cells, m_cell.id) > 0;
    });
    if (step == m_context.plan.steps.end())
      return fail(ErrorKind::bug, "BLD003", fmt::format("{} has no setup.py step", m_cell.id));
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
      TRY(add(path, walk->path()));
    }
    for (const auto& module : m_context.plan.modules)
      if (module.cell == m_cell.id &&
          std::ranges::find(m_build.files, module.archive_path, &StagedFile::archive_path) == m_build.files.end())
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
      TRY(add(name, file, "licenses"));
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
    tool(fmt::format("host compiler {} {} {}", t.host_compiler.kind, t.host_compiler.version, t.host_compiler.target),
         t.host_compiler.identity);
    if (!t.torch.version.empty())
      tool("torch " + t.torch.version + (t.torch.local.empty() ? "" : "+" + t.torch.local), t.torch.identity);
    if (!t.python.version.empty()) tool("python " + t.python.version, t.python.identity);
  }

  const Cell& m_cell;
  const StageContext& m_context;
  fs::path m_scratch;
  CellBuild m_build;
};

}  // namespace

Result<CellBuild> stage_cell(const Cell& cell, const StageContext& context) {
  TRY_ASSIGN(const TemporaryFolder scratch, context.store.temporary());
  const fs::path folder = scratch.path() / "build";
  TRY(make_directories(folder / "tree"));
  TRY_ASSIGN(const auto build, Stage(cell, context, folder).make());
  const auto text = build_record_text(build);
  TRY(write_file_atomic(folder / "build.json", text));
  for (const auto* leftover : {"module", "setup-py.whl", "unpacked"}) remove_quietly(folder / leftover);

  const fs::path name = context.store.folder("builds") / (cell.id + "-" + sha256_hex(text).substr(0, 16));
  // A ready one that somebody changed is not reused.
  if (const auto ready = read_build_record(name)) {
    const auto intact = [](const StagedFile& file) {
      std::error_code error;
      return fs::file_size(file.file, error) == file.size_bytes && !error;
    };
    if (std::ranges::all_of(ready->files, intact) && std::ranges::all_of(ready->licenses, intact)) {
      std::error_code ignored;  // for `cache trim`: it is used now
      fs::last_write_time(name, fs::file_time_type::clock::now(), ignored);
      return *ready;
    }
  }
  remove_quietly(name);
  TRY(publish_folder(folder, name));
  return read_build_record(name);
}

}  // namespace sagekit
