#include "generate/head.hpp"
#include "generate/kinds.hpp"
#include "generate/quote.hpp"
#include "generate/request_words.hpp"
#include "generate/tools.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/naming.hpp>
#include <sagekit/nearest.hpp>
#include <sagekit/version.hpp>

#include <algorithm>
#include <filesystem>
#include <set>

namespace sagekit {

namespace {

struct Kind {
  GenerateKind shown;
  MakeFiles make;
  enum class Plans { none, cells, steps } plans = Plans::cells;  ///< none: it makes those of all profiles itself
};

/// A new kind is its file and a row here.
const std::vector<Kind>& kinds() {
  static const std::vector<Kind> k_kinds{
      {{"dockerfile",
        "a builder image, and the wheels as what a container build gives",
        false,
        {"--base", "--pin", "--sagekit", "--source", "--gpu-check"}},
       generate_dockerfile},
      {{"bake",
        "docker-bake.hcl: a target a cell, a group a profile; several plugins in one file",
        true,
        {"--base", "--pin", "--sagekit", "--source"}},
       generate_bake,
       Kind::Plans::none},
      {{"github",
        "GitHub workflows that build, summarize and release on pull requests, pushes, tags and by hand",
        false,
        {"--sagekit", "--source", "--runner", "--tag"}},
       generate_github,
       Kind::Plans::none},
      {{"slurm",
        "an array job over the plan's shards with one store, and a job that makes the wheels",
        false,
        {"--source", "--partition", "--account", "--shared-store", "--shards", "--cpus"}},
       generate_slurm,
       Kind::Plans::steps},
      {{"ansible",
        "a role and a playbook for a GPU host",
        false,
        {"--sagekit", "--source", "--release", "--hosts", "--venv"}},
       generate_ansible},
      {{"cibuildwheel", "cibuildwheel's configuration for the source distribution", false, {}}, generate_cibuildwheel},
      {{"consumer",
        "requirements with hashes, uv's sources and a Dockerfile for a finished release",
        false,
        {"--release"}},
       generate_consumer,
       Kind::Plans::none},
      {{"sdist",
        "a source distribution that pip, uv and build make a wheel of through sagekit",
        false,
        {"--source", "--vendored", "--store", "--offline"}},
       nullptr,  // it fetches a source: write_sdist (sagekit/sdist.hpp)
       Kind::Plans::none},
  };
  return k_kinds;
}

Status check_options(const GenerateOptions& options) {
  for (const auto& [what, text] : {std::pair{"--source", &options.source},
                                   {"--sagekit", &options.sagekit},
                                   {"--runner", &options.runner},
                                   {"--partition", &options.partition},
                                   {"--account", &options.account},
                                   {"--store", &options.store},
                                   {"--hosts", &options.hosts},
                                   {"--venv", &options.venv}}) {
    TRY(check_word(what, *text));
    TRY(check_no_secret(what, *text));
  }
  return {};
}

Result<PlannedVariant> planned(const GenerateVariant& variant, Kind::Plans plans) {
  PlannedVariant result{variant.spec, variant.request, variant.carried_plugin, {}};
  TRY(check_request(variant.request));
  TRY(check_word("the plugin", variant.spec->name));
  if (!variant.carried_plugin.empty() && target_name(variant.spec->name) != variant.spec->name)
    return fail(
        ErrorKind::usage, "GEN003",
        fmt::format("the plugin's name {} is none for a file beside the generated ones", yaml_text(variant.spec->name)),
        "letters, digits, \"_\" and \"-\", in [plugin] name");
  result.request.with_steps = plans == Kind::Plans::steps;
  if (plans == Kind::Plans::none) return result;
  TRY_ASSIGN(result.plan, make_plan(*variant.spec, result.request, Environment{}));
  if (!result.plan.cells.empty()) return result;
  std::string reasons;
  for (const auto& cell : result.plan.excluded) reasons += fmt::format("\n  {}: {}", cell.id, cell.reason);
  return fail(ErrorKind::no_match, "GEN002",
              fmt::format("no cell of {} is left to generate for:{}", variant.spec->name, reasons),
              "sagekit plan shows the others");
}

}  // namespace

const std::vector<GenerateKind>& generate_kinds() {
  static const auto k_shown = [] {
    std::vector<GenerateKind> shown;
    for (const auto& kind : kinds()) shown.push_back(kind.shown);
    return shown;
  }();
  return k_shown;
}

Result<Generated> generate(std::string_view name, const std::vector<GenerateVariant>& variants,
                           const GenerateOptions& options) {
  const auto kind = std::ranges::find(kinds(), name, [](const Kind& row) { return row.shown.name; });
  if (kind == kinds().end()) {
    std::vector<std::string> names;
    for (const auto& row : kinds()) names.emplace_back(row.shown.name);
    return fail(ErrorKind::usage, "GEN001", fmt::format("there is no kind {}", yaml_text(name)),
                suggestion(name, names));
  }
  if (variants.size() > 1 && !kind->shown.several_plugins)
    return fail(ErrorKind::usage, "GEN007", fmt::format("{} is about one plugin, and several were given", name),
                "give --plugin once; bake takes several");
  if (kind->make == nullptr)
    return fail(ErrorKind::bug, "GEN001", fmt::format("{} is no text: write_{} makes it", name, name));
  TRY(check_options(options));
  std::vector<PlannedVariant> plans;
  for (const auto& variant : variants) {
    TRY_ASSIGN(auto plan, planned(variant, kind->plans));
    plans.push_back(std::move(plan));
  }
  TRY_ASSIGN(auto made, kind->make(plans, options));
  // Kinds that share a folder write the same overrides, so the head of those names no kind.
  for (auto& file : made.files)
    file.text = with_head(file.text, file.path.ends_with(k_overrides_file) ? "sagekit generate" : options.command);
  std::ranges::sort(made.files, {}, &GeneratedFile::path);
  return made;
}

Result<std::vector<const Cell*>> linux_cells(const Plan& plan, std::vector<std::string>& notes) {
  std::vector<const Cell*> cells;
  std::vector<std::string> others;
  for (const auto& cell : plan.cells) {
    if (cell.platform.starts_with("linux_"))
      cells.push_back(&cell);
    else
      others.push_back(cell.id);
  }
  if (cells.empty())
    return fail(ErrorKind::no_match, "GEN002",
                fmt::format("no selected cell of {} is for Linux: {}", plan.plugin_name, join(others, ", ")),
                "--platform linux_x86_64, or generate github for Windows");
  if (!others.empty()) notes.push_back(fmt::format("left out, for they are not made on Linux: {}", join(others, ", ")));
  note_cross_runtime(cells, notes);
  return cells;
}

void note_cross_runtime(const std::vector<const Cell*>& cells, std::vector<std::string>& notes) {
  std::set<std::string> lacking, platforms;
  for (const auto* cell : cells) {
    const auto* cross = cross_platform(cell->platform);
    if (!cell->static_runtime || cross == nullptr || cross->static_runtime) continue;
    lacking.insert(cell->id);
    platforms.insert(cell->platform);
  }
  if (lacking.empty()) return;
  notes.push_back(fmt::format(
      "{}: not built on x86_64 as it is written here (TCH007). The CUDA runtime is linked into a module, and what is "
      "fetched has no libcudart_static.a for {}. sagekit explain TCH007 says where to put it; --platform "
      "linux_x86_64 leaves them out",
      join({lacking.begin(), lacking.end()}, ", "), join({platforms.begin(), platforms.end()}, ", ")));
}

Status check_absolute(std::string_view flag, std::string_view path, std::string_view why) {
  if (path.empty() || path.front() == '/' || path.find("://") != std::string_view::npos || path.starts_with("git@"))
    return {};
  return fail(ErrorKind::usage, "GEN003", fmt::format("{} {} is relative, and {}", flag, yaml_text(path), why),
              "give the whole path, as it is there");
}

Result<SagekitSource> sagekit_source(const GenerateOptions& options) {
  if (options.sagekit.empty()) return SagekitSource{"sagekit==" SAGEKIT_VERSION, ""};
  const auto& given = options.sagekit;
  const auto writable = [](std::string_view text, std::string_view more) {
    return std::ranges::all_of(text,
                               [&](char c) { return is_letter_or_digit(c) || more.find(c) != std::string_view::npos; });
  };
  if (given.ends_with(".whl")) {
    auto name = std::filesystem::path(given).filename().string();
    if (writable(name, "._-+")) return SagekitSource{"", std::move(name)};
  } else if (given.starts_with("sagekit") && writable(given, "._-+=<>~!,@ :/")) {
    return SagekitSource{given, ""};
  }
  return fail(ErrorKind::usage, "GEN003",
              fmt::format("--sagekit {} is neither a wheel's file nor a requirement of sagekit", yaml_text(given)),
              "for example --sagekit sagekit-0.1.0-py3-none-manylinux_2_28_x86_64.whl, or --sagekit 'sagekit>=0.1'");
}

std::vector<std::string> companion_requirements(const Spec& spec) {
  std::vector<std::string> requirements;
  for (const auto& companion : spec.companions)
    if (!companion.requires_dist.empty()) requirements.push_back(companion.requires_dist);
  return requirements;
}

void note_companions(const Spec& spec, std::vector<std::string>& notes) {
  for (const auto& companion : spec.companions)
    notes.push_back(fmt::format("{} is needed beside the wheel {}; not needed: {}", companion.name, companion.needed,
                                companion.not_needed));
}

std::string plugin_file(const Spec& spec) { return fmt::format("sagekit-{}.so", spec.name); }

}  // namespace sagekit
