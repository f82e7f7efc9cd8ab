// build-wheels-PLUGIN-linux.yml and -windows.yml. Their text is core/data/generate/*.yml; what differs between plugins
// goes through the writers, and nothing of an event stands in a `run:` but by an environment variable.
#include "generate/kinds.hpp"
#include "generate/quote.hpp"
#include "generate/request_words.hpp"
#include "generate/setup_py_recipe.hpp"
#include "generate/tools.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/shell_word.hpp>

#include <algorithm>
#include <initializer_list>
#include <set>
#include <tuple>
#include <utility>

namespace sagekit {

extern const std::string_view k_generate_linux_yml;       // written at build time by cmake/EmbedText.cmake
extern const std::string_view k_generate_windows_yml;     // the same
extern const std::string_view k_generate_build_wheel_py;  // the same

namespace {

bool has_profile(const Spec& spec, std::string_view name) {
  return std::ranges::any_of(spec.profiles, [&](const Profile& profile) { return profile.name == name; });
}

/// The first of the names that the plugin has; "default" is every plugin's.
std::string first_profile(const Spec& spec, std::initializer_list<std::string> names) {
  for (const auto& name : names)
    if (has_profile(spec, name)) return name;
  return "default";
}

struct Profiles {
  std::vector<std::string> all;
  std::string pull_request, main, tag;  ///< that the event builds; "" = it starts nothing
};

Profiles profiles_for(const Spec& spec) {
  Profiles profiles{{},
                    "default",
                    first_profile(spec, {"stable"}),
                    first_profile(spec, {spec.name + "-all", "all", "current", "stable"})};
  for (const auto& profile : spec.profiles) profiles.all.push_back(profile.name);
  if (!has_profile(spec, "default")) profiles.all.insert(profiles.all.begin(), "default");
  return profiles;
}

/// Those that the selection leaves a cell: any other would fail at every event that builds it. The one that was asked
/// for stands in for them.
Result<Profiles> profiles_with_cells(const PlannedVariant& variant) {
  Status nothing = fail(ErrorKind::no_match, "GEN002",
                        fmt::format("no profile of {} has a cell to generate for", variant.spec->name),
                        "sagekit plan shows what is excluded and why");
  auto profiles = profiles_for(*variant.spec);
  const auto& asked = variant.request.profile;
  auto names = std::exchange(profiles.all, {});
  if (!asked.empty() && std::ranges::find(names, asked) == names.end()) names.insert(names.begin(), asked);
  for (const auto& name : names) {
    auto request = variant.request;
    request.profile = name;
    const auto plan = make_plan(*variant.spec, request, Environment{});
    if (plan && !plan->cells.empty()) profiles.all.push_back(name);
    if (plan || !profiles.all.empty()) continue;
    nothing = std::unexpected(plan.error());
    if (plan.error().kind != ErrorKind::no_match) break;
  }
  if (profiles.all.empty()) return std::unexpected(nothing.error());
  const auto has_cells = [&](const std::string& name) {
    return std::ranges::find(profiles.all, name) != profiles.all.end();
  };
  for (auto* name : {&profiles.pull_request, &profiles.main, &profiles.tag})
    if (!has_cells(*name)) *name = has_cells(asked) ? asked : "";
  return profiles;
}

/// Of the matrix: x86_64 where it has that, else what it has.
std::vector<std::string> linux_platforms(const Spec& spec) {
  std::set<std::string> found;
  for (const auto& row : spec.matrix.include)
    for (const auto& platform : row.platform)
      if (platform.starts_with("linux_")) found.insert(platform);
  if (found.empty() || found.contains("linux_x86_64")) return {"linux_x86_64"};
  return {found.begin(), found.end()};
}

/// A workflow for each: the file's name has the first word, its title the second.
struct System {
  std::string_view name, title, text;
};

/// The system's own platforms, of those that were selected. Empty = the selection leaves it none.
std::vector<std::string> platforms_for(const PlannedVariant& variant, const System& system) {
  const bool windows = system.name == "windows";
  auto platforms = variant.request.platforms;
  if (platforms.empty()) return windows ? std::vector<std::string>{"win_amd64"} : linux_platforms(*variant.spec);
  std::erase_if(platforms, [&](const std::string& platform) { return platform.starts_with("win_") != windows; });
  return platforms;
}

/// GitHub's machines have a compiler for their own CPU.
std::string cross_compiler_step(const std::vector<std::string>& platforms) {
  std::vector<std::string> packages;
  for (const auto& platform : platforms)
    if (const auto* cross = cross_platform(platform))
      packages.insert(packages.end(), cross->packages.begin(), cross->packages.end());
  if (packages.empty()) return {};
  return "\n      - name: Install the compiler for the other CPU\n"
         "        run: sudo apt-get update -q && sudo apt-get install -yq --no-install-recommends " +
         shell_line(packages);
}

std::string overrides_file(const Spec& spec) {
  return fmt::format(".github/sagekit-{}/{}", spec.name, k_overrides_file);
}

/// Which events start nothing, and how they would.
void note_events_without_cells(const Spec& spec, const System& system, const Profiles& profiles,
                               std::vector<std::string>& notes) {
  const auto wanted = profiles_for(spec);
  std::vector<std::string> events;
  for (const auto& [event, name, built] :
       {std::tuple{"pull requests", &wanted.pull_request, &profiles.pull_request},
        std::tuple{"pushes to main", &wanted.main, &profiles.main}, std::tuple{"tags", &wanted.tag, &profiles.tag}})
    if (built->empty()) events.push_back(fmt::format("{} (profile {})", event, *name));
  if (events.empty()) return;
  notes.push_back(fmt::format(
      "the workflow for {} does not start at {}: no cell of that is selected. --profile {} builds that one there",
      system.title, join(events, ", "), join(profiles.all, "|")));
}

/// The events but the one by hand, and the arms of the case that chooses their profile.
std::vector<TemplateValue> event_values(const Profiles& profiles, const std::vector<std::string>& tags) {
  std::string triggers, arms;
  const auto arm = [&](std::string_view event, const std::string& name, std::string_view more) {
    if (!name.empty()) arms += fmt::format("\n            {}) profile={}{} ;;", event, shell_text(name), more);
  };
  arm("pull_request:*", profiles.pull_request, "");
  arm("push:tag", profiles.tag, " release=true");
  arm("push:branch", profiles.main, "");
  if (!profiles.pull_request.empty()) triggers += "\n  pull_request:";
  if (!profiles.main.empty() || !profiles.tag.empty()) triggers += "\n  push:";
  if (!profiles.main.empty()) triggers += "\n    branches: [main]";
  if (!profiles.tag.empty()) triggers += "\n    tags: [" + join(tags, ", ") + "]";
  const auto text = [](std::string_view before, const std::string& name, std::string_view behind) {
    return name.empty() ? "nothing" : fmt::format("{}{}{}", before, comment_text(name), behind);
  };
  return {{"triggers", triggers},
          {"event_profiles", arms},
          {"pull_request_text", text("the profile ", profiles.pull_request, "")},
          {"main_text", text("", profiles.main, "")},
          {"tag_text", text("", profiles.tag, " with a release")}};
}

std::vector<TemplateValue> template_values(const PlannedVariant& variant, const GenerateOptions& options,
                                           const SagekitSource& sagekit, const System& system,
                                           const Profiles& profiles) {
  const auto& spec = *variant.spec;
  std::vector<std::string> cases, listed;
  for (const auto& name : profiles.all) cases.push_back(shell_text(name)), listed.push_back(workflow_text(name));
  auto request = variant.request;
  request.profile.clear();  // the event chooses it
  const auto words_of = [&](const Request& one) {
    auto words = request_words(one);
    if (const auto arches = flag_arches(one); !arches.empty()) words.insert(words.end(), {"--arch", arches});
    if (!overrides_toml(one).empty()) words.insert(words.end(), {"--config", overrides_file(spec)});
    return words;
  };
  const auto plan_words = " " + shell_line(words_of(request));
  request.cells.clear();  // a job names its own cell, and several globs are a union
  auto build_words = words_of(request);
  if (!options.source.empty()) build_words.insert(build_words.end(), {"--source", options.source});
  const auto& tools = generate_tools();
  std::vector<std::string> tags;
  for (const auto& pattern : options.tags) tags.push_back(workflow_text(pattern));
  if (tags.empty()) tags.push_back(workflow_text(fmt::format("v*-{}", spec.name)));
  const auto by_hand =
      std::ranges::find(listed, workflow_text("default")) != listed.end() ? workflow_text("default") : listed.front();
  std::vector<TemplateValue> values{
      {"title", workflow_text(fmt::format("Build {} wheels for {}", spec.name, system.title))},
      {"default_profile", by_hand},
      {"profiles", "[" + join(listed, ", ") + "]"},
      {"profile_cases", join(cases, "|")},
      {"sagekit", workflow_text(sagekit.wheel.empty() ? sagekit.requirement : ".github/" + sagekit.wheel)},
      {"plugin", workflow_text(variant.carried_plugin.empty() ? spec.name : ".github/" + plugin_file(spec))},
      {"runner", workflow_text(options.runner.empty() ? tools.linux_runner : options.runner)},
      {"windows_runner", workflow_text(tools.windows_runner)},
      {"key", target_name(spec.name)},
      {"toolkits", toolkit_table()},
      {"plan_words", plan_words},
      {"build_words", " " + shell_line(build_words)},
      {"cross_compiler", cross_compiler_step(request.platforms)},
  };
  for (const auto& value : event_values(profiles, tags)) values.push_back(value);
  for (const auto& [name, uses] : tools.actions) values.push_back({name, uses});
  return values;
}

/// In a `run:` block a GitHub expression would be put into the script as text: there is no way to write it down.
Status no_expressions(const PlannedVariant& variant, const GenerateOptions& options) {
  auto words = request_words(variant.request);
  words.insert(words.end(), {variant.request.arches, options.source});
  for (const auto& profile : variant.spec->profiles) words.push_back(profile.name);
  for (const auto& word : words) {
    TRY(check_word("the word", word));
    if (word.find("${{") != std::string::npos)
      return fail(ErrorKind::usage, "GEN003",
                  fmt::format("{} cannot stand in a workflow: GitHub evaluates ${{{{ in every line", yaml_text(word)),
                  "give it another name");
  }
  return {};
}

/// GitHub's patterns of tags: of those that match the last one decides, and some must choose.
Status check_tags(const std::vector<std::string>& patterns) {
  bool chooses = patterns.empty();
  for (const auto& pattern : patterns) {
    chooses |= !pattern.starts_with('!');
    const bool right =
        pattern.size() > (pattern.starts_with('!') ? 1 : 0) && std::ranges::all_of(pattern, [](char c) {
          return is_letter_or_digit(c) || std::string_view("._-/*?+[]!").find(c) != std::string_view::npos;
        });
    if (!right)
      return fail(ErrorKind::usage, "GEN003", fmt::format("--tag {} is no pattern of tags", yaml_text(pattern)),
                  "for example --tag 'v*' --tag '!v*-*'");
  }
  if (chooses) return {};
  return fail(ErrorKind::usage, "GEN003", "--tag only takes tags away, and none is left",
              "a pattern without ! before it: --tag 'v*' --tag '!v*-*'");
}

/// Of all profiles, for an event may choose any.
void note_cross_builds(const PlannedVariant& variant, std::vector<std::string>& notes) {
  if (std::ranges::none_of(variant.request.platforms,
                           [](const std::string& platform) { return cross_platform(platform) != nullptr; }))
    return;
  std::vector<Plan> plans;
  std::vector<const Cell*> cells;
  for (const auto& profile : profiles_for(*variant.spec).all) {
    auto request = variant.request;
    request.profile = profile;
    if (auto plan = make_plan(*variant.spec, request, Environment{})) plans.push_back(std::move(*plan));
  }
  for (const auto& plan : plans)
    for (const auto& cell : plan.cells) cells.push_back(&cell);
  note_cross_runtime(cells, notes);
}

}  // namespace

Result<Generated> generate_github(const std::vector<PlannedVariant>& variants, const GenerateOptions& options) {
  const auto& variant = variants.front();
  Generated made;
  // A list would be written as the one label that it is, and the job would wait for such a machine.
  if (options.runner.find_first_of("[],") != std::string::npos)
    return fail(ErrorKind::usage, "GEN003",
                fmt::format("--runner {} is a list, and one label is taken", yaml_text(options.runner)),
                "the label that only that machine has");
  TRY(check_tags(options.tags));
  TRY(no_expressions(variant, options));
  if (target_name(variant.spec->name) != variant.spec->name)
    return fail(ErrorKind::usage, "GEN003",
                fmt::format("the plugin's name {} is none for a workflow's file", yaml_text(variant.spec->name)));
  TRY_ASSIGN(const auto sagekit, sagekit_source(options));
  if (!sagekit.wheel.empty()) made.carried.push_back({".github/" + sagekit.wheel, options.sagekit});
  if (!variant.carried_plugin.empty())
    made.carried.push_back({".github/" + plugin_file(*variant.spec), variant.carried_plugin});
  if (const auto overrides = overrides_toml(variant.request); !overrides.empty())
    made.files.push_back({overrides_file(*variant.spec), overrides, false});
  Status nothing;
  bool written = false;
  for (const auto& system :
       {System{"linux", "Linux", k_generate_linux_yml}, System{"windows", "Windows", k_generate_windows_yml}}) {
    auto own = variant;
    own.request.platforms = platforms_for(variant, system);
    if (own.request.platforms.empty()) {
      made.notes.push_back(fmt::format("no workflow for {}: the selected platforms are {}", system.title,
                                       join(variant.request.platforms, ", ")));
      continue;
    }
    const auto profiles = profiles_with_cells(own);
    if (!profiles) {
      if (profiles.error().kind != ErrorKind::no_match) return std::unexpected(profiles.error());
      made.notes.push_back(fmt::format("no workflow for {}: no profile has a cell for {}", system.title,
                                       join(own.request.platforms, ", ")));
      if (nothing) nothing = std::unexpected(profiles.error());
      continue;
    }
    note_events_without_cells(*variant.spec, system, *profiles, made.notes);
    note_cross_builds(own, made.notes);
    if (system.name == "windows") {
      // MSVC and upstream's setup.py, told by one script; a Linux job names and judges what came out.
      TRY_ASSIGN(const auto recipe, setup_py_recipe(own, profiles_for(*variant.spec).all));
      made.files.push_back({fmt::format(".github/sagekit-{}/build_wheel.py", variant.spec->name),
                            fill_template(k_generate_build_wheel_py, {{"recipe", yaml_text(recipe)}}), false});
    }
    made.files.push_back({fmt::format(".github/workflows/build-wheels-{}-{}.yml", variant.spec->name, system.name),
                          fill_template(system.text, template_values(own, options, sagekit, system, *profiles)),
                          false});
    written = true;
  }
  if (!written) return std::unexpected(nothing.error());
  return made;
}

}  // namespace sagekit
