#include "provisioning.hpp"

#include <sagekit/toolchain.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <set>

namespace sagekit::host {

namespace fs = std::filesystem;

namespace {

/// What the plan's cells need that was found nowhere: those that a source could have.
std::vector<TreeNeed> missing_trees(const Plan& plan) {
  std::vector<TreeNeed> needs;
  std::set<std::string> seen;
  for (const auto& cell : plan.cells) {
    if (cell.missing_code == "TCH001" && seen.insert("nvcc " + cell.cuda).second)
      needs.push_back({TreeKind::nvcc, cell.cuda, "", this_platform()});
    if (cell.missing_code == "TCH005" &&
        seen.insert(fmt::format("torch {} {} {}", cell.torch, cell.cuda, cell.platform)).second)
      needs.push_back({TreeKind::torch, cell.cuda, cell.torch, cell.platform});
  }
  return needs;
}

bool is_fetched(const std::string& source) { return source == "wheels" || source == "redist"; }

/// Where a tool is from, and why this one: what is given comes first, then what is installed, then what was fetched.
std::string place(const std::string& source, const fs::path& path, bool system_allowed) {
  if (source == "system") return "installed, " + path.string();
  if (source == "folder") return "given, " + path.string();
  return fmt::format("{}, {}{}", source, system_allowed ? "none that fits is installed, " : "", path.string());
}

}  // namespace

Result<Sources> read_sources(const ToolchainArguments& tools) {
  Sources sources;
  bool named = false, system = false;
  for (const auto& source : tools.sources) {
    if (source.starts_with("folder:")) {
      const fs::path folder = source.substr(7);
      std::error_code error;
      if (!fs::is_directory(folder, error))
        return fail(ErrorKind::usage, "CLI003", fmt::format("--toolchain folder:{}: no such folder", folder.string()));
      sources.folders.push_back(fs::absolute(folder, error));
      continue;
    }
    named = true;
    if (source == "auto" || source == "system") system = true;
    if (source == "auto") sources.provisioned.push_back("wheels");
    if (source == "wheels" || source == "redist") sources.provisioned.push_back(source);
    if (source != "auto" && source != "system" && source != "wheels" && source != "redist")
      return fail(ErrorKind::usage, "CLI003", fmt::format("unknown toolchain source \"{}\"", source),
                  "one of: auto, system, wheels, redist, folder:DIR");
  }
  // A folder adds to what would be used without it.
  sources.system = system || !named;
  if (!named) sources.provisioned.push_back("wheels");
  // What was fetched by name before is as good as installed.
  sources.present = sources.provisioned;
  if (!named || std::ranges::find(tools.sources, "auto") != tools.sources.end()) sources.present = {"wheels", "redist"};
  return sources;
}

bool comes_with_build(const Sources& sources, TreeKind kind, const std::string& cuda) {
  const bool wheels = std::ranges::find(sources.provisioned, "wheels") != sources.provisioned.end();
  return wheels && (kind == TreeKind::torch || wheels_have_nvcc(cuda));
}

Result<ProvisionOptions> provision_options(const Session& session, const ToolchainArguments& tools) {
  auto sources = read_sources(tools);
  if (!sources) return std::unexpected(sources.error());
  auto store = session.store(tools.store);
  if (!store) return std::unexpected(store.error());
  ProvisionOptions options;
  options.store = *store / "toolchains";
  options.lock = tools.lock;
  options.locked = tools.locked;
  options.offline = tools.offline;
  options.full = tools.full;
  options.sources = std::move(sources->provisioned);
  options.redist_url = tools.redist_url;
  return options;
}

namespace {

Result<IndexSettings> read_index(const Session& session, const ToolchainArguments& tools) {
  PipPlaces places;
  places.environment = session.settings.pip_environment;
  places.home = session.settings.home;
  for (const auto& folder : session.settings.path)
    for (const auto* name : {"python3", "python"}) {
      std::error_code error;
      if (fs::exists(folder / name, error)) places.python.push_back(folder / name);
    }
  IndexSettings flags;
  flags.index_url = tools.index_url;
  flags.extra_index_urls = tools.extra_index_urls;
  flags.ca_bundle = tools.ca_bundle;
  return read_pip_settings(places, flags, *session.runner);
}

}  // namespace

Result<Provisioned> bring(const Session& session, const ToolchainArguments& tools, const TreeNeed& need,
                          ProvisionOptions& options, ProvisionObserver& observer, std::stop_token stop) {
  const bool index_known = !options.index.origin.empty();
  options.offline = tools.offline || !index_known;
  auto provisioned = provision(need, options, observer, stop);
  if (provisioned || tools.offline || index_known || provisioned.error().code != "PRV010") return provisioned;
  auto index = read_index(session, tools);
  if (!index) return std::unexpected(index.error());
  options.index = std::move(*index);
  options.offline = false;
  return provision(need, options, observer, stop);
}

Result<bool> provide(const Session& session, const ToolchainArguments& tools, const Plan& plan, std::stop_token stop) {
  const auto needs = missing_trees(plan);
  auto sources = read_sources(tools);
  if (needs.empty() || !sources || sources->provisioned.empty()) return false;
  auto options = provision_options(session, tools);
  if (!options) return std::unexpected(options.error());
  TransferProgress progress(session.console, session.settings.ci);
  bool came = false;
  for (const auto& need : needs) {
    auto provisioned = bring(session, tools, need, *options, progress, stop);
    // The build ends with the cell's own reason and what else would help.
    if (!provisioned && (provisioned.error().code == "PRV002" || provisioned.error().code == "PRV010")) {
      session.console.say(fmt::format("{} {}", session.console.dim("note"), provisioned.error().message));
      continue;
    }
    if (!provisioned) return std::unexpected(provisioned.error());
    progress.done(*provisioned);
    came = true;
  }
  return came;
}

Status pin_used(const Session& session, const ToolchainArguments& tools, const Plan& plan,
                const Environment& environment) {
  auto options = provision_options(session, tools);
  if (!options) return std::unexpected(options.error());
  options->offline = true;
  options->sources = {"wheels", "redist"};
  TransferProgress progress(session.console, session.settings.ci);
  for (const auto& cell : plan.cells) {
    if (!cell.buildable) continue;
    const auto chosen = choose_toolchain({cell.cuda, cell.torch, "", cell.platform, cell.gencode}, environment);
    if (!chosen) continue;
    std::vector<TreeNeed> needs;
    if (is_fetched(chosen->nvcc.source)) needs.push_back({TreeKind::nvcc, cell.cuda, "", environment.platform});
    if (!cell.torch.empty() && is_fetched(chosen->torch.source))
      needs.push_back({TreeKind::torch, cell.cuda, cell.torch, cell.platform});
    for (const auto& need : needs)
      if (const auto pinned = provision(need, *options, progress); !pinned) return std::unexpected(pinned.error());
  }
  return {};
}

void say_toolchains(const Session& session, const ToolchainArguments& asked, const Plan& plan,
                    const Environment& environment) {
  const auto sources = read_sources(asked);
  const bool system = sources && sources->system;
  std::set<std::string> said;
  for (const auto& cell : plan.cells) {
    if (!cell.buildable) continue;
    ToolchainNeed need{cell.cuda, cell.torch, "", cell.platform, cell.gencode};
    const auto tools = choose_toolchain(need, environment);
    if (!tools) continue;
    std::string text = fmt::format("with nvcc {} ({})", tools->nvcc.version,
                                   place(tools->nvcc.source, tools->nvcc.executable, system));
    text += fmt::format(", {} {} ({})", tools->host_compiler.kind, tools->host_compiler.version,
                        tools->host_compiler.executable.string());
    if (!cell.torch.empty())
      text += fmt::format(", torch {}{}{} ({})", tools->torch.version, tools->torch.local.empty() ? "" : "+",
                          tools->torch.local, place(tools->torch.source, tools->torch.root, system));
    if (said.insert(text).second) session.console.say(session.console.dim(text));
  }
}

TransferProgress::TransferProgress(const Console& console, bool ci)
    : m_console(console), m_terminal(!ci && !console.quiet() && isatty(STDERR_FILENO) == 1) {}

TransferProgress::~TransferProgress() { clear(); }

void TransferProgress::clear() {
  if (m_drawn) fmt::print(stderr, "\r\x1b[K");
  m_drawn = false;
}

void TransferProgress::on_transfer(const TransferState& state) {
  const std::lock_guard lock(m_mutex);
  std::string text = fmt::format("{}: {}", state.what, human_bytes(state.bytes));
  if (state.expected_bytes > state.bytes) text += " of about " + human_bytes(state.expected_bytes);
  text += fmt::format(", {}/s", human_bytes(static_cast<std::uint64_t>(state.bytes_per_second)));
  if (m_terminal) {
    fmt::print(stderr, "\r\x1b[K{}", text);
    std::fflush(stderr);
    m_drawn = true;
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (now - m_said < std::chrono::seconds(10)) return;
  m_said = now;
  m_console.say(text);
}

void TransferProgress::on_message(const std::string& text) {
  const std::lock_guard lock(m_mutex);
  clear();
  m_console.say(text);
}

void TransferProgress::done(const Provisioned& provisioned) {
  const std::lock_guard lock(m_mutex);
  clear();
  if (provisioned.fetched)
    m_console.say(fmt::format("{}: {} in {} requests, {}", provisioned.tree.id, human_bytes(provisioned.bytes),
                              provisioned.requests, human_seconds(provisioned.seconds)));
}

}  // namespace sagekit::host
