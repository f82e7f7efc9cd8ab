#include "source/prepared_source.hpp"

#include "source/git_tree.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

Status check_names(const Spec& spec, const BuildOptions& options) {
  std::vector<std::string> names;
  for (const auto& vendored : spec.source.vendored) names.push_back(vendored.name);
  for (const auto& [name, folder] : options.vendored)
    if (std::ranges::find(names, name) == names.end())
      return fail(ErrorKind::usage, "SRC009",
                  fmt::format("--vendored {}={}: this plugin has no vendored tree \"{}\"", name, folder, name),
                  names.empty() ? "it has none" : suggestion(name, names));
  return {};
}

std::string content_key(const Spec& spec, const Plan& plan, const std::vector<const SourceEdit*>& edits) {
  Sha256 hash;
  const auto add_tree = [&hash](const PinnedTree& tree) {
    for (const auto& word : {tree.commit, tree.tree, join(tree.include, "\n")}) hash.field(word);
  };
  add_tree(pinned_source(spec, plan));
  for (const auto* edit : edits)
    for (const auto& word : {edit->id, edit->file, edit->find, edit->replace}) hash.field(word);
  hash.field("vendored");
  for (const auto& vendored : spec.source.vendored) {
    hash.field(vendored.path);
    add_tree(pinned_vendored(vendored));
  }
  return hash.hex();
}

/// What `text` begins with, on one line, for a message.
std::string shown(const std::string& text) {
  const auto line = trim(text);
  return line.substr(0, std::min<std::size_t>(line.find('\n'), 80));
}

Status edit_files(const fs::path& root, const std::vector<const SourceEdit*>& edits) {
  for (const auto* edit : edits) {
    const fs::path file = root / edit->file;
    auto text = read_file(file);
    if (!text)
      return fail(ErrorKind::usage, "SRC004",
                  fmt::format("edit \"{}\" cannot be applied: the source has no file {}", edit->id, edit->file),
                  "upstream moved: mend the edit in the plugin", edit->file);
    TRY_ASSIGN(const auto edited, apply_edit(*edit, std::move(*text)));
    std::error_code ignored;
    const bool executable = (fs::status(file, ignored).permissions() & fs::perms::owner_exec) != fs::perms::none;
    TRY(write_file_atomic(file, edited, executable));
  }
  return {};
}

bool is_header(const fs::path& path) {
  static constexpr std::array<std::string_view, 10> k_extensions{".h",   ".hh",  ".hpp", ".hxx", ".cuh",
                                                                 ".inl", ".inc", ".ipp", ".tpp", ".def"};
  return std::ranges::find(k_extensions, path.extension().string()) != k_extensions.end();
}

Status make_read_only(const fs::path& root) {
  std::error_code error;
  fs::recursive_directory_iterator walk(root, error), end;
  for (; !error && walk != end; walk.increment(error)) {
    std::error_code ignored;
    constexpr auto k_writing = fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write;
    if (fs::is_regular_file(walk->symlink_status(ignored)))
      fs::permissions(walk->path(), k_writing, fs::perm_options::remove, ignored);
  }
  return {};
}

std::string hash_header_names(const fs::path& root) {
  std::set<std::string> names;
  std::error_code error;
  fs::recursive_directory_iterator walk(root, error), end;
  for (; !error && walk != end; walk.increment(error))
    if (is_header(walk->path())) names.insert(walk->path().lexically_relative(root).generic_string());
  Sha256 hash;
  for (const auto& name : names) hash.field(name);
  return hash.hex();
}

/// All but what only the copy itself can tell.
PreparedSource place_of(const Spec& spec, const Plan& plan, const fs::path& store) {
  const auto edits = edits_for(spec, plan);
  PreparedSource source;
  source.key = content_key(spec, plan, edits);
  const auto tree = plan.revision.tree.empty() ? plan.commit : plan.revision.tree;
  source.root = store / "sources" / (tree.substr(0, 16) + "-" + source.key.substr(0, 16));
  source.folder = spec.source.subdir.empty() ? source.root : source.root / spec.source.subdir;
  for (const auto* edit : edits) source.edits.push_back(edit->id);
  return source;
}

Status make_copy(const Spec& spec, const Plan& plan, const BuildOptions& options,
                 const std::vector<const SourceEdit*>& edits, const fs::path& name, const SourceTools& tools) {
  TRY_ASSIGN(const TemporaryFolder scratch, tools.store.temporary());
  const fs::path tree = scratch.path() / "tree";
  TRY(make_directories(tree));
  TRY(export_tree(pinned_source(spec, plan), options.source, tree, tools));
  TRY(edit_files(tree, edits));
  for (const auto& vendored : spec.source.vendored) {
    TRY(make_directories(tree / vendored.path));
    TRY(export_tree(pinned_vendored(vendored), given_for(options, vendored.name), tree / vendored.path, tools));
  }
  TRY(make_read_only(tree));
  return publish_folder(tree, name);
}

}  // namespace

