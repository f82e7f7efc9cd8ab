#include "render/companion_text.hpp"
#include "render/inspect_text.hpp"
#include "render/text.hpp"
#include "session.hpp"
#include "standard_input.hpp"
#include "verb.hpp"

#include <sagekit/inspect.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace sagekit::host {

namespace {

struct InspectArguments {
  std::vector<std::string> files;
  bool kernels = false, resources = false, hashes = false, quick = false;
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;
};

void declare(Flags& flags, InspectArguments& arguments) {
  flags.arguments("file", arguments.files, "Wheels, modules, cubins, fatbins; folders of them; - is stdin").required =
      true;
  flags.on("--kernels", arguments.kernels, "Read the kernels' names too");
  flags.on("--resources", arguments.resources, "And what each needs: registers, shared, local, stack memory");
  flags.on("--quick", arguments.quick,
           "Of a module, read the known sections only: no SHA-256, no search for GPU code elsewhere");
  flags.on("--hashes", arguments.hashes, "Hash every file of a wheel and compare with its RECORD, as verify does");
  flags.memory("--memory", arguments.memory_bytes, "Memory for what is inflated at a time; without it 2G");
}

/// What the plugin that made a wheel says is needed beside it; nothing of a plugin that is not here.
std::string companions_text(const Session& session, const FileFacts& file) {
  std::string text;
  if (!file.wheel || file.wheel->plugin.empty()) return text;
  const auto loaded = session.plugins();
  if (!loaded) return text;
  for (const auto& plugin : loaded->plugins)
    if (plugin.name() == file.wheel->plugin)
      for (const auto& companion : plugin.spec().companions) text += companion_text(session.console, companion);
  return text;
}

void show_file(const Session& session, const FileFacts& file, const InspectOptions& options) {
  const Console& console = session.console;
  console.result(inspect_text(console, file, options, terminal_width()) + companions_text(session, file));
  const auto show = [&](const Diagnostics& problems) {
    for (const auto& problem : problems)
      if (!console.quiet() || problem.severity == Severity::error) console.show(problem);
  };
  if (file.wheel) show(file.wheel->problems);
  if (file.wheel) show(file.wheel->unchecked);
  for (const auto& member : file.members) show(member.problems);
}

Result<FileFacts> inspect_standard_input(InspectOptions options) {
  auto taken = take_standard_input("inspect");
  if (!taken) return std::unexpected(taken.error());
  options.wheel_name = name_of(taken->path());
  auto facts = inspect_file(taken->path(), options);
  const auto as_given = [&](std::string& text) {
    const auto name = taken->path().string();
    if (const auto at = text.find(name); at != std::string::npos) text.replace(at, name.size(), "stdin");
  };
  if (facts) {
    facts->path = "-";
  } else {
    as_given(facts.error().message);
    as_given(facts.error().where);
  }
  return facts;
}

/// What the given paths stand for. A folder without any such file is refused by who reads it.
std::vector<std::filesystem::path> files_of(const std::vector<std::string>& given) {
  std::vector<std::filesystem::path> all;
  for (const std::filesystem::path path : given) {
    std::error_code error;
    const auto files = std::filesystem::is_directory(path, error)
                           ? files_in(path, {".whl", ".so", ".pyd", ".dll", ".cubin", ".fatbin"})
                           : std::vector<std::filesystem::path>{};
    if (files.empty())
      all.push_back(path);
    else
      all.insert(all.end(), files.begin(), files.end());
  }
  return all;
}

int run(Session& session, const InspectArguments& arguments) {
  InspectOptions options{.kernels = arguments.kernels || arguments.resources, .resources = arguments.resources};
  options.member_hashes = arguments.hashes;
  options.file_hash = arguments.hashes || session.global.json;  // the table does not show it
  options.whole_file = options.symbols = !arguments.quick;
  options.memory_bytes = arguments.memory_bytes;
  std::vector<FileFacts> files;
  std::vector<Error> errors;
  int code = 0;
  for (const auto& path : files_of(arguments.files)) {
    std::error_code error;
    auto facts = path == "-" ? inspect_standard_input(options) : inspect_file(path, options);
    if (facts) {
      files.push_back(std::move(*facts));
      continue;
    }
    if (std::filesystem::is_directory(path, error))
      facts.error().hint =
          "it holds no wheel, module, cubin or fatbin; \"sagekit verify --installed NAME --interpreter PYTHON\" judges "
          "an installed package, \"sagekit verify DIR\" an unpacked one with its .dist-info folder";
    code = std::max(code, report(session, errors.emplace_back(std::move(facts).error())));
  }
  if (session.global.json)
    session.console.document(inspect_json(files, options, errors));
  else
    for (const auto& file : files) show_file(session, file, options);
  return code;
}

}  // namespace

std::vector<Verb> inspect_verbs() {
  return {make_verb<InspectArguments>(
      {.name = "inspect",
       .what = "What is in a wheel, .so, .pyd, .dll, cubin or fatbin",
       .examples = {"sagekit inspect dist/*.whl", "sagekit inspect --kernels --json _fused.so"},
       .exits = {{0, "every file was read"}, {1, "a file that is readable is none of these"}}},
      declare, run)};
}

}  // namespace sagekit::host
