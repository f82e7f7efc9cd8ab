#include "interrupt.hpp"
#include "output_file.hpp"
#include "releasing.hpp"
#include "render/text.hpp"
#include "session.hpp"
#include "verb.hpp"

#include <sagekit/index.hpp>
#include <sagekit/publish.hpp>
#include <sagekit/shell_word.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace sagekit::host {

namespace {

namespace fs = std::filesystem;

struct PublishArguments {
  std::string folder, repository, tag, path, upload_url, index_url;
  bool dry_run = false, draft = false;
};

void declare_folder(Flags& flags, PublishArguments& arguments) {
  flags.argument("dir", arguments.folder, "A folder that sagekit release was run on");
  flags.on("-n,--dry-run", arguments.dry_run,
           "Run nothing, ask nobody: show every command and the notes, as for a first time");
}

void declare_github(Flags& flags, PublishArguments& arguments) {
  declare_folder(flags, arguments);
  flags.value("--repo", "[HOST/]OWNER/NAME", arguments.repository, "Where the release is").required = true;
  flags.value("--tag", "TAG", arguments.tag, "v and the version, with -PLUGIN behind it or without: v1.0.0-sage3")
      .required = true;
  flags.on("--draft", arguments.draft, "A release that is made new is a draft");
  flags.reads("GH_TOKEN", "And what else gh listens to");
}

void declare_huggingface(Flags& flags, PublishArguments& arguments) {
  declare_folder(flags, arguments);
  flags.value("--repo", "OWNER/NAME", arguments.repository, "Where the wheels go").required = true;
  flags.value("--path", "FOLDER", arguments.path, "Folder in it; without it its top");
  flags.reads("HF_TOKEN", "And what else hf listens to");
}

void declare_index(Flags& flags, PublishArguments& arguments) {
  declare_folder(flags, arguments);
  flags.value("--repository-url", "URL", arguments.upload_url, "The index's upload address").required = true;
  flags.value("--index-url", "URL", arguments.index_url,
              "Its pages: what is there is left alone, or refused when it is another file");
  flags.reads("TWINE_USERNAME", "And TWINE_PASSWORD, and what else twine listens to");
}

/// The manifest's word for the wheels of the folder, which must be just those.
Result<Release> release_in(const Session& session, const fs::path& folder) {
  auto given = read_given_release(session, folder);
  if (!given) return std::unexpected(given.error());
  const auto stale = [&](const std::string& why) {
    return fail(ErrorKind::usage, "PUB001", fmt::format("{}: {}", (folder / k_manifest_file).string(), why),
                fmt::format("sagekit release {}", shell_word(folder.string())));
  };
  if (given->folder.empty())
    return fail(
        ErrorKind::usage, "PUB001", fmt::format("{} is a file: the wheels are wanted, too", folder.string()),
        fmt::format("the folder that has both: {}", folder.has_parent_path() ? folder.parent_path().string() : "."));
  if (!given->scan.refused.empty()) {
    auto error = stale("a wheel of the folder must not be published").error();
    error.hint = "mend what is said of it above, then " + error.hint;
    return std::unexpected(std::move(error));
  }
  const auto text = file_text(folder / k_manifest_file);
  if (!text) return stale("there is none");
  auto release = read_release(*text, k_manifest_file);
  if (!release) return release;
  for (auto& wheel : release->wheels) {
    const auto here = std::ranges::find(given->scan.release.wheels, wheel.file, &ReleasedWheel::file);
    if (here == given->scan.release.wheels.end())
      return stale(fmt::format("it lists {}, which is not here", wheel.file));
    wheel.path = here->path;
  }
  if (release->wheels.size() != given->scan.release.wheels.size())
    return stale("it does not list every wheel that is here");
  return release;
}

PublishOptions publish_options(const Session& session, const PublishArguments& arguments) {
  PublishOptions options{.folder = arguments.folder, .dry_run = arguments.dry_run};
  options.environment = session.settings.publish_environment;
  options.say = [&session](const std::string& text) { session.console.say(text); };
  options.stop = stop_on_signals();
  return options;
}

int finish(const Session& session, const PublishArguments& arguments, const std::string& target,
           const Result<PublishReport>& made) {
  if (!made) return report(session, made.error());
  if (session.global.json)
    session.console.document(publish_json(target, arguments.dry_run, *made));
  else if (arguments.dry_run)
    session.console.result(made->notes);
  session.console.say(fmt::format("{} {}, {} there already", counted(made->uploaded.size(), "wheel", "wheels"),
                                  arguments.dry_run ? "would be uploaded" : "uploaded", made->already_there.size()));
  return 0;
}

/// "OWNER/NAME", with a host before it where `host`.
Status check_repository(const std::string& word, bool host) {
  const auto slashes = std::ranges::count(word, '/');
  const bool parts = !word.starts_with('/') && !word.ends_with('/') && word.find("//") == std::string::npos;
  if (parts && (slashes == 1 || (host && slashes == 2))) return {};
  return fail(ErrorKind::usage, "CLI001", fmt::format("--repo {} is no repository", printable_url(word)),
              host ? "--repo OWNER/NAME, or HOST/OWNER/NAME" : "--repo OWNER/NAME");
}

/// A folder of a repository: "wheels/cu130"; slashes around it mean nothing.
Result<std::string> repository_folder(std::string_view word) {
  auto folder = word;
  while (folder.starts_with('/')) folder.remove_prefix(1);
  while (folder.ends_with('/')) folder.remove_suffix(1);
  const auto path = fs::path(folder).lexically_normal();
  if (path.generic_string() == folder && !folder.starts_with("..") && folder != ".") return std::string(folder);
  return fail(ErrorKind::usage, "CLI001", fmt::format("--path {} is no folder of a repository", word),
              "from its top, as its address has it: --path wheels/cu130");
}

int run_github(Session& session, const PublishArguments& arguments) {
  if (const auto right = check_repository(arguments.repository, true); !right) return report(session, right.error());
  const auto release = release_in(session, arguments.folder);
  if (!release) return report(session, release.error());
  const auto plugins = session.plugins();
  if (!plugins) return report(session, plugins.error());
  std::vector<std::string> names;
  for (const auto& plugin : plugins->plugins) names.push_back(plugin.name());
  if (const auto right = check_tag(*release, arguments.tag, names); !right) return report(session, right.error());
  return finish(session, arguments, "github",
                publish_github(*release, {arguments.repository, arguments.tag, arguments.draft},
                               publish_options(session, arguments), *session.runner));
}

int run_huggingface(Session& session, const PublishArguments& arguments) {
  if (const auto right = check_repository(arguments.repository, false); !right) return report(session, right.error());
  const auto folder = repository_folder(arguments.path);
  if (!folder) return report(session, folder.error());
  const auto release = release_in(session, arguments.folder);
  if (!release) return report(session, release.error());
  return finish(session, arguments, "huggingface",
                publish_huggingface(*release, {arguments.repository, *folder}, publish_options(session, arguments),
                                    *session.runner));
}

int run_index(Session& session, const PublishArguments& arguments) {
  const auto release = release_in(session, arguments.folder);
  if (!release) return report(session, release.error());
  IndexTarget target{arguments.upload_url, arguments.index_url, {}};
  target.settings.environment = session.settings.pip_environment;
  target.settings.log = session.log;
  return finish(session, arguments, "index",
                publish_index(*release, target, publish_options(session, arguments), *session.runner));
}

}  // namespace