PinnedTree pinned_source(const Spec& spec, const Plan& plan) {
  return {std::string(k_source_name), plan.source_url, plan.commit, plan.revision.tree, spec.source.include};
}

PinnedTree pinned_vendored(const Vendored& vendored) {
  return {vendored.name, vendored.url, vendored.commit, vendored.tree, vendored.include};
}

std::string given_for(const BuildOptions& options, const std::string& name) {
  const auto found = std::ranges::find(options.vendored, name, &std::pair<std::string, std::string>::first);
  return found == options.vendored.end() ? std::string() : found->second;
}

std::vector<const SourceEdit*> edits_for(const Spec& spec, const Plan& plan) {
  std::vector<const SourceEdit*> edits;
  for (const auto& edit : spec.source.edits) {
    if (!holds(edit.when, plan.revision, to_string(plan.backend))) continue;
    bool mends = false, wanted = false;
    for (const auto& defect : spec.source.defects) {
      if (defect.edit != edit.id) continue;
      mends = true;
      const bool has = std::ranges::count(plan.revision.defects, defect.id) > 0;
      wanted = wanted || (has && std::ranges::count(plan.allowed_defects, defect.id) == 0);
    }
    if (!mends || wanted) edits.push_back(&edit);
  }
  return edits;
}

Result<std::string> apply_edit(const SourceEdit& edit, std::string text) {
  const auto found = count_of(text, edit.find);
  if (found != static_cast<std::size_t>(edit.count))
    return fail(ErrorKind::usage, "SRC004",
                fmt::format("edit \"{}\" cannot be applied: {} holds the text \"{}\" {} times, expected {}", edit.id,
                            edit.file, shown(edit.find), found, edit.count),
                "upstream moved: mend the edit in the plugin", edit.file);
  return replace_all(std::move(text), edit.find, edit.replace);
}

Status check_given_places(const Spec& spec, const BuildOptions& options) {
  TRY(check_names(spec, options));
  TRY(check_place("the source", options.source));
  for (const auto& [name, place] : options.vendored) TRY(check_place(name, place));
  return {};
}

Status check_given_trees(const Spec& spec, const Plan& plan, const BuildOptions& options, const SourceTools& tools) {
  TRY(check_names(spec, options));
  TRY(check_given(pinned_source(spec, plan), options.source, tools));
  for (const auto& vendored : spec.source.vendored)
    TRY(check_given(pinned_vendored(vendored), given_for(options, vendored.name), tools));
  return {};
}

Result<std::optional<PreparedSource>> find_source(const Spec& spec, const Plan& plan, const BuildOptions& options,
                                                  const SourceTools& tools) {
  TRY(check_given_trees(spec, plan, options, tools));
  auto source = place_of(spec, plan, tools.store.root());
  std::error_code error;
  if (!fs::exists(source.root, error) && !tools.read_only.empty()) source = place_of(spec, plan, tools.read_only);
  if (!fs::exists(source.root, error)) return std::nullopt;
  if (!fs::is_directory(source.folder, error))
    return fail(ErrorKind::usage, "SRC006",
                fmt::format("commit {} of the source has no folder {}", plan.commit, spec.source.subdir));
  source.header_names = hash_header_names(source.root);
  fs::last_write_time(source.root, fs::file_time_type::clock::now(), error);  // for `cache trim`: it is used now
  log_line(tools.log, LogLevel::info, [&] { return "source: reused from the store: " + source.root.string(); });
  return source;
}

Result<PreparedSource> prepare_source(const Spec& spec, const Plan& plan, const BuildOptions& options,
                                      const SourceTools& tools) {
  TRY_ASSIGN(auto found, find_source(spec, plan, options, tools));
  if (found) return std::move(*found);
  log_line(tools.log, LogLevel::info, [&] {
    return fmt::format("source: not in the store: commit {} with {} edits is copied", plan.commit,
                       edits_for(spec, plan).size());
  });
  const auto made = place_of(spec, plan, tools.store.root());
  TRY(make_copy(spec, plan, options, edits_for(spec, plan), made.root, tools));
  auto quiet = tools;
  quiet.log = {};
  TRY_ASSIGN(found, find_source(spec, plan, options, quiet));
  if (!found) return fail(ErrorKind::bug, "SRC006", "the copy of the source is not where it was made");
  return std::move(*found);
}

}  // namespace sagekit
