#include "toolchain/recipe.hpp"

#include "support/format.hpp"
#include "support/text.hpp"
#include "support/toml.hpp"

#include <sagekit/provision.hpp>

namespace sagekit {

extern const std::string_view k_toolchains_toml;  // written at build time by cmake/EmbedText.cmake

namespace {

VersionNumber version_at(TomlTable& row, std::string_view key) {
  const auto version = parse_version_number(row.required_string(key));
  if (version) return *version;
  row.error(key, version.error().code, version.error().message);
  return {};
}

RecipePart read_part(TomlTable& row, std::string_view key) {
  RecipePart part;
  part.name = row.required_string(key);
  part.files = row.required_strings("files");
  if (row.has("since")) part.since = version_at(row, "since");
  row.finish();
  return part;
}

void read_nvcc(TomlTable& table, NvccWheels& nvcc) {
  nvcc.release = table.required_string("release");
  nvcc.since = version_at(table, "since");
  nvcc.folder = table.required_string("folder");
  table.required_string("source");
  for (auto& row : table.tables("package")) nvcc.packages.push_back(read_part(row, "project"));
  table.finish();
}

void read_torch(TomlTable& table, TorchWheels& torch) {
  torch.project = table.required_string("project");
  torch.files = table.required_strings("files");
  torch.libraries = table.required_strings("libraries");
  table.finish_sourced();
}

void read_windows(TomlTable& table, WindowsWheels& windows) {
  windows.files = table.required_strings("files");
  windows.libraries = table.required_strings("libraries");
  table.required_string("source");
  for (auto& row : table.tables("runtime")) {
    const auto cuda = version_at(row, "cuda");
    windows.runtimes.push_back({cuda.major(), row.required_string("project"), row.required_string("library")});
    row.finish();
  }
  table.finish();
}

void read_redist(TomlTable& table, Redist& redist) {
  redist.url = table.required_string("url");
  table.required_string("source");
  for (auto& row : table.tables("release")) {
    auto cuda = row.required_string("cuda");
    redist.manifests[std::move(cuda)] = row.required_string("manifest");
    row.finish();
  }
  for (auto& row : table.tables("component")) redist.components.push_back(read_part(row, "name"));
  if (auto platforms = table.table("platform")) {
    for (const auto* name : {"linux_x86_64", "linux_aarch64"})
      redist.platforms[name] = platforms->required_string(name);
    platforms->finish();
  }
  table.finish();
}

Recipes read_recipes() {
  Recipes recipes;
  const auto document = TomlDocument::parse(k_toolchains_toml, "core/data/toolchains.toml", "SPEC");
  auto root = document.root();
  if (auto table = root.table("nvcc_wheels")) read_nvcc(*table, recipes.nvcc);
  if (auto table = root.table("torch_wheels")) read_torch(*table, recipes.torch);
  if (auto table = root.table("windows_wheels")) read_windows(*table, recipes.windows);
  if (auto table = root.table("redist")) read_redist(*table, recipes.redist);
  root.finish();
  recipes.problems = document.diagnostics();
  return recipes;
}

}  // namespace

const Recipes& recipes() {
  static const Recipes k_recipes = read_recipes();
  return k_recipes;
}

bool can_fetch_nvcc(const std::string& cuda) {
  return wheels_have_nvcc(cuda) || recipes().redist.manifests.contains(cuda);
}

std::string how_to_get_nvcc(const std::string& cuda, std::string_view by_fetching) {
  std::vector<std::string> ways;
  if (!by_fetching.empty()) ways.emplace_back(by_fetching);
  ways.push_back(fmt::format("install CUDA toolkit {}", cuda));
  ways.emplace_back("give an unpacked one with --toolchain folder:DIR");
  return join(ways, ", or ");
}

}  // namespace sagekit
