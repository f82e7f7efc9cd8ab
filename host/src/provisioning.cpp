#include "provisioning.hpp"

#include <sagekit/index.hpp>
#include <sagekit/shell_word.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>

namespace sagekit::host {

namespace fs = std::filesystem;

namespace {

/// Where a tool is from, and why this one: what is given comes first, then what is installed, then what was fetched.
std::string place(ToolSource source, const fs::path& path, bool system_allowed) {
  if (source == ToolSource::system) return "installed, " + path.string();
  if (source == ToolSource::folder) return "given, " + path.string();
  return fmt::format("{}, {}{}", to_string(source), system_allowed ? "none that fits is installed, " : "",
                     path.string());
}

/// --toolchain: nothing given is auto, what is installed, else wheels.
Status read_sources(const std::vector<std::string>& words, ToolchainOptions& options) {
  bool named = false, system = false, any_stored = false;
  std::vector<ToolSource> fetch;
  std::error_code error;
  for (const auto& word : words) {
    if (word.starts_with("folder:")) {
      const fs::path folder = word.substr(7);
      if (!fs::is_directory(folder, error))
        return fail(ErrorKind::usage, "CLI003", fmt::format("--toolchain folder:{}: no such folder", folder.string()),
                    "one with a CUDA toolkit, a compiler, a torch or a Python, or a folder of such; for Windows also "
                    "one with VC "
                    "and \"Windows Kits\" (xwin splat --use-winsysroot-style --output DIR)");
      options.probe.folders.push_back(fs::absolute(folder, error));
      continue;
    }
    named = true;
    if (word == "auto" || word == "system") system = true;
    if (word == "auto") any_stored = true;
    if (word == "auto") fetch.push_back(ToolSource::wheels);
    if (word == "wheels" || word == "redist") fetch.push_back(*parse_tool_source(word));
    if (word != "auto" && word != "system" && word != "wheels" && word != "redist")
      return fail(ErrorKind::usage, "CLI003", fmt::format("unknown toolchain source \"{}\"", word),
                  "one of: auto, system, wheels, redist, folder:DIR");
  }
  // A folder adds to what would be used without it.
  options.system = system || !named;
  options.provision.sources = named ? fetch : std::vector{ToolSource::wheels};
  // What was fetched by name before is as good as installed.
  if (named && !any_stored) options.stored = fetch;
  return {};
}

PipPlaces pip_places(const Session& session) {
  PipPlaces places;
  places.environment = session.settings.pip_environment;
  places.home = session.settings.home;
  // A Debian without python3-pip has pip in environments only: in the one that is built for, in the one that sagekit is
  // in.
  std::error_code error;
  if (!session.interpreter.empty()) places.python.push_back(session.interpreter);
  std::vector<fs::path> folders = {session.settings.executable.parent_path()};
  folders.insert(folders.end(), session.settings.path.begin(), session.settings.path.end());
  for (const auto& folder : folders)
    for (const auto* name : {"python3", "python"})
      if (fs::exists(folder / name, error)) places.python.push_back(folder / name);
  return places;
}

IndexSettings index_flags(const ToolchainArguments& tools) {
  IndexSettings flags;
  flags.index_url = tools.index_url;
  flags.extra_index_urls = tools.extra_index_urls;
  flags.ca_bundle = tools.ca_bundle;
  return flags;
}

/// Reads pip's settings once, at the first call.
std::function<Result<IndexSettings>()> pip_reader(const Session& session, PipPlaces places, IndexSettings flags) {
  return [places = std::move(places), flags = std::move(flags), runner = session.runner.get(), log = session.log,
          known = std::optional<Result<IndexSettings>>()]() mutable -> Result<IndexSettings> {
    if (!known) known = read_pip_settings(places, flags, *runner);
    if (*known) (*known)->log = log;
    return *known;
  };
}

/// The flags with which `toolchain fetch` brings what these would use: its store, its lock and whom it asks, without a
/// password.
std::string fetch_words(const Session& session, const ToolchainArguments& tools) {
  auto words = session.store_words(tools.store);
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) words += fmt::format(" {} {}", flag, shell_word(value));
  };
  if (tools.lock != ToolchainArguments().lock) add("--lock", tools.lock);
  add("--index-url", printable_url(tools.index_url));
  for (const auto& url : tools.extra_index_urls) add("--extra-index-url", printable_url(url));
  add("--redist-url", printable_url(tools.redist_url));
  add("--cert", tools.ca_bundle);
  return words;
}

}  // namespace

