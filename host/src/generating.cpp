#include "generating.hpp"

#include "generating_sdist.hpp"
#include "output_file.hpp"

#include <sagekit/shell_word.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <list>

namespace sagekit::host {

namespace {

namespace fs = std::filesystem;

/// The plugins of the command line, each by itself: a kind may take several.
Result<std::list<Plugin>> chosen_plugins(Session& session) {
  const auto given = session.global.plugins;
  std::list<Plugin> chosen;
  if (given.size() < 2) {
    auto plugin = session.plugin();
    if (!plugin) return std::unexpected(plugin.error());
    chosen.push_back(std::move(*plugin));
    return chosen;
  }
  for (const auto& name : given) {
    session.global.plugins = {name};
    auto plugin = session.plugin();
    session.global.plugins = given;
    if (!plugin) return std::unexpected(plugin.error());
    // Given twice, by name and by file for example, it is one all the same.
    if (std::ranges::none_of(chosen, [&](const Plugin& one) { return one.path() == plugin->path(); }))
      chosen.push_back(std::move(*plugin));
  }
  return chosen;
}

/// Those beside this program come with every sagekit of its version.
bool comes_with_sagekit(const Session& session, const Plugin& plugin) {
  std::error_code error;
  const auto& folders = session.settings.plugin_path;
  return !folders.empty() && fs::equivalent(plugin.path().parent_path(), folders.back(), error);
}

/// What a person would type to make the same files, whatever of it sagekit.toml and the environment said: but
/// not what an override of sagekit.toml stands above.
std::string command_of(const std::string& kind, const std::list<Plugin>& plugins, const Request& request,
                       const GenerateArguments& arguments) {
  std::vector<std::string> words{"sagekit"};
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {flag, shell_word(value)});
  };
  for (const auto& plugin : plugins) add("--plugin", plugin.name());
  words.insert(words.end(), {"generate", kind});
  add("--profile", request.profile);
  for (const auto& glob : request.cells) add("--cells", glob);
  add("--python", fmt::format("{}", fmt::join(request.pythons, ",")));
  add("--torch", fmt::format("{}", fmt::join(request.torches, ",")));
  add("--cuda", fmt::format("{}", fmt::join(request.cudas, ",")));
  add("--platform", fmt::format("{}", fmt::join(request.platforms, ",")));
  if (!any_says(request.overrides, &CellOverride::arch)) add("--arch", request.arches);
  add("--revision", request.revision);
  if (!any_says(request.overrides, &CellOverride::naming)) add("--naming", request.naming);
  if (request.backend != Backend::direct) add("--backend", std::string(to_string(request.backend)));
  for (const auto& id : request.allowed_defects) add("--allow-defect", id);
  const auto& options = arguments.options;
  if (options.base != "auto") add("--base", options.base);
  for (const auto& pin : options.pins) add("--pin", pin);
  add("--sagekit", options.sagekit);
  add("--source", options.source);
  if (options.gpu_check) words.emplace_back("--gpu-check");
  for (const auto& pattern : options.tags) add("--tag", pattern);
  add("--runner", options.runner);
  add("--partition", options.partition);
  add("--account", options.account);
  add("--shared-store", options.store);
  if (options.shards > 0) add("--shards", std::to_string(options.shards));
  add("--release", arguments.release);
  add("--hosts", options.hosts);
  add("--venv", options.venv);
  if (options.cpus > 0) add("--cpus", std::to_string(options.cpus));
  return fmt::format("{}", fmt::join(words, " "));
}

/// Of the flags that were typed, one that this kind makes nothing of. build --in has looked at its own.
Status check_flags(const Session& session, const std::string& kind) {
  if (session.verb == "build") return {};
  for (const auto& row : generate_kinds())
    if (row.name != kind)
      for (const auto& flag : row.flags) {
        const auto own = std::ranges::find(generate_kinds(), kind, &GenerateKind::name);
        if (own == generate_kinds().end() || std::ranges::find(own->flags, flag) != own->flags.end()) continue;
        if (session.global.given.contains(std::string(flag)))
          return fail(ErrorKind::usage, "CLI001", fmt::format("generate {} makes nothing of {}", kind, flag),
                      own->flags.empty() ? "leave it out" : fmt::format("it takes {}", fmt::join(own->flags, " ")));
      }
  return {};
}

Status read_release_text(const std::string& given, GenerateOptions& options) {
  if (given.empty()) return {};
  if (given.find("://") != std::string::npos)
    return fail(ErrorKind::usage, "FIL001", "--release is an address, and generate fetches nothing",
                "download the manifest first (curl -LO ADDRESS) and give its file");
  std::error_code error;
  const auto path = fs::is_directory(given, error) ? (fs::path(given) / "sagekit.release.json").string() : given;
  auto text = file_text(path);
  if (!text)
    return fail(ErrorKind::usage, "FIL001", fmt::format("{} cannot be read", path), "sagekit release DIR makes one");
  options.release = std::move(*text);
  options.release_origin = path;
  return {};
}

}  // namespace

