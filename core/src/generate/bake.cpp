// docker-bake.hcl: a target a cell, a group a profile, over one Dockerfile whose stages all cells share.
#include "generate/bake_targets.hpp"
#include "generate/dockerfile.hpp"
#include "generate/quote.hpp"
#include "generate/request_words.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/shell_word.hpp>

#include <algorithm>
#include <map>

namespace sagekit {

namespace {

constexpr std::string_view k_dockerfile = "Dockerfile.sagekit";

std::string hcl_list(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const auto& word : words) quoted.push_back(hcl_text(word));
  return "[" + join(quoted, ", ") + "]";
}

std::string target_block(const BakeTarget& target, const std::string& stage) {
  return fmt::format(
      "\ntarget {} {{\n"
      "  inherits = [\"_cell\"]\n"
      "  target = {}\n"
      "  args = {{\n"
      "    PLUGIN = {}\n"
      "    PROFILE = {}\n"
      "    CELL = {}\n"
      "    PLATFORM = {}\n"
      "  }}\n"
      "}}\n",
      hcl_text(target.name), hcl_text(stage), hcl_text(target.plugin), hcl_text(target.profile), hcl_text(target.cells),
      hcl_text(target.cell.platform));
}

std::string group_block(const BakeGroup& group) {
  return fmt::format("\ngroup {} {{\n  targets = {}\n}}\n", hcl_text(group.name), hcl_list(group.targets));
}

std::string head_block(const Request& request) {
  return fmt::format(
      "# In this folder: docker buildx bake builds the group default, docker buildx bake NAME another group or a "
      "target.\n"
      "variable \"DEST\" {{\n  default = \"dist\"\n}}\n"
      "\n# For example type=registry,ref=ghcr.io/OWNER/cache or type=local,src=cache (dest=cache for the other).\n"
      "variable \"CACHE_FROM\" {{\n  default = \"\"\n}}\n"
      "variable \"CACHE_TO\" {{\n  default = \"\"\n}}\n"
      "variable \"TORCH_CUDA_ARCH_LIST\" {{\n  default = {}\n}}\n"
      "\ntarget \"_cell\" {{\n"
      "  context = \".\"\n"
      "  dockerfile = \"{}\"\n"
      "  output = [\"type=local,dest=${{DEST}}\"]\n"
      "  cache-from = CACHE_FROM == \"\" ? [] : [CACHE_FROM]\n"
      "  cache-to = CACHE_TO == \"\" ? [] : [CACHE_TO]\n"
      "  args = {{\n"
      "    TORCH_CUDA_ARCH_LIST = TORCH_CUDA_ARCH_LIST\n"
      "  }}\n"
      "}}\n",
      hcl_text(flag_arches(request)), k_dockerfile);
}

}  // namespace

Result<Generated> generate_bake(const std::vector<PlannedVariant>& variants, const GenerateOptions& options) {
  Generated made;
  TRY_ASSIGN(const auto images, ImageChoice::make(options.base, options.pins));
  TRY_ASSIGN(const auto bake, bake_targets(variants, images, options.base == "auto", made.notes));
  std::vector<const Cell*> cells;
  for (const auto& target : bake.targets) cells.push_back(&target.cell);
  TRY_ASSIGN(const auto groups, base_groups(cells, images));
  note_cross_runtime(cells, made.notes);

  DockerParts parts;
  TRY(take_along(variants, options, parts, made));
  parts.images = &images;
  parts.arguments = {
      {"PLUGIN", ""},           {"PROFILE", ""}, {"CELL", ""}, {"PLATFORM", ""}, {"TORCH_CUDA_ARCH_LIST", ""},
      {"SOURCE_DATE_EPOCH", ""}};
  auto shared = variants.front().request;
  shared.profile.clear();
  for (auto* narrowing : {&shared.cells, &shared.pythons, &shared.torches, &shared.cudas, &shared.platforms})
    narrowing->clear();
  const auto words = request_words(shared);
  parts.build_selection = [&](const BaseGroup&) {
    return R"( --plugin "$PLUGIN" --profile "$PROFILE" --cells "$CELL" --platform "$PLATFORM")" +
           (words.empty() ? "" : " " + shell_line(words));
  };
  made.files.push_back({std::string(k_dockerfile), dockerfile_text_of(groups, parts), false});

  auto text = head_block(variants.front().request);
  for (const auto& group : bake.groups) text += group_block(group);
  for (const auto& target : bake.targets) {
    TRY_ASSIGN(const auto image, images.for_cell(target.cell));
    text += target_block(target, "wheels" + std::ranges::find(groups, image, &BaseGroup::image)->suffix);
  }
  made.files.push_back({"docker-bake.hcl", std::move(text), false});
  TRY(images.all_pins_used());
  return made;
}

}  // namespace sagekit
