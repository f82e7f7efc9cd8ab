#include "resolving.hpp"

#include "naming_rows.hpp"
#include "provisioning.hpp"
#include "render/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace sagekit::host {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_shown = 20;

std::string one_text(const Console& console, const Judged& judged, std::string_view mark) {
  const std::string code = judged.code.empty() ? "" : fmt::format(" {}", console.dim("[" + judged.code + "]"));
  std::string text = fmt::format("{} {}\n", mark, judged.candidate.place);
  text += wrap(judged.reason + code, "    ", "    ", terminal_width());
  if (!judged.would_tell.empty())
    text += wrap("what would tell: " + judged.would_tell, "    ", "      ", terminal_width());
  return text;
}

bool knows_enough(const Target& target) {
  return target.gpus && target.has_torch && !target.python.empty() && !target.libc.empty();
}

}  // namespace

void declare_machine(Flags& flags, std::string& machine, std::string what) {
  Flag& flag = flags.value("--for", "MACHINE", machine, std::move(what));
  flag.repeatable = true;
  flag.take = [&machine](const std::string& word) -> Status {
    machine += (machine.empty() ? "" : ",") + word;
    return {};
  };
}

void declare_resolving(Flags& flags, ResolvingArguments& arguments, bool other_machines) {
  flags.value("--from", "PLACE", arguments.from,
              "A folder, a wheel, a release manifest (sagekit.release.json, or what GitHub's API gives), or the "
              "address of one, of a "
              "wheel or of a package index");
  flags
      .list("--package", "NAME", arguments.packages,
            "Project whose wheels count; without it the plugin's, else the only one there")
      .commas = true;
  if (other_machines)
    declare_machine(
        flags, arguments.target,
        "As gpu=\"RTX 5090\",torch=2.9.1+cu130,python=3.12; also platform, driver and libc. What is not said is this "
        "machine's");
  flags.value("--interpreter", "PATH", arguments.interpreter,
              "The Python that is to have it; without it the active environment's, else PATH's");
  flags.reads("VIRTUAL_ENV", "The active environment");
  flags.reads("NETRC, HTTPS_PROXY, NO_PROXY, SSL_CERT_FILE", "The way to an index, as curl and pip read them");
}

void declare_place(Flags& flags, ResolvingArguments& arguments) {
  flags.argument("PLACE", arguments.place, "The same as --from PLACE").required = false;
}

Status take_place(ResolvingArguments& arguments) {
  if (arguments.place.empty()) return {};
  if (!arguments.from.empty() && arguments.from != arguments.place)
    return fail(
        ErrorKind::usage, "CLI001",
        fmt::format("two places are given: {} and {}", printable_url(arguments.from), printable_url(arguments.place)),
        "one of them; a folder may hold several wheels");
  arguments.from = arguments.place;
  return {};
}

Result<fs::path> chosen_interpreter(const Session& session, const std::string& word) {
  if (!word.empty()) return find_interpreter(session, word);
  const auto venv = session.settings.pip_environment.find("VIRTUAL_ENV");
  if (venv != session.settings.pip_environment.end() && is_program(fs::path(venv->second) / "bin/python"))
    return fs::path(venv->second) / "bin/python";
  for (const auto& folder : session.settings.path)
    for (const auto* name : {"python3", "python"})
      if (is_program(folder / name)) return folder / name;
  return fs::path();
}

Result<Target> chosen_target(const Session& session, const ResolvingArguments& arguments) {
  // What is said may be all, and asking a machine for what nobody wants to know costs more than the answer.
  Target nothing;
  nothing.platform = this_platform();
  if (!arguments.target.empty()) {
    auto said = parse_target(arguments.target, nothing);
    if (!said) return std::unexpected(said.error());
    if (arguments.interpreter.empty() && (said->platform != nothing.platform || knows_enough(*said))) return said;
  }
  const auto interpreter = chosen_interpreter(session, arguments.interpreter);
  if (!interpreter) return std::unexpected(interpreter.error());
  const auto options = toolchain_options(session, {});
  if (!options) return std::unexpected(options.error());
  auto here = this_target(*interpreter, options->probe, *session.runner);
  if (!here || arguments.target.empty()) return here;
  return parse_target(arguments.target, *here);
}