Result<ToolchainOptions> toolchain_options(const Session& session, const ToolchainArguments& tools) {
  ToolchainOptions options;
  if (const auto read = read_sources(tools.sources, options); !read) return std::unexpected(read.error());
  options.probe.path = session.settings.path;
  // The Python that a wheel is made for counts also where PATH does not have it; compilers beside it come last.
  if (!session.interpreter.empty()) options.probe.path.push_back(session.interpreter.parent_path());
  options.probe.cuda_homes = session.settings.cuda_homes;
  options.probe.home = session.settings.home;
  options.probe.child_environment = session.settings.child_environment;
  std::error_code error;
  for (const auto& folder : tools.python_headers) {
    if (!fs::is_directory(folder, error))
      return fail(ErrorKind::usage, "CLI003", fmt::format("--python-headers {}: no such folder", folder),
                  "a folder with Python.h, or what dpkg-deb -x made of a libpython3.N-dev package");
    options.probe.python_headers.push_back(fs::absolute(folder, error));
  }
  if (const auto store = session.store(tools.store)) {
    options.provision.store = *store / "toolchains";
    options.provision.kept = *store / "specs";
    options.provision.store_flag = session.store_words(tools.store);
  }
  options.provision.fetch_flags = fetch_words(session, tools);
  options.provision.lock = tools.lock;
  options.provision.locked = tools.locked;
  options.provision.offline = tools.offline;
  options.provision.full = tools.full;
  options.provision.redist_url = tools.redist_url;
  auto places = pip_places(session);
  auto flags = index_flags(tools);
  options.provision.usual_index = !names_index(places, flags);
  options.provision.find_index = pip_reader(session, std::move(places), std::move(flags));
  return options;
}

void say_toolchains(const Session& session, const ToolchainOptions& options, const Plan& plan) {
  std::set<std::string> said;
  for (const auto& cell : plan.cells) {
    const auto* tools = cell.toolchain.get();
    if (!tools) continue;
    std::string text = fmt::format("with nvcc {} ({})", tools->nvcc.version,
                                   place(tools->nvcc.source, tools->nvcc.executable, options.system));
    text += fmt::format(", {} {} ({})", to_string(tools->host_compiler.kind), tools->host_compiler.version,
                        tools->host_compiler.executable.string());
    if (!tools->torch.root.empty())
      text += fmt::format(", torch {}{}{} ({})", tools->torch.version, tools->torch.local.empty() ? "" : "+",
                          tools->torch.local, place(tools->torch.source, tools->torch.root, options.system));
    if (said.insert(text).second) session.console.say(session.console.dim(text));
  }
}

void TransferProgress::on_transfer(const TransferState& state) {
  const std::lock_guard lock(m_mutex);
  std::string text = fmt::format("{}: {}", state.what, human_bytes(state.bytes));
  if (state.expected_bytes > state.bytes) text += " of about " + human_bytes(state.expected_bytes);
  text += fmt::format(", {}/s", human_bytes(static_cast<std::uint64_t>(state.bytes_per_second)));
  if (m_status.shows()) return m_status.show(text);
  const auto now = std::chrono::steady_clock::now();
  if (now - m_said < std::chrono::seconds(10)) return;
  m_said = now;
  m_console.say(text);
}

void TransferProgress::on_message(const std::string& text) {
  const std::lock_guard lock(m_mutex);
  m_status.clear();
  m_console.say(text);
}

void TransferProgress::on_fetched(const Provisioned& provisioned) {
  const std::lock_guard lock(m_mutex);
  m_status.clear();
  m_console.say(fmt::format("{}: {} in {} requests, {}", provisioned.tree.id, human_bytes(provisioned.bytes),
                            provisioned.requests, human_seconds(provisioned.seconds)));
}

}  // namespace sagekit::host
