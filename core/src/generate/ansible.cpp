// A role and a playbook for GPU hosts. The tasks are data (core/data/generate/ansible_tasks.yml); what differs are
// defaults.
#include "generate/kinds.hpp"
#include "generate/quote.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/coverage.hpp>
#include <sagekit/naming.hpp>
#include <sagekit/release.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace sagekit {

extern const std::string_view k_generate_ansible_tasks_yml;  // written at build time by cmake/EmbedText.cmake

namespace {

std::string yaml_list(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const auto& word : words) quoted.push_back(jinja_text(word));
  return "[" + join(quoted, ", ") + "]";
}

/// The wheel of the release that is the plan's one cell, as `coverage` judges it, among those with an address.
Result<ReleasedWheel> wheel_for(Release release, const Plan& plan, std::string_view origin) {
  std::erase_if(release.wheels, [](const ReleasedWheel& wheel) { return wheel.url.empty(); });
  const auto row = cover(plan, release).front();
  if (row.state == CoverageState::missing)
    return fail(ErrorKind::no_match, "GEN002", fmt::format("{} has no wheel with an address for {}", origin, row.cell),
                "sagekit release DIR --base-url https://... writes addresses; sagekit coverage shows what is missing");
  return *std::ranges::find(release.wheels, row.published, &ReleasedWheel::file);
}

}  // namespace

Result<Generated> generate_ansible(const std::vector<PlannedVariant>& variants, const GenerateOptions& options) {
  const auto& variant = variants.front();
  const auto& spec = *variant.spec;
  if (variant.plan.cells.size() > 1)
    return fail(ErrorKind::usage, "GEN009",
                fmt::format("a host gets one wheel, and {} cells are selected", variant.plan.cells.size()),
                "narrow with --cells, --torch, --cuda, --python and --platform");
  const auto& cell = variant.plan.cells.front();
  if (!options.venv.empty() && options.venv.front() != '/' && options.venv.front() != '~')
    return fail(
        ErrorKind::usage, "GEN003",
        fmt::format("--venv {} is relative, and on a host nobody knows to which folder", yaml_text(options.venv)),
        "the whole path: --venv /opt/comfyui/venv, or ~/venv");
  TRY(check_absolute("--source", options.source, "on a host nobody knows to which folder"));
  TRY_ASSIGN(const auto sagekit, sagekit_source(options));
  std::string url, sha256, version;
  if (!options.release.empty()) {
    TRY_ASSIGN(auto release, read_release(options.release, options.release_origin));
    TRY_ASSIGN(const auto wheel, wheel_for(std::move(release), variant.plan, options.release_origin));
    TRY(check_word("the address", wheel.url));
    url = wheel.url, sha256 = wheel.sha256, version = wheel.version;
  }
  std::vector<std::string> words{"--plugin", spec.name, "install", "--or-build"};
  if (!options.source.empty()) words.insert(words.end(), {"--source", options.source});
  std::vector<std::string> arches;
  for (const auto& arch : cell.arches) arches.push_back(to_string(arch));

  const auto role = "sage_" + replace_all(target_name(spec.name), "-", "_");
  const auto module = spec.verify.import_modules.empty() ? std::string() : spec.verify.import_modules.front();
  std::string defaults =
      "# Where from: \"url\" (a released wheel), \"index\", or \"build\" (for the host's own GPU).\n";
  const auto line = [&](std::string_view name, const std::string& value) {
    defaults += fmt::format("{}: {}\n", name, value);
  };
  line("sage_from", url.empty() ? "build" : "url");
  line("sage_package", jinja_text(normalized_project(spec.metadata.name)));
  line("sage_import", jinja_text(module.substr(0, module.find('.'))));
  line("sage_version", jinja_text(version));
  line("sage_venv", jinja_text(options.venv.empty() ? "/opt/comfyui/venv" : options.venv));
  line("sage_python", "python3");
  line("sage_cache", "/var/cache/sagekit");
  line("sage_wheel_url", jinja_text(url));
  line("sage_wheel_sha256", jinja_text(sha256));
  line("sage_index_url", "\"\"");
  defaults += "# Installed first; [] keeps what the environment has, a build of one's own for example.\n";
  line("sage_companions", yaml_list(companion_requirements(spec)));
  // A wheel's name was looked at: it holds nothing that ends a word of YAML or begins one of Jinja's.
  line("sage_sagekit", sagekit.wheel.empty() ? jinja_text(sagekit.requirement)
                                             : fmt::format("\"{{{{ sage_cache }}}}/{}\"", sagekit.wheel));
  std::vector<CarriedFile> carried;
  if (!sagekit.wheel.empty()) carried.push_back({sagekit.wheel, options.sagekit});
  if (!variant.carried_plugin.empty()) carried.push_back({plugin_file(spec), variant.carried_plugin});
  std::vector<std::string> names;
  for (const auto& file : carried) names.push_back(file.path);
  line("sage_bring", yaml_list(names));
  line("sage_build_words", yaml_list(words));
  line("sage_arch_list", jinja_text(join(arches, ";")));
  Generated made;
  note_companions(spec, made.notes);
  made.files.push_back({fmt::format("roles/{}/defaults/main.yml", role), defaults, false});
  for (const auto& file : carried)
    made.carried.push_back({fmt::format("roles/{}/files/{}", role, file.path), file.from});
  made.files.push_back(
      {fmt::format("roles/{}/tasks/main.yml", role), std::string(k_generate_ansible_tasks_yml), false});
  made.files.push_back(
      {fmt::format("{}.yml", role),
       fmt::format("- name: Install {}\n  hosts: {}\n  gather_facts: false\n  roles:\n    - role: {}\n",
                   comment_text(spec.metadata.name), jinja_text(options.hosts.empty() ? "all" : options.hosts), role),
       false});
  return made;
}

}  // namespace sagekit