Result<std::unique_ptr<Resolving>> make_resolving(const Session& session, const ResolvingArguments& arguments) {
  auto resolving = std::make_unique<Resolving>();
  auto loaded = session.plugins();
  if (!loaded) return std::unexpected(loaded.error());
  resolving->plugins = std::move(*loaded);
  ResolveOptions& options = resolving->options;
  options.packages = arguments.packages;
  for (const auto& plugin : resolving->plugins.plugins) {
    options.plugins.push_back(&plugin);
    if (arguments.packages.empty() && session.asks_for(plugin)) options.packages.push_back(plugin.spec().metadata.name);
  }
  options.schemes = own_schemes(session, resolving->plugins.plugins);
  options.child_environment = session.settings.child_environment;
  options.store = session.settings.store;
  ToolchainArguments index;
  index.index_url = arguments.from;
  auto tools = toolchain_options(session, index);
  if (!tools) return std::unexpected(tools.error());
  options.find_index = tools->provision.find_index;
  options.say = [&session](const std::string& text) {
    if (session.global.verbose > 0) session.console.say(text);
  };
  return resolving;
}

Result<Resolution> resolve_wheels(const Session& session, const ResolvingArguments& arguments, const Target& target,
                                  const Resolving& resolving, std::stop_token stop) {
  auto wheels = find_wheels(arguments.from, resolving.options, stop);
  if (!wheels) return std::unexpected(wheels.error());
  return resolve(std::move(*wheels), target, resolving.options, *session.runner, stop);
}

std::string target_text(const Target& target) {
  std::vector<std::string> parts;
  parts.push_back(target.platform.empty() ? "a machine" : target.platform + (target.wsl ? " (WSL)" : ""));
  if (!target.libc.empty()) parts.push_back(target.libc);
  parts.push_back(target.python.empty() ? "Python not known" : "Python " + target.python);
  std::string torch = target.torch;
  if (!target.torch_cuda.empty())
    torch += target.torch_cuda == "none" ? " without CUDA" : " for CUDA " + target.torch_cuda;
  parts.push_back(target.has_torch == false ? "no torch" : torch.empty() ? "torch not known" : "torch " + torch);
  if (!target.gpus) parts.emplace_back("GPU not known");
  if (target.gpus && target.gpus->empty()) parts.emplace_back("no NVIDIA GPU");
  if (target.gpus)
    for (const auto& gpu : *target.gpus)
      parts.push_back(
          fmt::format("{}{}{}", gpu.name,
                      gpu.name.empty() ? "GPU " + to_string(gpu.capability) : " (" + to_string(gpu.capability) + ")",
                      gpu.driver.empty() ? "" : ", driver " + gpu.driver));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string resolution_text(const Console& console, const Resolution& resolution, bool all) {
  std::string text =
      wrap(fmt::format("{} for {}", resolution.package, target_text(resolution.target)), "", "  ", terminal_width());
  for (const auto& note : resolution.target.notes)
    text += wrap(note, fmt::format("{} ", console.dim("note")), "     ", terminal_width());
  text += "\n";
  for (const auto& one : resolution.fits) text += one_text(console, one, console.green("fits   "));
  std::size_t shown = 0;
  for (const auto& one : resolution.unknown)
    if (all || shown++ < k_shown) text += one_text(console, one, console.yellow("unknown"));
  if (!all && resolution.unknown.size() > k_shown)
    text +=
        fmt::format("        and {} more that are not known; --all lists them\n", resolution.unknown.size() - k_shown);
  // Of many the reasons are few: some of each.
  std::map<std::string, std::size_t> by_code;
  for (const auto& one : resolution.refused) ++by_code[one.code];
  const std::size_t each = by_code.empty() ? 0 : std::max<std::size_t>(1, k_shown / by_code.size());
  std::map<std::string, std::size_t> told;
  for (const auto& one : resolution.refused)
    if (all || resolution.refused.size() <= k_shown || told[one.code]++ < each)
      text += one_text(console, one, console.red("no     "));
  for (const auto& [code, count] : by_code)
    if (!all && resolution.refused.size() > k_shown && count > each)
      text += fmt::format("        and {} more by {}; --all lists them\n", count - each, code);
  if (resolution.fits.empty())
    text += fmt::format("\nNo wheel {}fits.\n", resolution.unknown.empty() ? "" : "certainly ");
  return text;
}

}  // namespace sagekit::host
