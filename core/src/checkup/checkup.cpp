#include "checkup/looks.hpp"
#include "environment/probe.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/naming.hpp>

#include <algorithm>

namespace sagekit {

namespace {

namespace fs = std::filesystem;

/// What `import` takes: the folder that the package's files go to, else where its modules lie.
std::string module_of(const Spec& spec) {
  for (const auto& files : spec.package_files)
    if (!files.to.empty()) return files.to.substr(0, files.to.find('/'));
  for (const auto& kernel : spec.kernels)
    if (const auto dot = kernel.module.find('.'); dot != std::string::npos) return kernel.module.substr(0, dot);
  return replace_all(normalized_project(spec.metadata.name), "-", "_");
}

std::vector<KnownPackage> known_packages(const std::vector<const Plugin*>& plugins) {
  std::vector<KnownPackage> known;
  for (const Plugin* plugin : plugins) {
    const Spec& spec = plugin->spec();
    const auto same = std::ranges::find_if(known, [&](const KnownPackage& one) {
      return normalized_project(one.name) == normalized_project(spec.metadata.name);
    });
    if (same != known.end())
      same->specs.push_back(&spec);
    else
      known.push_back({spec.metadata.name, module_of(spec), {&spec}});
  }
  return known;
}

Json row_json(const CheckupRow& row) {
  return {{"about", row.about}, {"what", row.what}, {"state", to_string(row.state)},
          {"found", row.found}, {"why", row.why},   {"mend", row.mend},
          {"code", row.code}};
}

Json package_json(const CheckedPackage& package) {
  Json json{{"name", package.name},
            {"version", package.version},
            {"place", package.place.string()},
            {"imported_from", package.imported_from.string()}};
  Json& runs = json["runs_on"] = Json::array();
  for (const auto& row : package.runs_on)
    runs.push_back({{"capability", to_string(row.capability)},
                    {"verdict", to_string(row.verdict)},
                    {"modules", row.modules},
                    {"failing", row.failing},
                    {"reason", row.reason}});
  Json& findings = json["findings"] = Json::array();
  for (const auto& finding : package.findings)
    findings.push_back(
        {{"code", finding.code}, {"message", finding.message}, {"where", finding.where}, {"hint", finding.hint}});
  return json;
}

/// Installers leave a Python that is managed by the system's own packages alone (PEP 668): what a mend installs goes
/// into an environment of one's own, which sees a torch that is there.
void mind_managed(const Look& look) {
  if (!look.python.externally_managed) return;
  const std::string python = shell_word(look.options.interpreter.string());
  for (auto& row : look.checkup.rows)
    if (row.mend.starts_with(python + " -m pip install ") ||
        row.mend.starts_with("uv pip install --python " + python + " "))
      row.mend = fmt::format("{} -m venv {}.venv && {}", python, look.torch ? "--system-site-packages " : "",
                             replace_all(row.mend, python, ".venv/bin/python"));
}

}  // namespace

bool KnownPackage::is_torch_free() const {
  return std::ranges::all_of(specs, [](const Spec* spec) {
    return !spec->kernels.empty() && std::ranges::all_of(spec->kernels, &KernelSpec::torch_free);
  });
}

bool KnownPackage::is_plain(const std::string& extension) const {
  return std::ranges::any_of(specs, [&](const Spec* spec) {
    return std::ranges::any_of(
        spec->kernels, [&](const KernelSpec& kernel) { return kernel.plain_module && kernel.module == extension; });
  });
}

bool Look::wants_torch() const {
  bool any = false;
  for (const auto& package : known) {
    if (python.named(package.name).empty()) continue;
    if (!package.is_torch_free()) return true;
    any = true;
  }
  return !any;
}

LogFacts Look::facts() const {
  LogFacts facts{{"os", machine.os},
                 {"machine", machine.machine},
                 {"driver", driver},
                 {"python", python.minor},
                 {"python_program", shell_word(options.interpreter.string())}};
  if (!gpus.empty()) {
    facts["gpu"] = gpus.front().name;
    facts["capability"] = to_string(gpus.front().capability);
  }
  if (torch) {
    facts["torch"] = torch->version;
    facts["cuda"] = torch->cuda;
    facts["right_triton"] = right_triton(*this);
  }
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
  return facts;
}

std::string Look::variable(const char* name) const {
  const auto found = options.variables.find(name);
  return found == options.variables.end() ? std::string() : found->second;
}

std::vector<Gpu> Look::kinds_of_gpu() const {
  std::vector<Gpu> kinds;
  for (const auto& gpu : gpus)
    if (std::ranges::none_of(kinds,
                             [&](const Gpu& one) { return one.name == gpu.name && one.capability == gpu.capability; }))
      kinds.push_back(gpu);
  return kinds;
}

CheckupRow& Look::add(std::string about, std::string what, CheckupState state, std::string found, std::string why,
                      std::string mend, std::string code) {
  checkup.rows.push_back(
      {std::move(about), std::move(what), state, std::move(found), std::move(why), std::move(mend), std::move(code)});
  return checkup.rows.back();
}

fs::path Look::program(std::string_view name) const {
  for (const auto& folder : options.probe.path)
    if (is_executable(folder / name)) return folder / name;
  return {};
}

std::string Look::pip(std::string_view words) const {
  return fmt::format("{} -m pip {}", shell_word(options.interpreter.string()), words);
}

std::string gpu_text(const Gpu& gpu) {
  return gpu.name.empty() ? "GPU " + to_string(gpu.capability)
                          : fmt::format("{} ({})", gpu.name, to_string(gpu.capability));
}

bool is_below(const fs::path& path, const fs::path& folder) {
  const auto inner = path.lexically_normal(), outer = folder.lexically_normal();
  if (outer.empty()) return false;
  const auto relative = inner.lexically_relative(outer);
  return !relative.empty() && *relative.begin() != "..";
}

bool is_older_driver(std::string_view have, std::string_view need) {
  const auto own = parse_version_number(have), least = parse_version_number(need);
  return own && least && *own < *least;
}

std::string_view to_string(CheckupState state) {
  switch (state) {
    case CheckupState::good: return "good";
    case CheckupState::note: return "note";
    case CheckupState::warning: return "warning";
    case CheckupState::unknown: return "unknown";
    case CheckupState::wrong: break;
  }
  return "wrong";
}

bool Checkup::wrong() const { return std::ranges::find(rows, CheckupState::wrong, &CheckupRow::state) != rows.end(); }

Result<Checkup> check_up(const CheckupOptions& options, CommandRunner& runner, std::stop_token stop) {
  Checkup checkup;
  checkup.interpreter = options.interpreter;
  Look look{options, runner, std::move(stop), checkup, known_packages(options.plugins), {}, {}, false, false, {}, {},
            {},      false};
  std::vector<std::string> distributions{"torch", "triton", "triton-windows", "pytorch-triton"},
      modules{"torch", "triton"};
  for (const auto& known : look.known) {
    distributions.push_back(known.name);
    modules.push_back(known.module);
  }
  TRY_ASSIGN(look.python, view_python(options, distributions, modules, runner));
  look_at_machine(look);
  TRY(look_at_torch(look));
  look_at_triton(look);
  TRY(look_at_packages(look));
  look_at_paths(look);
  look_at_room(look);
  mind_managed(look);
  return checkup;
}

std::string checkup_json(const Checkup& checkup) {
  Json json{{"schema", "sagekit.doctor/1"}, {"cells", Json::array()}, {"companions", Json::array()}};
  json["interpreter"] = checkup.interpreter.string();
  Json& rows = json["rows"] = Json::array();
  for (const auto& row : checkup.rows) rows.push_back(row_json(row));
  Json& packages = json["packages"] = Json::array();
  for (const auto& package : checkup.packages) packages.push_back(package_json(package));
  return json_text(json);
}

}  // namespace sagekit
