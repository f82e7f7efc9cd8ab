#include "interrupt.hpp"
#include "naming_rows.hpp"
#include "output_file.hpp"
#include "output_lock.hpp"
#include "releasing.hpp"
#include "render/text.hpp"
#include "session.hpp"
#include "verb.hpp"

#include <sagekit/nearest.hpp>
#include <sagekit/publish.hpp>
#include <sagekit/retag.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace sagekit::host {

namespace {

namespace fs = std::filesystem;

struct ReleaseArguments {
  std::string folder, output, naming, base_url, time;
};

void declare(Flags& flags, ReleaseArguments& arguments) {
  flags.argument("dir", arguments.folder, "A folder of wheels of one project, from as many machines as built them");
  flags.value("--naming", "SCHEME", arguments.naming,
              "Name the wheels by this scheme, as retag does, in the folder -o");
  flags.value("-o,--output", "DIR", arguments.output,
              "With --naming: folder for the named wheels and the rest of the release; those that are there stay");
  flags.value("--base-url", "URL", arguments.base_url,
              "Each wheel will be below this address: it gets into the manifest");
  flags.value("--time", "TIME", arguments.time,
              "When the wheels are published, 2026-11-22T08:00:00Z: wheels that the manifest does not have yet get it");
  flags.reads("SAGEKIT_STORE", "Where facts of wheels and fetched torches are");
}

/// "2026-11-22T08:00:00Z" as indexes write it (PEP 700).
Result<std::string> upload_time(const std::string& text) {
  if (text.empty()) return text;
  if (!is_upload_time(text) || text.find('.') != std::string::npos)
    return fail(ErrorKind::usage, "CLI002", fmt::format("--time: \"{}\" is no time in UTC", text),
                "write it as 2026-11-22T08:00:00Z");
  return text.substr(0, text.size() - 1) + ".000000Z";
}

void fill_in(Release& release, const std::string& base, const std::string& time) {
  for (auto& wheel : release.wheels) {
    if (wheel.uploaded.empty()) wheel.uploaded = time;
    if (base.empty()) continue;
    wheel.url = base;
    for (const unsigned char c : wheel.file)
      wheel.url += c == '+' ? std::string("%2B") : std::string(1, static_cast<char>(c));
  }
}

/// A wheel that has the name already.
Status copy_wheel(const fs::path& from, const fs::path& to) {
  const auto bytes = file_text(from).value_or("");
  std::error_code error;
  if (!fs::exists(to, error)) return write_whole(to, bytes);
  if (file_text(to) == bytes) return {};
  return fail(ErrorKind::failed, "PKG001", fmt::format("{} is there and is another file", to.string()),
              "move it away, or name another folder with -o", to.string());
}

/// Each wheel under its name by the scheme, in the output folder. What went wrong was said: the exit code.
int name_wheels(const Session& session, const ReleaseArguments& arguments, const Scan& scan,
                const std::stop_token& stop) {
  const auto scheme = known_schemes(session, arguments.naming);
  if (!scheme) return report(session, scheme.error());
  const auto loaded = session.plugins();
  if (!loaded) return report(session, loaded.error());
  RetagRequest request;
  request.naming = scheme->front();
  RetagOptions options;
  options.output_folder = arguments.output;
  options.stop = stop;
  for (const auto& plugin : loaded->plugins) options.plugins.push_back(&plugin);
  options.verify.torches = session.fetched_torches();
  options.verify.fetch_flags = session.store_words("");
  options.verify.child_environment = session.settings.child_environment;
  options.verify.schemes = own_schemes(session, loaded->plugins);
  std::error_code error;
  fs::create_directories(arguments.output, error);
  int code = 0;
  std::vector<fs::path> wheels;
  for (const auto& wheel : scan.release.wheels) wheels.push_back(fs::path(arguments.folder) / wheel.path);
  for (const auto& together : check_names_apart(wheels, request, options, true, *session.runner))
    code = std::max(code, report(session, together));
  if (code != 0) return code;
  for (const auto& wheel : scan.release.wheels) {
    const auto path = fs::path(arguments.folder) / wheel.path;
    const auto named = retag_wheel(path, request, options, *session.runner);
    if (named) continue;
    if (named.error().kind == ErrorKind::interrupted) return report(session, named.error());
    Status done = std::unexpected(named.error());
    if (named.error().code == "RTG001") done = copy_wheel(path, options.output_folder / wheel.file);
    if (!done) code = std::max(code, report(session, done.error()));
  }
  return code;
}

int run(Session& session, const ReleaseArguments& arguments) {
  const std::stop_token stop = stop_on_signals();
  const auto time = upload_time(arguments.time);
  if (!time) return report(session, time.error());
  const auto base = arguments.base_url.empty() ? Result<std::string>("") : base_address(arguments.base_url);
  if (!base) return report(session, base.error());
  std::error_code error;
  if (!fs::is_directory(arguments.folder, error)) {
    const auto near = fs::exists(arguments.folder, error) ? std::string() : near_files(arguments.folder);
    return report(session, {ErrorKind::usage, "FIL001", fmt::format("{} is no folder", arguments.folder), "",
                            near.empty() ? "name the folder that has the wheels" : near});
  }
  if (arguments.naming.empty() != arguments.output.empty())
    return report(session, {ErrorKind::usage, "CLI001", "--naming and -o belong together", "",
                            "--naming build-tag -o release: the named wheels are new files"});
  const fs::path folder = arguments.output.empty() ? arguments.folder : arguments.output;
  auto lock = OutputLock::acquire(folder, session.console, stop);
  if (!lock && arguments.output.empty() && lock.error().code == "FIL002")
    lock.error().hint = "let this user write there, or name another folder with --naming SCHEME -o DIR";
  if (!lock) return report(session, lock.error());
  if (!arguments.naming.empty()) {
    const auto unnamed = read_given_release(session, arguments.folder, {.skip = {folder}, .stop = stop});
    if (!unnamed) return report(session, unnamed.error());
    const int code = unnamed->scan.refused.empty() ? name_wheels(session, arguments, unnamed->scan, stop) : 1;
    if (code != 0) return session.console.say("no manifest was written"), code;
  }
  auto given = read_given_release(session, folder, {.stop = stop});
  if (!given) return report(session, given.error());
  if (!given->scan.refused.empty()) {
    session.console.say("no manifest was written");
    return 1;
  }
  Release& release = given->scan.release;
  for (const auto& wheel : release.wheels)
    if (wheel.project != release.wheels.front().project)
      return report(session, {ErrorKind::usage, "REL023",
                              fmt::format("a release is one project's, and {} has wheels of {} and {}", folder.string(),
                                          release.wheels.front().project, wheel.project),
                              folder.string(), "put each project's wheels into a folder of its own"});
  fill_in(release, *base, *time);
  // First: verify holds a wheel to the checksums beside it, and those of an earlier release do not have the new wheels.
  const auto checksums = folder / k_checksums_file;
  const auto earlier = file_text(checksums);
  if (const auto written = write_output(checksums, OutputKind::own_name, checksums_text(release)); !written)
    return report(session, written.error());
  if (const auto judged = judge_given(session, *given, stop); !judged) {
    // Without the manifest that belongs to them they would be half a release.
    if (!earlier)
      fs::remove(checksums, error);
    else if (const auto back = write_output(checksums, OutputKind::own_name, *earlier); !back)
      session.console.show(back.error());
    return report(session, judged.error());
  }
  const auto manifest = release_json(release);
  for (const auto& [name, text] : {std::pair{k_statement_file, provenance_statement(release)},
                                   {k_notes_file, release_notes(release)},
                                   {k_manifest_file, manifest}})
    if (const auto written = write_output(folder / name, OutputKind::own_name, text); !written)
      return report(session, written.error());

  const auto failing = std::ranges::count(release.wheels, WheelVerdict::fail, &ReleasedWheel::verdict);
  for (const auto& wheel : release.wheels)
    if (wheel.verdict == WheelVerdict::fail)
      session.console.warn(fmt::format("{} fails its judgement", wheel.file),
                           "sagekit verify says why; publish refuses it");
  if (session.global.json)
    session.console.document(manifest);
  else
    session.console.result((folder / k_manifest_file).string() + "\n");
  session.console.say(fmt::format("{}, {}", counted(release.wheels.size(), "wheel", "wheels"),
                                  failing == 0 ? "none fails" : fmt::format("{} of them fail", failing)));
  return failing == 0 ? 0 : 1;
}

}  // namespace

std::vector<Verb> release_verbs() {
  return {make_verb<ReleaseArguments>(
      {.name = "release",
       .what = "Judge a folder of wheels and write its manifest, SHA256SUMS, notes and provenance statement",
       .examples = {"sagekit release dist", "sagekit release dist --naming build-tag -o release",
                    "sagekit release dist --base-url https://github.com/OWNER/REPO/releases/download/v1.0.0-sage3/"},
       .exits = {{0, "the manifest is written, and every wheel passes"},
                 {1, "a wheel fails (the manifest says so), or must not be published at all (nothing is written)"},
                 {4, "there is no wheel"}}},
      declare, run)};
}

}  // namespace sagekit::host
