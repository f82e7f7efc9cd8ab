// An nvcc tree out of the compiler packages of a package index: eight wheels, unpacked over each other.
#include "pypa/metadata_reader.hpp"
#include "support/folder.hpp"
#include "support/format.hpp"
#include "support/parallel.hpp"
#include "support/text.hpp"
#include "support/try.hpp"
#include "toolchain/open_wheel.hpp"
#include "toolchain/recipe.hpp"
#include "toolchain/wheel_choice.hpp"

#include <algorithm>
#include <mutex>

namespace sagekit {

namespace {

struct Part {
  const RecipePart* recipe = nullptr;
  VersionRange version;
};

/// "==13.0.*"
Result<VersionRange> release_range(const std::string& cuda) { return parse_version_range("==" + cuda + ".*"); }

Result<std::vector<std::string>> requirements(RemoteWheel& wheel, std::stop_token stop) {
  TRY_ASSIGN(const auto text, wheel.read(wheel.dist_info() + "/METADATA", stop));
  return read_headers(text).all("Requires-Dist");
}

std::string_view from_archives(const std::string& cuda) {
  return recipes().redist.manifests.contains(cuda) ? "--toolchain redist takes it from NVIDIA's archives" : "";
}

std::unexpected<Error> not_on_index(const std::string& what, const TreeNeed& need) {
  return fail(ErrorKind::machine, "PRV002",
              fmt::format("the package index has no {} for CUDA {} on {}", what, need.cuda, need.platform),
              how_to_get_nvcc(need.cuda, from_archives(need.cuda)));
}

/// The wheel that the lock names, else the best one of the page.
Result<WheelChoice> choose(Fetch& fetch, const std::string& project, const VersionRange& range, const LockedFile* pin) {
  TRY_ASSIGN(const auto page, project_page(fetch, project));
  if (pin != nullptr) return pinned_wheel(page, *pin);
  auto choices = wheels_for(page, fetch.need.platform, range);
  if (choices.empty()) return not_on_index(fmt::format("{} {}", project, range.text), fetch.need);
  return std::move(choices.front());
}

Status fetch_part(Fetch& fetch, const Part& part, const std::string& folder, std::mutex& mutex, LockedTree& tree) {
  const auto& project = part.recipe->name;
  TRY_ASSIGN(const auto* pin, fetch.pin(project));
  TRY_ASSIGN(const auto choice, choose(fetch, project, part.version, pin));
  TRY_ASSIGN(auto opened, open_wheel(fetch, choice.file, project, choice.name.version, pin));
  auto& wheel = opened.wheel;
  std::vector<const ZipMember*> wanted;
  for (const auto& member : wheel.members()) {
    const bool inside = member.name.starts_with(folder + "/") && !member.is_folder();
    if (is_license(wheel, member) ||
        (inside && globs_select(part.recipe->files, std::string_view(member.name).substr(folder.size() + 1), true)))
      wanted.push_back(&member);
  }
  const auto place = [&](const ZipMember& member) {
    if (is_license(wheel, member)) return license_path(project, after_last(member.name, '/'));
    return member.name.substr(folder.size() + 1);
  };
  TRY(in_file(choice.file.name, stage_members(fetch, wheel, wanted, mutex, place)));
  const std::lock_guard lock(mutex);
  tree.files.push_back(std::move(opened.made_of));
  return {};
}

/// All at a time: each is a few small requests, and most of their time is waiting.
Status fetch_parts(Fetch& fetch, const std::vector<Part>& parts, const std::string& folder, LockedTree& tree) {
  std::mutex mutex;
  std::vector<Status> results(parts.size());
  run_in_parallel(parts.size(), static_cast<unsigned>(parts.size()),
                  [&](std::size_t i) { results[i] = fetch_part(fetch, parts[i], folder, mutex, tree); });
  for (auto& result : results) TRY(std::move(result));
  return {};
}

/// The release's metapackage, and what it pins.
Result<std::vector<Part>> parts_of_release(Fetch& fetch, const NvccWheels& recipe, LockedTree& tree) {
  TRY_ASSIGN(const auto range, release_range(fetch.need.cuda));
  TRY_ASSIGN(const auto* pin, fetch.pin(recipe.release));
  TRY_ASSIGN(const auto choice, choose(fetch, recipe.release, range, pin));
  TRY_ASSIGN(auto opened, open_wheel(fetch, choice.file, recipe.release, choice.name.version, pin));
  TRY_ASSIGN(const auto rows, in_file(choice.file.name, requirements(opened.wheel, fetch.stop)));
  std::vector<Part> parts;
  for (const auto& package : recipe.packages) {
    auto version = pinned_version(rows, package.name);
    if (!version)
      return fail(ErrorKind::failed, "PRV008", fmt::format("{} pins no version of {}", choice.file.name, package.name),
                  "report it: the packages of this CUDA release are made otherwise than sagekit knows");
    parts.push_back({&package, std::move(*version)});
  }
  tree.files.push_back(std::move(opened.made_of));
  return parts;
}

/// The wheels name libcudart by its soname only; -lcudart looks for libcudart.so.
Status link_cudart(TreeStage& stage) {
  std::string found;
  for (const auto& entry : entries_of(stage.folder() / "lib")) {
    const auto name = entry.filename().string();
    if (name.starts_with("libcudart.so.") && (found.empty() || name.size() < found.size())) found = name;
  }
  return found.empty() ? Status{} : stage.link("lib/libcudart.so", found);
}

}  // namespace

bool wheels_have_nvcc(const std::string& cuda) {
  const auto version = parse_version_number(cuda);
  return version && *version >= recipes().nvcc.since;
}

Result<LockedTree> fetch_nvcc_from_wheels(Fetch& fetch) {
  const auto& recipe = recipes().nvcc;
  TRY_ASSIGN(const auto cuda, parse_version_number(fetch.need.cuda));
  if (!wheels_have_nvcc(fetch.need.cuda))
    return fail(ErrorKind::machine, "PRV002",
                fmt::format("the package index has no nvcc before CUDA {}: its CUDA {} packages hold none",
                            to_string(recipe.since), cuda.major()),
                how_to_get_nvcc(fetch.need.cuda, from_archives(fetch.need.cuda)));
  LockedTree tree;
  tree.cuda = fetch.need.cuda;
  tree.platform = fetch.need.platform;
  tree.source = ToolSource::wheels;
  TRY_ASSIGN(const auto parts, parts_of_release(fetch, recipe, tree));
  TRY(fetch_parts(fetch, parts, replace_all(recipe.folder, "{major}", std::to_string(cuda.major())), tree));
  TRY(link_cudart(fetch.stage));
  const auto& compiler = recipe.packages.front().name;
  tree.version = std::ranges::find(tree.files, compiler, &LockedFile::project)->version;
  return tree;
}

}  // namespace sagekit