std::vector<Verb> publish_verbs() {
  const std::vector<Exit> exits = {
      {0, "every wheel is there"},
      {1, "another file of a wheel's name is there (nothing was changed), or the client program failed"},
      {2, "the folder has no manifest of its wheels, or the tag is not one for them"},
      {3, "the client program is not here"}};
  return {make_group({.name = "publish",
                      .what = "Bring a release to GitHub, Hugging Face or a package index",
                      .examples = {"sagekit publish github dist --repo OWNER/NAME --tag v1.0.0-sage3",
                                   "sagekit publish huggingface dist --repo OWNER/NAME --dry-run"}}),
          make_verb<PublishArguments>(
              {.name = "publish github",
               .what = "Create a GitHub release or add to it, with gh",
               .examples = {"sagekit publish github dist --repo OWNER/NAME --tag v1.0.0-sage3 --dry-run",
                            "sagekit publish github dist --repo OWNER/NAME --tag v1.0.0-sage3"},
               .exits = exits},
              declare_github, run_github),
          make_verb<PublishArguments>({.name = "publish huggingface",
                                       .what = "Add to a Hugging Face repository, with hf",
                                       .examples = {"sagekit publish huggingface dist --repo OWNER/NAME --dry-run",
                                                    "sagekit publish huggingface dist --repo OWNER/NAME --path v1.0.0"},
                                       .exits = exits},
                                      declare_huggingface, run_huggingface),
          make_verb<PublishArguments>(
              {.name = "publish index",
               .what = "Upload to a package index of one's own, with twine",
               .examples = {"sagekit publish index dist --repository-url https://example.org/legacy/ --dry-run",
                            "sagekit publish index dist --repository-url https://example.org/legacy/ --index-url "
                            "https://example.org/simple"},
               .exits = exits},
              declare_index, run_index)};
}

}  // namespace sagekit::host