void declare_engine(Flags& flags, GenerateArguments& arguments) {
  auto& options = arguments.options;
  flags.value("--base", "IMAGE", options.base,
              "Base image, or a family by Python and CUDA: debian, ubuntu, nvidia, runpod; auto: debian, or nvidia "
              "where the index "
              "lacks nvcc");
  flags.list("--pin", "IMAGE@sha256:HEX", options.pins, "The digest under which an image is taken");
  flags.value("--sagekit", "WHEEL|REQUIREMENT", options.sagekit,
              "What sagekit is installed from there; without it this version from the index");
  flags.on("--gpu-check", options.gpu_check, "The container wants to see a GPU before it builds");
  flags.value("--partition", "NAME", options.partition, "slurm: where the jobs run; without it the cluster's default");
  flags.value("--account", "NAME", options.account, "slurm: whom they are charged to");
  flags.value("--shared-store", "DIR", options.store, "slurm: a store that all nodes see");
  flags.number("--shards", options.shards, "slurm: tasks of the array; without it by the plan's size");
  flags.number("--cpus", options.cpus, "slurm: CPUs of a task");
}

void declare_generate(Flags& flags, GenerateArguments& arguments) {
  auto& options = arguments.options;
  declare_engine(flags, arguments);
  flags.value("--source", "DIR|URL", options.source, "Source to build from: a folder that is there, or an address");
  flags.value("--runner", "LABEL", options.runner, "github: the machine of the jobs; without it GitHub's own");
  flags.list("--tag", "PATTERN", options.tags, "github: tags that become a release; without it v*-PLUGIN");
  flags.value("--release", "FILE", arguments.release,
              "consumer, ansible: the sagekit.release.json of a finished release");
  flags.value("--hosts", "PATTERN", options.hosts, "ansible: which hosts; without it all");
  flags.value("--venv", "DIR", options.venv, "ansible: the environment on them; without it /opt/comfyui/venv");
  flags.list("--vendored", "NAME=DIR", arguments.vendored, "sdist: a vendored tree given as a folder");
}

int write_sdist_here(Session& session, const SelectionArguments& selection, const GenerateArguments& arguments,
                     const std::string& output) {
  if (const auto checked = check_flags(session, "sdist"); !checked) return report(session, checked.error());
  for (const char* flag : {"--profile", "--cells", "--python", "--torch", "--cuda", "--platform", "--arch", "--naming"})
    if (session.global.given.contains(flag))
      return report(session, {ErrorKind::usage, "CLI001", fmt::format("generate sdist makes nothing of {}", flag), "",
                              "one source is for all cells; who builds it chooses: pip wheel -C arch=9.0 ..."});
  const auto plugins = chosen_plugins(session);
  if (!plugins) return report(session, plugins.error());
  if (plugins->size() > 1)
    return report(session, {ErrorKind::usage, "GEN007", "sdist is about one plugin, and several were given", "",
                            "give --plugin once"});
  const auto& plugin = plugins->front();
  auto said = arguments;
  said.options.source.clear();  // where a copy lies here is nobody else's business, and changes no byte
  const auto command = command_of("sdist", *plugins, make_request(selection, session), said);
  return generate_sdist(
      session, plugin, selection,
      {output, arguments.options.source, arguments.vendored, command, comes_with_sagekit(session, plugin)});
}

Result<Generated> generate_files(Session& session, const std::string& kind, const SelectionArguments& selection,
                                 const GenerateArguments& arguments) {
  if (const auto checked = check_flags(session, kind); !checked) return std::unexpected(checked.error());
  if (kind == "ansible" && arguments.release.empty())
    for (const char* flag : {"--naming", "--revision", "--backend", "--allow-defect"})
      if (session.global.given.contains(flag))
        return fail(ErrorKind::usage, "CLI001", fmt::format("generate ansible makes nothing of {}", flag),
                    "leave it out: the host runs install --or-build, which has no such flag; --release names a wheel "
                    "that was built with it");
  const auto plugins = chosen_plugins(session);
  if (!plugins) return std::unexpected(plugins.error());
  std::vector<GenerateVariant> variants;
  const auto request = make_request(selection, session);
  for (const auto& plugin : *plugins)
    variants.push_back({&plugin.spec(), request, comes_with_sagekit(session, plugin) ? fs::path{} : plugin.path()});
  auto options = arguments.options;
  if (const auto read = read_release_text(arguments.release, options); !read) return std::unexpected(read.error());
  options.command = command_of(kind, *plugins, request, arguments);
  return generate(kind, variants, options);
}

}  // namespace sagekit::host
