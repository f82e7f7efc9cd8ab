#include "arguments.hpp"

#include "arguments_wheels.hpp"

#include <sagekit/nearest.hpp>
#include <sagekit/plugin/abi.h>
#include <sagekit/spec.hpp>
#include <sagekit/version.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>

namespace sagekit::host {

namespace {

void add_globals(CLI::App& app, GlobalArguments& global) {
  app.add_option("--plugin", global.plugins, "Variant to work with: a plugin's name, or a plugin file")
      ->type_name("NAME|FILE")
      ->allow_extra_args(false);
  app.add_option("--plugin-dir", global.plugin_dirs, "Folder of further plugins")
      ->type_name("DIR")
      ->allow_extra_args(false);
  app.add_flag("--json", global.json, "One JSON document on stdout");
  app.add_flag("-q,--quiet", global.quiet, "Only errors");
  app.add_flag("-v,--verbose", global.verbose, "More on what happens; twice for all of it");
  app.add_option("--color", global.color, "auto, always or never")->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_option("-C", global.directory, "Change to this folder first")->type_name("DIR");
}

void add_store(CLI::App& verb, std::string& store) {
  verb.add_option("--store", store, "Folder of finished steps and fetched toolchains")->type_name("DIR");
}

void add_toolchains(CLI::App& verb, ToolchainArguments& tools) {
  const auto list = [&](const char* flag, std::vector<std::string>& values, const char* what, const char* type) {
    verb.add_option(flag, values, what)->type_name(type)->allow_extra_args(false);
  };
  verb.add_option("--toolchain", tools.sources,
                  "Where compilers and torch come from: auto (system, else wheels), system, wheels, redist, folder:DIR")
      ->delimiter(',')
      ->type_name("SOURCE")
      ->allow_extra_args(false);
  list("--python-headers", tools.python_headers, "Headers of a Python that is not installed", "DIR");
  add_store(verb, tools.store);
}

void add_provisioning(CLI::App& verb, ToolchainArguments& tools) {
  add_toolchains(verb, tools);
  verb.add_option("--lock", tools.lock, "File that pins what is fetched")->type_name("FILE")->capture_default_str();
  verb.add_flag("--locked", tools.locked, "Use what the lock pins and nothing else");
  verb.add_flag("--offline", tools.offline, "Fetch nothing");
  verb.add_flag("--full", tools.full, "Download whole wheels and check their own sha256");
  verb.add_option("--index-url", tools.index_url, "Package index instead of the one pip uses")->type_name("URL");
  verb.add_option("--extra-index-url", tools.extra_index_urls, "Another index beside it")
      ->type_name("URL")
      ->allow_extra_args(false);
  verb.add_option("--redist-url", tools.redist_url, "Folder of NVIDIA's archive manifests")->type_name("URL");
  verb.add_option("--cert", tools.ca_bundle, "PEM file of certificates to trust")->type_name("FILE");
}

void add_selection(CLI::App& verb, SelectionArguments& selection) {
  const auto list = [&](const char* flag, std::vector<std::string>& values, const char* what) {
    verb.add_option(flag, values, what)->delimiter(',')->allow_extra_args(false);
  };
  verb.add_option("--profile", selection.profile, "Named selection of cells; without it: default");
  verb.add_option("--cells", selection.cells, "Glob over cell ids, repeatable; !GLOB excludes")
      ->allow_extra_args(false);
  list("--python", selection.pythons, "Only these Pythons: 3.12");
  list("--torch", selection.torches, "Only these torches: 2.11 or 2.11.0");
  list("--cuda", selection.cudas, "Only these CUDAs: 13.0");
  list("--platform", selection.platforms, "linux_x86_64, linux_aarch64, win_amd64");
  verb.add_option("--arch", selection.arches, "Arch list, any usual spelling: \"8.0;9.0+PTX\", sm_90a, native");
  verb.add_option("--revision", selection.revision, "Known source commit or name, instead of the default");
  verb.add_option("--naming", selection.naming, "Naming scheme: default, local-version, build-tag, plain");
  verb.add_option("--backend", selection.backend, "direct, or setup-py for upstream's own build")
      ->check(CLI::IsMember({"direct", "setup-py"}));
  verb.add_option("--allow-defect", selection.allowed_defects, "Build although the source has this known defect")
      ->type_name("ID")
      ->allow_extra_args(false);
  add_provisioning(verb, selection.tools);
}

void collect_words(const CLI::App& app, std::vector<std::string>& words) {
  for (const CLI::Option* option : app.get_options())
    for (const auto& name : option->get_lnames()) words.push_back("--" + name);
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!verb->get_group().empty()) words.push_back(verb->get_name());
}

// CLI11 names the word it does not know; the nearest one that it would have known is ours to add.
std::string nearest(const CLI::App& app, int argc, const char* const* argv) {
  std::vector<std::string> words;
  const CLI::App* at = &app;
  collect_words(app, words);
  for (bool deeper = true; deeper;) {
    deeper = false;
    for (const CLI::App* verb : at->get_subcommands()) collect_words(*verb, words), at = verb, deeper = true;
  }
  for (int i = 1; i < argc; ++i) {
    const std::string word = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
    if (std::ranges::find(words, word) != words.end()) continue;
    if (const auto near = nearest_word(word, words); !near.empty()) return fmt::format("did you mean \"{}\"? ", near);
  }
  return "";
}

}  // namespace

