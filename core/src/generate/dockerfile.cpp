// One Dockerfile for a plan: a stage with tools for each base image, one that builds the wheels, one that runs as a
// builder. Only what docker, podman and buildah 1.28 all understand: no heredoc, no COPY --link, and no "# syntax="
// line, which would fetch a frontend.
#include "generate/dockerfile.hpp"

#include "generate/quote.hpp"
#include "generate/request_words.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/shell_word.hpp>

#include <algorithm>

namespace sagekit {

namespace {

constexpr std::string_view k_user = "1000";  // a number alone: some images have a user of it, some have none

std::string group_name(const BaseGroup& group, std::size_t count) {
  if (count == 1) return "";
  std::string name = "-cu" + without_dots(group.cudas.front());
  if (group.by_python) name += "-py" + without_dots(group.pythons.front());
  return name;
}

/// Pythons whose headers a compilation needs: those of cells with a module that is not free of Python.
bool needs_headers(const Spec& spec) {
  return std::ranges::any_of(spec.kernels,
                             [](const KernelSpec& kernel) { return !kernel.bindings.empty() || !kernel.python_free; });
}

std::string packages_of(const BaseGroup& group) {
  auto packages = generate_tools().build_packages;
  packages.insert(packages.end(), group.cross_packages.begin(), group.cross_packages.end());
  std::ranges::sort(packages);
  return join(packages, " ");
}

std::string header_folder(std::string_view python) { return fmt::format("/opt/python/{0}/include/python{0}", python); }

/// Tools and sagekit on one base image.
std::string tools_stage(const BaseGroup& group, const DockerParts& parts) {
  std::string text = fmt::format("\nFROM {} AS sagekit{}\n", group.image, group.suffix);
  text += fmt::format(
      "USER 0\n"
      "# Versions are those of the base image's own day.\n"
      "# hadolint ignore=DL3008\n"
      "RUN apt-get update \\\n"
      " && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends {} \\\n"
      " && rm -rf /var/lib/apt/lists/*\n",
      packages_of(group));
  if (parts.headers)
    for (const auto& python : group.pythons)
      text += fmt::format("COPY --from={} {} {}\n", parts.images->headers(python),
                          replace_all(generate_tools().header_folder, "{python}", python), header_folder(python));
  if (parts.sagekit.wheel.empty()) {
    text += fmt::format("RUN python3 -m venv /opt/sagekit \\\n && /opt/sagekit/bin/pip install --no-cache-dir {}\n",
                        shell_text(parts.sagekit.requirement));
  } else {
    text += fmt::format(
        "COPY {0} /opt/\nRUN python3 -m venv /opt/sagekit \\\n && /opt/sagekit/bin/pip install --no-cache-dir "
        "/opt/{0}\n",
        parts.sagekit.wheel);
  }
  for (const auto& plugin : parts.plugins) text += fmt::format("COPY {0} /opt/sagekit-plugins/{0}\n", plugin);
  if (parts.overrides) text += fmt::format("COPY {0} /opt/{0}\n", k_overrides_file);
  text += fmt::format(
      "RUN install -d -o {0} -g {0} -m 1777 /out /cache /work\n"
      "ENV PATH=/opt/sagekit/bin:$PATH \\\n"
      "    HOME=/work \\\n"
      "    SAGEKIT_STORE=/cache{1}\n"
      "USER {0}:{0}\n"
      "WORKDIR /work\n",
      k_user, parts.plugins.empty() ? "" : " \\\n    SAGEKIT_PLUGIN_PATH=/opt/sagekit-plugins");
  return text;
}

/// `sagekit ... build` up to its selection.
std::vector<std::string> build_words(const BaseGroup& group, const DockerParts& parts) {
  std::vector<std::string> words{"sagekit"};
  if (parts.overrides) words.insert(words.end(), {"--config", fmt::format("/opt/{}", k_overrides_file)});
  words.insert(words.end(), {"build", "-o", "/out"});
  if (parts.headers)
    for (const auto& python : group.pythons) words.insert(words.end(), {"--python-headers", header_folder(python)});
  return words;
}

std::string source_mount(const std::string& source) {
  if (source.empty() || source.find("://") != std::string::npos) return "";
  return fmt::format("--mount=type=bind,source={},target=/source ", source);
}

std::string build_stage(const BaseGroup& group, const DockerParts& parts) {
  std::string text = fmt::format("\nFROM sagekit{0} AS build{0}\n", group.suffix);
  for (const auto& [name, value] : parts.arguments)
    text += value.empty() ? fmt::format("ARG {}\n", name) : fmt::format("ARG {}={}\n", name, dockerfile_text(value));
  auto words = build_words(group, parts);
  if (!parts.source.empty())
    words.insert(words.end(), {"--source", parts.source.find("://") == std::string::npos ? "/source" : parts.source});
  text += fmt::format(
      "RUN {}--mount=type=cache,id=sagekit,target=/cache,uid={},gid={},mode=1777,sharing=shared \\\n    {}{}\n",
      source_mount(parts.source), k_user, k_user, shell_line(words), parts.build_selection(group));
  return text;
}

std::string builder_stage(const BaseGroup& group, const DockerParts& parts, const std::string& arches) {
  std::string text = fmt::format("\nFROM sagekit{0} AS builder{0}\n", group.suffix);
  if (!arches.empty()) text += fmt::format("ENV TORCH_CUDA_ARCH_LIST={}\n", dockerfile_text(arches));
  auto words = build_words(group, parts);
  if (parts.gpu_check)
    words.insert(words.begin(), {"sh", "-c",
                                 "nvidia-smi -L >&2 || { echo 'no GPU is seen here: docker run --gpus all ...' >&2; "
                                 "exit 3; }; exec \"$0\" \"$@\""});
  text += fmt::format("ENTRYPOINT {}\nCMD {}\n", exec_form(words), exec_form(parts.run_selection(group)));
  return text;
}

}  // namespace

Result<std::vector<BaseGroup>> base_groups(const std::vector<const Cell*>& cells, const ImageChoice& images) {
  std::vector<BaseGroup> groups;
  for (const auto* cell : cells) {
    TRY_ASSIGN(const auto image, images.for_cell(*cell));
    auto group = std::ranges::find(groups, image, &BaseGroup::image);
    if (group == groups.end()) group = groups.insert(group, {image, {}, {}, {}, {}, false});
    if (!contains(group->cudas, cell->cuda)) group->cudas.push_back(cell->cuda);
    if (!contains(group->pythons, cell->python)) group->pythons.push_back(cell->python);
    if (const auto* cross = cross_platform(cell->platform))
      group->cross_packages.insert(cross->packages.begin(), cross->packages.end());
  }
  for (auto& group : groups) {
    std::ranges::sort(group.cudas, version_less);
    std::ranges::sort(group.pythons, version_less);
    // Two images for one CUDA: Python makes the difference.
    group.by_python = std::ranges::count(groups, group.cudas, &BaseGroup::cudas) > 1;
  }
  std::ranges::sort(groups, [](const BaseGroup& a, const BaseGroup& b) {
    if (a.cudas != b.cudas) return version_less(a.cudas.front(), b.cudas.front());
    return version_less(a.pythons.front(), b.pythons.front());
  });
  for (auto& group : groups) group.suffix = group_name(group, groups.size());
  return groups;
}

std::string dockerfile_text_of(const std::vector<BaseGroup>& groups, const DockerParts& parts) {
  std::string text = parts.builders
                         ? "# docker build --target wheels --output type=local,dest=dist .\n"
                           "# docker build -t builder . && docker run --rm -v \"$PWD/dist:/out\" builder\n"
                         : "# docker-bake.hcl beside it builds with it: it gives the arguments and names the stage.\n";
  for (const auto& group : groups) text += tools_stage(group, parts);
  for (const auto& group : groups) text += build_stage(group, parts);
  for (const auto& group : groups)
    if (groups.size() > 1)
      text += fmt::format("\nFROM scratch AS wheels{0}\nCOPY --from=build{0} /out/ /\n", group.suffix);
  if (parts.builders || groups.size() == 1) {
    text += "\nFROM scratch AS wheels\n";
    for (const auto& group : groups) text += fmt::format("COPY --from=build{} /out/ /\n", group.suffix);
  }
  if (!parts.builders) return text;
  for (const auto& group : groups) text += builder_stage(group, parts, parts.arches);
  // The last stage is what `docker build` makes: the builder with the newest CUDA.
  if (groups.size() > 1) text += fmt::format("\nFROM builder{} AS builder\n", groups.back().suffix);
  return text;
}

Result<Generated> generate_dockerfile(const std::vector<PlannedVariant>& variants, const GenerateOptions& options) {
  const auto& variant = variants.front();
  Generated made;
  TRY_ASSIGN(const auto cells, linux_cells(variant.plan, made.notes));
  TRY_ASSIGN(const auto images, ImageChoice::make(options.base, options.pins));
  TRY_ASSIGN(const auto groups, base_groups(cells, images));
  DockerParts parts;
  TRY(take_along(variants, options, parts, made));
  parts.images = &images;
  parts.gpu_check = options.gpu_check;
  parts.builders = true;
  parts.arches = flag_arches(variant.request);
  parts.arguments = {{"TORCH_CUDA_ARCH_LIST", parts.arches}, {"SOURCE_DATE_EPOCH", ""}};
  parts.run_selection = [&](const BaseGroup& group) {
    auto words = std::vector<std::string>{"--plugin", variant.spec->name};
    auto request = variant.request;
    if (groups.size() > 1) request.cudas = group.cudas;
    if (groups.size() > 1 && group.by_python) request.pythons = group.pythons;
    const auto selection = request_words(request);
    words.insert(words.end(), selection.begin(), selection.end());
    return words;
  };
  parts.build_selection = [&](const BaseGroup& group) { return " " + shell_line(parts.run_selection(group)); };
  made.files.push_back({"Dockerfile", dockerfile_text_of(groups, parts), false});
  note_companions(*variant.spec, made.notes);
  TRY(images.all_pins_used());
  return made;
}

Result<ContainerWords> container_words(const Generated& generated) {
  const auto file = std::ranges::find(generated.files, "Dockerfile", &GeneratedFile::path);
  ContainerWords words;
  if (file == generated.files.end()) return words;
  if (file->text.find(" AS builder-") != std::string::npos)
    return fail(ErrorKind::usage, "GEN012", "the selected cells need several images, and one is run at a time",
                "narrow with --cuda, or --base IMAGE that has the CUDA of all");
  const auto list = [&](std::string_view instruction) -> std::vector<std::string> {
    const auto at = file->text.find(instruction) + instruction.size();
    return parse_json(file->text.substr(at, file->text.find('\n', at) - at)).get<std::vector<std::string>>();
  };
  words.entrypoint = list("\nENTRYPOINT ");
  words.selection = list("\nCMD ");
  return words;
}

Status take_along(const std::vector<PlannedVariant>& variants, const GenerateOptions& options, DockerParts& parts,
                  Generated& made) {
  TRY_ASSIGN(parts.sagekit, sagekit_source(options));
  if (!parts.sagekit.wheel.empty()) made.carried.push_back({parts.sagekit.wheel, options.sagekit});
  parts.source = options.source;
  const bool address = options.source.find("://") != std::string::npos;
  const bool plain = std::ranges::all_of(options.source, [](char c) {
    return is_letter_or_digit(c) || std::string_view("._-/").find(c) != std::string_view::npos;
  });
  if (!options.source.empty() && !address &&
      (!plain || options.source.starts_with('/') || options.source.find("..") != std::string::npos))
    return fail(ErrorKind::usage, "GEN003",
                fmt::format("--source {} is no folder of the build context", yaml_text(options.source)),
                "a path relative to -o, of letters, digits, \".\", \"_\" and \"-\"; or the address of a repository");
  std::string overrides;
  for (const auto& variant : variants) {
    parts.headers |= needs_headers(*variant.spec);
    overrides = overrides_toml(variant.request);
    if (variant.carried_plugin.empty()) continue;
    parts.plugins.push_back(plugin_file(*variant.spec));
    made.carried.push_back({parts.plugins.back(), variant.carried_plugin});
  }
  parts.overrides = !overrides.empty();
  if (parts.overrides) made.files.push_back({std::string(k_overrides_file), overrides, false});
  return {};
}

}  // namespace sagekit
