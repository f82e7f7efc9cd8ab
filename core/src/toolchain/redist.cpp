// An nvcc tree out of NVIDIA's archives: a manifest names one archive a component with its sha256.
#include "archive/archive.hpp"
#include "index/remote_file.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/text.hpp"
#include "support/try.hpp"
#include "toolchain/fetch.hpp"
#include "toolchain/recipe.hpp"

#include <algorithm>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

/// One component of a manifest, for one platform.
struct Archive {
  const RecipePart* recipe = nullptr;
  std::string version, path, sha256;
  std::uint64_t size_bytes = 0;
};

std::unexpected<Error> bad_manifest(const std::string& name, const std::string& why) {
  return fail(ErrorKind::failed, "PRV011", fmt::format("the manifest {} cannot be used: {}", name, why),
              "check --redist-url: it is the folder that holds the redistrib_*.json files");
}

const std::string* text_at(const Json& json, const char* key) {
  const auto it = json.find(key);
  return it == json.end() ? nullptr : it->get_ptr<const std::string*>();
}

bool is_below(std::string_view path) {
  return !path.empty() && path.front() != '/' && path.find("..") == std::string_view::npos &&
         path.find_first_of("?#\\ ") == std::string_view::npos && path.find("://") == std::string_view::npos;
}

Result<Archive> read_component(const Json& manifest, const RecipePart& part, const std::string& platform,
                               const std::string& name) {
  const auto component = manifest.find(part.name);
  if (component == manifest.end() || !component->is_object()) return bad_manifest(name, "it has no " + part.name);
  const auto build = component->find(platform);
  const auto* version = text_at(*component, "version");
  if (version == nullptr || build == component->end() || !build->is_object())
    return bad_manifest(name, fmt::format("its {} has nothing for {}", part.name, platform));
  const auto *path = text_at(*build, "relative_path"), *sha256 = text_at(*build, "sha256"),
             *size = text_at(*build, "size");
  if (path == nullptr || sha256 == nullptr || sha256->size() != 64 || !is_below(*path))
    return bad_manifest(name, fmt::format("its {} names no archive with a sha256", part.name));
  Archive archive{&part, *version, *path, lower(*sha256), 0};
  if (size != nullptr && is_digits(*size) && size->size() < 16) archive.size_bytes = std::stoull(*size);
  return archive;
}

Result<std::vector<Archive>> read_manifest(Fetch& fetch, const std::string& base, const std::string& name) {
  const auto& recipe = recipes().redist;
  HttpRequest request;
  request.url = base + "/" + name;
  auto answered = fetch.http.get(request, fetch.stop);
  if (!answered && answered.error().code == "IDX004")
    return fail(ErrorKind::machine, "PRV002", answered.error().message, answered.error().hint);
  TRY_ASSIGN(const auto answer, std::move(answered));
  const auto manifest = parse_json(answer.body);
  if (!manifest.is_object()) return bad_manifest(name, "it is not JSON");
  TRY_ASSIGN(const auto cuda, parse_version_number(fetch.need.cuda));
  std::vector<Archive> archives;
  for (const auto& part : recipe.components) {
    if (part.since && cuda < *part.since) continue;
    TRY_ASSIGN(auto archive, read_component(manifest, part, recipe.platforms.at(fetch.need.platform), name));
    archives.push_back(std::move(archive));
  }
  return archives;
}

/// Into the stage, what the recipe keeps of an unpacked archive.
Status stage_archive(Fetch& fetch, const Archive& archive, const fs::path& unpacked) {
  const fs::path root = strip_single_folder(unpacked);
  std::error_code error;
  for (fs::recursive_directory_iterator it(root, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->is_directory(ignored) && !it->is_symlink(ignored)) continue;
    const auto path = it->path().lexically_relative(root).generic_string();
    const bool license = path == "LICENSE";
    if (!license && !globs_select(archive.recipe->files, path, true)) continue;
    if (it->is_symlink(ignored)) {
      // Links between the versions of one library: what a link leads to is staged under its own name.
      const auto target = fs::read_symlink(it->path(), ignored).generic_string();
      if (target.find('/') == std::string::npos && fs::exists(it->path(), ignored))
        TRY(fetch.stage.add(path, read_file(it->path()).value_or(""), false));
      continue;
    }
    TRY_ASSIGN(const auto content, read_file(it->path()));
    const auto mode = it->status(ignored).permissions();
    TRY(fetch.stage.add(license ? license_path(archive.recipe->name, path) : path, content,
                        (mode & fs::perms::owner_exec) != fs::perms::none));
  }
  if (!error) return {};
  return fail(ErrorKind::failed, "PRV005",
              fmt::format("cannot read what {} unpacked to: {}", archive.path, error.message()));
}

Status fetch_archive(Fetch& fetch, const std::string& base, const Archive& archive, LockedTree& tree) {
  TRY_ASSIGN(const auto* pin, fetch.pin(archive.recipe->name));
  const fs::path file = fetch.stage.scratch() / fs::path(archive.path).filename();
  if (pin != nullptr && pin->sha256 != archive.sha256)
    return not_pinned(archive.path, "the sha256 that the manifest gives");
  fetch.meter.expect(archive.size_bytes);
  TRY_ASSIGN(const auto sha256,
             download_file(fetch.http, base + "/" + archive.path, file, archive.size_bytes, {}, fetch.stop));
  std::error_code error;
  if (sha256 != archive.sha256) {
    fs::remove(file, error);
    return fail(ErrorKind::failed, "PRV007",
                fmt::format("{} has the sha256 {}, its manifest says {}", archive.path, sha256, archive.sha256),
                "the download was altered on its way; nothing of it was used");
  }
  TRY_ASSIGN(const auto unpacked, TemporaryFolder::create(fetch.stage.scratch(), "unpacked"));
  if (const auto done = unpack_archive(file, unpacked.path()); !done && done.error().kind == ErrorKind::usage)
    return fail(ErrorKind::failed, "PRV005", done.error().message, "do not use that server; report it to who runs it");
  else if (!done)
    return done;
  TRY(stage_archive(fetch, archive, unpacked.path()));
  tree.files.push_back(
      {archive.recipe->name, archive.version, archive.path, fs::file_size(file, error), sha256, {}, {}});
  fs::remove(file, error);
  return {};
}

}  // namespace

Result<LockedTree> fetch_nvcc_from_redist(Fetch& fetch) {
  const auto& recipe = recipes().redist;
  const auto manifest = recipe.manifests.find(fetch.need.cuda);
  if (manifest == recipe.manifests.end() || !recipe.platforms.contains(fetch.need.platform)) {
    std::vector<std::string> known;
    for (const auto& [cuda, name] : recipe.manifests) known.push_back(cuda);
    return fail(ErrorKind::machine, "PRV002",
                fmt::format("no archive manifest is known for CUDA {} on {}; known are {}", fetch.need.cuda,
                            fetch.need.platform, join(known, ", ")),
                how_to_get_nvcc(fetch.need.cuda, wheels_have_nvcc(fetch.need.cuda) ? "--toolchain wheels has it" : ""));
  }
  const auto base = fetch.options.redist_url.empty() ? recipe.url : fetch.options.redist_url;
  TRY_ASSIGN(const auto archives, read_manifest(fetch, base, manifest->second));
  LockedTree tree;
  tree.cuda = fetch.need.cuda;
  tree.platform = fetch.need.platform;
  tree.source = ToolSource::redist;
  for (const auto& archive : archives) TRY(fetch_archive(fetch, base, archive, tree));
  tree.version = archives.front().version;
  return tree;
}

}  // namespace sagekit