CLI::App* add_verb(CLI::App& parent, const std::string& name, const std::string& what, const std::string& examples) {
  CLI::App* verb = parent.add_subcommand(name, what);
  verb->footer("Examples:\n" + examples);
  return verb;
}

Result<std::uint64_t> parse_size(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string unit(end, text.data() + text.size());
  std::ranges::transform(unit, unit.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (unit.ends_with("ib"))
    unit.resize(unit.size() - 2);
  else if (unit.ends_with("b"))
    unit.resize(unit.size() - 1);
  constexpr std::string_view units = "kmgt";
  const std::size_t power = unit.empty() ? 0 : units.find(unit[0]) + 1;
  if (error != std::errc{} || unit.size() > 1 || (!unit.empty() && power == 0) || !(value > 0) || value > 1e15)
    return fail(ErrorKind::usage, "CLI002", fmt::format("\"{}\" is no size", text),
                "write it as 12G, 512M or in bytes");
  return static_cast<std::uint64_t>(value * std::pow(1024.0, static_cast<double>(power)));
}

Result<Arguments> parse_arguments(int argc, const char* const* argv) {
  Arguments arguments;
  CLI::App app("Turns a pinned source into verified GPU wheels, and says which wheel runs where and why.", "sagekit");
  app.fallthrough();
  app.require_subcommand(0, 1);
  app.set_help_flag("-h,--help", "This help");
  app.footer(
      "Examples:\n  sagekit --plugin sage2 plan --profile current\n  sagekit --plugin sage2 build --arch 9.0 --source "
      "../SageAttention");
  add_globals(app, arguments.global);
  bool version = false;
  app.add_flag("--version", version, "Versions of sagekit, plugin ABI and spec schema");

  CLI::App* plugin = add_verb(app, "plugin", "Loaded and rejected plugins",
                              "  sagekit plugin list\n  sagekit plugin check lib/sagekit/plugins/sagekit-sage2.so");
  plugin->require_subcommand(1);
  CLI::App* list = add_verb(*plugin, "list", "Which plugins are loaded, which were refused and why",
                            "  sagekit plugin list\n  sagekit plugin list --json");
  PluginShowArguments show;
  CLI::App* show_verb =
      add_verb(*plugin, "show", "What a plugin says", "  sagekit plugin show sage2\n  sagekit plugin show sage3");
  show_verb->add_option("name", show.name, "Plugin name")->required();
  PluginCheckArguments check;
  CLI::App* check_verb =
      add_verb(*plugin, "check", "The conformance kit, each test in a process of its own",
               "  sagekit plugin check sagekit-mine.so\n  sagekit plugin check --json sagekit-mine.so");
  check_verb->add_option("file", check.files, "Plugin files")->required();
  PluginCheckOneArguments check_one;
  CLI::App* check_one_verb = plugin->add_subcommand("check-one", "One conformance test in this process")->group("");
  check_one_verb->add_option("file", check_one.file)->required();
  check_one_verb->add_option("test", check_one.test)->required();

  PlanArguments plan;
  CLI::App* plan_verb =
      add_verb(app, "plan", "What would be built: cells, excluded cells with reasons, steps, estimates",
               "  sagekit --plugin sage3 plan --profile sage3-all\n  sagekit --plugin sage2 plan --arch \"9.0;12.0\" "
               "--json --steps");
  add_selection(*plan_verb, plan.selection);
  plan_verb->add_flag("--steps", plan.steps, "List the unique steps too");
  plan_verb->add_flag("--dot", plan.dot, "The step graph for Graphviz, on stdout");

  BuildArguments build;
  std::string memory;
  CLI::App* build_verb = add_verb(
      app, "build", "Plan, build, verify and package into -o DIR",
      "  sagekit --plugin sage2 build --arch 9.0\n"
      "  sagekit --plugin sage3 build --profile current --source ../SageAttention --vendored cutlass=../cutlass");
  add_selection(*build_verb, build.selection);
  build_verb->add_option("-o,--output", build.output, "Folder for the wheels")->capture_default_str();
  build_verb
      ->add_option("--source", build.source, "Source to build from instead of the spec's URL; its content is checked")
      ->type_name("DIR|URL|ARCHIVE");
  build_verb->add_option("--vendored", build.vendored, "A vendored tree given as a folder")
      ->type_name("NAME=DIR")
      ->allow_extra_args(false);
  build_verb->add_option("-j,--jobs", build.jobs, "Steps at a time; without it one a CPU");
  build_verb->add_option("--memory", memory, "Memory budget of all steps together; without it 80 % of the machine")
      ->type_name("SIZE");
  build_verb->add_flag("--keep-going", build.keep_going, "Go on with what does not depend on a failed step");
  build_verb->add_flag("-n,--dry-run", build.dry_run, "Say what would run; fetch and run nothing");
  build_verb->add_flag("--jsonl", build.jsonl, "An event a line on stdout while it runs");
  add_interpreters(*build_verb, build.interpreters);

  WheelVerbs wheel_verbs(app);

  PackageArguments package;
  CLI::App* package_verb =
      add_verb(app, "package", "Make wheels again from a finished build kept in the store",
               "  sagekit package ~/.cache/sagekit/builds/sage2-pytorch211-cu130-python312-1f2e3d4c\n"
               "  sagekit package BUILD --naming build-tag -o release");
  package_verb->add_option("folder", package.folder, "A build folder, or a folder of such")->required();
  package_verb->add_option("-o,--output", package.output, "Folder for the wheels")->capture_default_str();
  package_verb->add_option("--naming", package.naming, "Naming scheme: default, local-version, build-tag, plain");
  add_interpreters(*package_verb, package.interpreters);

  EnvArguments env;
  CLI::App* env_verb = add_verb(app, "env", "What this machine offers: compilers, Pythons, torches, GPUs",
                                "  sagekit env\n  sagekit env --toolchain folder:torch-2.11 --json");
  add_toolchains(*env_verb, env.tools);
  CLI::App* toolchain = add_verb(app, "toolchain", "Compilers and torch sysroots: found here, or fetched",
                                 "  sagekit toolchain list\n  sagekit toolchain fetch --cuda 13.0 --torch 2.11.0");
  toolchain->require_subcommand(1);
  CLI::App* toolchain_list =
      add_verb(*toolchain, "list", "What is there", "  sagekit toolchain list\n  sagekit toolchain list --json");
  add_toolchains(*toolchain_list, env.tools);
  ToolchainFetchArguments fetch;
  CLI::App* fetch_verb =
      add_verb(*toolchain, "fetch", "Bring an nvcc, or a torch's headers and link stubs",
               "  sagekit toolchain fetch --cuda 13.0 --torch 2.11.0\n"
               "  sagekit toolchain fetch --cuda 13.0 --torch 2.11.0 --platform linux_aarch64 --locked");
  fetch_verb->add_option("--cuda", fetch.cuda, "CUDA release: 13.0")->required();
  fetch_verb->add_option("--torch", fetch.torches, "torch release, built for that CUDA: 2.11.0; without it nvcc alone")
      ->delimiter(',')
      ->allow_extra_args(false);
  fetch_verb
      ->add_option("--platform", fetch.platforms,
                   "Of the torch: linux_x86_64, linux_aarch64; without it this machine's")
      ->delimiter(',')
      ->allow_extra_args(false);
  fetch_verb->add_flag("--no-nvcc", fetch.no_nvcc, "Only the torch");
  add_provisioning(*fetch_verb, fetch.tools);
  ToolchainRemoveArguments remove;
  CLI::App* remove_verb = add_verb(*toolchain, "remove", "Remove fetched ones",
                                   "  sagekit toolchain remove nvcc-13.0.88-linux_x86_64-1f2e3d4c5b6a\n"
                                   "  sagekit toolchain remove --all");
  remove_verb->add_option("id", remove.ids, "Folder names, as toolchain list shows them");
  remove_verb->add_flag("--all", remove.all, "All of them");
  add_store(*remove_verb, remove.store);
  ToolchainVerifyArguments verify_trees;
  CLI::App* verify_trees_verb = add_verb(*toolchain, "verify", "Every file of fetched ones against its hash",
                                         "  sagekit toolchain verify\n  sagekit toolchain verify --json");
  verify_trees_verb->add_option("id", verify_trees.ids, "Folder names; without one all");
  add_store(*verify_trees_verb, verify_trees.store);

  DoctorArguments doctor;
  CLI::App* doctor_verb = add_verb(app, "doctor", "What this machine lacks for a cell, and the command that mends it",
                                   "  sagekit --plugin sage2 doctor\n  sagekit --plugin sage2 doctor --python 3.13");
  add_selection(*doctor_verb, doctor.selection);

  SchemaArguments schema;
  CLI::App* schema_verb = add_verb(app, "schema", "JSON Schema of a file format",
                                   "  sagekit schema plugin\n  sagekit schema plugin > plugin.schema.json");
  schema_verb->add_option("name", schema.name, "plugin")->required()->check(CLI::IsMember({"plugin"}));

  for (CLI::App* verb :
       {plugin, list, show_verb, check_verb, check_one_verb, plan_verb, build_verb, package_verb, env_verb, toolchain,
        toolchain_list, fetch_verb, remove_verb, verify_trees_verb, doctor_verb, schema_verb})
    verb->fallthrough();
  for (CLI::App* verb : wheel_verbs.verbs()) verb->fallthrough();

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const CLI::App* at = &app;
    while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
    arguments.text = at->help("sagekit");
    return arguments;
  } catch (const CLI::ParseError& error) {
    return fail(ErrorKind::usage, "CLI001", error.what(), nearest(app, argc, argv) + "see sagekit --help");
  }
  if (version) {
    arguments.text = fmt::format("sagekit {} (plugin ABI {}, spec schema {})\n", sagekit::version(), SAGEKIT_PLUGIN_ABI,
                                 spec_schema);
    return arguments;
  }
  if (!memory.empty()) {
    auto bytes = parse_size(memory);
    if (!bytes) return std::unexpected(bytes.error());
    build.memory_bytes = *bytes;
  }
  const auto taken = wheel_verbs.take(arguments.verb);
  if (!taken) return std::unexpected(taken.error());
  if (*taken) return arguments;
  if (*list)
    arguments.verb = PluginListArguments{};
  else if (*show_verb)
    arguments.verb = show;
  else if (*check_verb)
    arguments.verb = check;
  else if (*check_one_verb)
    arguments.verb = check_one;
  else if (*plan_verb)
    arguments.verb = plan;
  else if (*build_verb)
    arguments.verb = build;
  else if (*package_verb)
    arguments.verb = package;
  else if (*schema_verb)
    arguments.verb = schema;
  else if (*fetch_verb)
    arguments.verb = fetch;
  else if (*remove_verb)
    arguments.verb = remove;
  else if (*verify_trees_verb)
    arguments.verb = verify_trees;
  else if (*doctor_verb)
    arguments.verb = doctor;
  else if (*env_verb || *toolchain_list) {
    env.only_toolchains = static_cast<bool>(*toolchain_list);
    arguments.verb = env;
  } else {
    arguments.text = app.help("sagekit");
  }
  return arguments;
}

}  // namespace sagekit::host
