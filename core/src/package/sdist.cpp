#include "archive/inflate.hpp"
#include "archive/ustar.hpp"
#include "build/step_environment.hpp"
#include "package/metadata_text.hpp"
#include "source/prepared_source.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"
#include "support/utf8.hpp"

#include <sagekit/naming.hpp>
#include <sagekit/sdist.hpp>
#include <sagekit/version.hpp>

#include <algorithm>
#include <charconv>
#include <map>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

/// A member by its path below the top folder.
struct SdistMember {
  std::string bytes;
  std::string link;  ///< of a symbolic link
  bool executable = false;
};

using SdistMembers = std::map<std::string, SdistMember>;

/// PEP 625: dashes and dots of the project's name are underscores.
std::string sdist_stem(const Spec& spec, const Plan& plan) {
  return replace_all(normalized_project(spec.metadata.name), "-", "_") + "-" + plan.revision.version;
}

/// TOML's basic strings are JSON's (TOML 1.0, "String").
std::string toml_string(const std::string& text) { return json_ascii(Json(text)); }

std::string pyproject_text(const Spec& spec, const Plan& plan, const SdistOptions& options) {
  const auto& metadata = spec.metadata;
  auto text = fmt::format(
      "# Made by: {}\n"
      "# sagekit builds it for the Python that asks, the torch beside it and this machine's GPUs; config-settings of "
      "pip,\n"
      "# uv and build choose others: -C arch=\"8.9;12.0\" -C torch=2.9 -C cuda=12.8 -C naming=default\n"
      "[build-system]\n"
      "requires = [\"sagekit>={}\"]\n"
      "build-backend = \"sagekit.build_backend\"\n\n"
      "[project]\n"
      "name = {}\n"
      "version = {}\n",
      options.command, SAGEKIT_VERSION, toml_string(metadata.name), toml_string(plan.revision.version));
  if (!metadata.requires_python.empty())
    text += fmt::format("requires-python = {}\n", toml_string(metadata.requires_python));
  return text +
         "dynamic = [\"classifiers\", \"dependencies\", \"description\", \"license\", \"license-files\", \"readme\", "
         "\"urls\"]\n";
}

/// What the backend reads; docs/json.md.
std::string sdist_description(const Spec& spec, const Plan& plan, const std::string& plugin_file, std::uint64_t time) {
  Json json;
  json["schema"] = "sagekit.sdist/1";
  json["sagekit"] = SAGEKIT_VERSION;
  json["sdist"] = sdist_stem(spec, plan);
  json["plugin"] = spec.name;
  json["plugin_file"] = plugin_file.empty() ? Json(nullptr) : Json(plugin_file);
  json["revision"] = plan.commit;
  json["time"] = time;
  json["torch"] = std::ranges::any_of(plan.cells, [](const Cell& cell) { return !cell.torch.empty(); });
  json["profiles"] = Json::array();
  for (const auto& profile : spec.profiles) json["profiles"].push_back(profile.name);
  json["source"] = "source";
  json["vendored"] = Json::object();
  for (const auto& vendored : spec.source.vendored) json["vendored"][vendored.name] = "vendored/" + vendored.name;
  json["edits"] = Json::array();
  for (const auto* edit : edits_for(spec, plan))
    json["edits"].push_back({{"id", edit->id},
                             {"file", edit->file},
                             {"find", edit->find},
                             {"replace", edit->replace},
                             {"reason", edit->reason}});
  return json_text(json);
}

std::string pkg_info(const Spec& spec, const Plan& plan, const SdistMembers& members) {
  Cell any;
  any.version = plan.revision.version;
  const auto& readme = spec.metadata.readme;
  const auto folder = spec.source.subdir.empty() ? "source/" : "source/" + spec.source.subdir + "/";
  auto found = members.find(folder + readme);
  if (found == members.end()) found = members.find("source/" + readme);
  const bool has_body = !readme.empty() && found != members.end() && is_utf8(found->second.bytes);
  auto text = metadata_headers(spec.metadata, any, {}, has_body);
  // What only a wheel can say (PEP 643).
  text += "Dynamic: License-File\nDynamic: Requires-Dist\n";
  return has_body ? text + "\n" + found->second.bytes : text;
}

/// The tree as it is pinned, below `folder` of the members. Where not all of it is needed, a list of all of it goes
/// along: its tree id can then be checked.
Status add_tree(const PinnedTree& pinned, const std::string& given, const std::string& folder, const SourceTools& tools,
                SdistMembers& members) {
  TRY_ASSIGN(const TemporaryFolder scratch, tools.store.temporary());
  const fs::path tree = scratch.path() / "tree";
  TRY(make_directories(tree));
  TRY_ASSIGN(const auto listing, export_tree(pinned, given, tree, tools));
  bool whole = true;
  for (const auto& entry : listing) {
    const fs::path file = tree / entry.path;
    std::error_code error;
    const auto status = fs::symlink_status(file, error);
    if (error || (!fs::is_regular_file(status) && !fs::is_symlink(status))) {
      whole = false;
      continue;
    }
    SdistMember member;
    member.executable = entry.mode == "100755";
    if (fs::is_symlink(status)) {
      member.link = fs::read_symlink(file, error).string();
    } else {
      TRY_ASSIGN(member.bytes, read_file(file));
    }
    members.emplace(folder + "/" + entry.path, std::move(member));
  }
  if (!whole) members[folder + "/" + std::string(k_tree_listing)] = {tree_listing(listing), "", false};
  return {};
}

Result<std::string> tar_text(const SdistMembers& members, const std::string& top, std::uint64_t time) {
  std::string tar;
  for (const auto& [path, member] : members) {
    const auto packed = ustar_member(
        top + "/" + path, {.executable = member.executable, .link = member.link, .time = time}, member.bytes);
    if (!packed)
      return fail(ErrorKind::usage, "PKG006",
                  fmt::format("{} does not fit into a tar file: its name is too long", path),
                  "leave the file out with [source] include in the plugin");
    tar += *packed;
  }
  return tar + ustar_end();
}

}  // namespace

Result<Sdist> write_sdist(const Spec& spec, const Plan& plan, const SdistOptions& options, CommandRunner& runner,
                          std::stop_token stop) {
  TRY_ASSIGN(const auto date, source_date_epoch(plan.revision.date));
  std::uint64_t time = 0;
  std::from_chars(date.data(), date.data() + date.size(), time);
  TRY_ASSIGN(const Store store, Store::open(options.build.store));
  const SourceTools tools{
      store, runner, options.build.child_environment, options.say, stop, options.build.log, options.build.offline};
  SdistMembers members;
  TRY(check_given_places(spec, options.build));
  TRY(add_tree(pinned_source(spec, plan), options.build.source, "source", tools, members));
  for (const auto& vendored : spec.source.vendored)
    TRY(add_tree(pinned_vendored(vendored), given_for(options.build, vendored.name), "vendored/" + vendored.name, tools,
                 members));
  std::string plugin_file;
  if (!options.carried_plugin.empty()) {
    plugin_file = fmt::format("plugin/sagekit-{}.so", spec.name);
    TRY_ASSIGN(auto bytes, read_file(options.carried_plugin));
    members[plugin_file] = {std::move(bytes), "", true};
  }
  members["PKG-INFO"] = {pkg_info(spec, plan, members), "", false};
  members["pyproject.toml"] = {pyproject_text(spec, plan, options), "", false};
  members["sagekit.json"] = {sdist_description(spec, plan, plugin_file, time), "", false};

  const auto stem = sdist_stem(spec, plan);
  TRY_ASSIGN(const auto tar, tar_text(members, stem, time));
  const auto bytes = gzip_of(tar);
  Sdist made{options.output_folder / (stem + ".tar.gz"), sha256_hex(bytes), bytes.size(), {}, false};
  for (const auto* edit : edits_for(spec, plan)) made.edits.push_back(edit->id);
  std::error_code error;
  if (fs::exists(fs::symlink_status(made.path, error))) {
    const auto there = sha256_file(made.path);
    if (!there || *there != made.sha256)
      return fail(ErrorKind::failed, "PKG001", fmt::format("{} is there, with another content", made.path.string()),
                  "remove it, or choose another folder with -o");
    made.unchanged = true;
    return made;
  }
  TRY(make_directories(options.output_folder));
  TRY(write_file_atomic(made.path, bytes));
  return made;
}

std::string sdist_json(const Sdist& made) {
  Json json;
  json["schema"] = "sagekit.sdist-made/1";
  json["path"] = made.path.string();
  json["sha256"] = made.sha256;
  json["size"] = made.size_bytes;
  json["edits"] = made.edits;
  json["unchanged"] = made.unchanged;
  return json_text(json);
}

}  // namespace sagekit
