#include "interrupt.hpp"
#include "output_lock.hpp"
#include "releasing.hpp"
#include "render/text.hpp"
#include "session.hpp"
#include "verb.hpp"

#include <sagekit/release_index.hpp>

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace sagekit::host {

namespace {

namespace fs = std::filesystem;

struct IndexArguments {
  std::string given, output, base_url;
  std::vector<std::string> per;
  bool variants = false;
  std::string port_text;
  std::optional<std::uint16_t> port;  ///< of --serve
};

Status take_port(const std::string& text, std::optional<std::uint16_t>& port) {
  std::uint16_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (!text.empty() && (error != std::errc{} || end != text.data() + text.size()))
    return fail(ErrorKind::usage, "CLI002", fmt::format("\"{}\" is no port from 0 to 65535", text),
                "write the folder before --serve, or --serve=PORT");
  port = text.empty() ? 8080 : value;
  return {};
}

void declare(Flags& flags, IndexArguments& arguments) {
  flags.argument("dir", arguments.given, "A folder of wheels, or a sagekit.release.json whose wheels have addresses");
  flags.value("-o,--output", "DIR", arguments.output,
              "Folder for the pages; without it `simple` in the wheels' folder");
  flags.value("--base-url", "URL", arguments.base_url,
              "The wheels will be below this address; without it links are relative to the pages");
  Flag& per = flags.list("--per", "WHAT", arguments.per, "An index for each: cuda, torch or both");
  per.commas = true;
  per.choices = {"cuda", "torch"};
  flags.on("--variants", arguments.variants,
           "Experimental: list wheel variants, too, and the file that uv 0.13 and newer choose by (PEP 825, a draft)");
  Flag& serve = flags.value("--serve", "[PORT]", arguments.port_text,
                            "Then serve the folder on 127.0.0.1, on port 8080 unless another is given (0: a free one)");
  serve.bare = true;
  serve.take = [&arguments](const std::string& text) { return take_port(text, arguments.port); };
  flags.reads("SAGEKIT_STORE", "Where facts of wheels that were read before are kept");
}

bool is_below(const fs::path& inner, const fs::path& outer) {
  const auto relative = fs::weakly_canonical(inner).lexically_relative(fs::weakly_canonical(outer));
  return !relative.empty() && relative.begin()->string() != "..";
}

int serve(const Session& session, const fs::path& folder, const IndexOptions& index, const IndexReport& made,
          std::uint16_t port, std::stop_token stop) {
  const auto pages = fs::weakly_canonical(index.output).lexically_relative(fs::weakly_canonical(folder));
  const auto ready = [&](std::uint16_t bound) {
    for (const auto& one : made.folders) {
      const auto path = (pages / one / "").lexically_normal().generic_string();
      const auto url = fmt::format("http://127.0.0.1:{}/{}", bound, path == "./" ? "" : path);
      session.console.say(fmt::format("pip install --index-url {} PACKAGE", url));
      session.console.result(url + "\n");
    }
    session.console.say("Ctrl-C ends it");
  };
  const auto served = serve_folder({folder, port, session.log}, ready, std::move(stop));
  return served ? 0 : report(session, served.error());
}

int run(Session& session, const IndexArguments& arguments) {
  const std::stop_token stop = stop_on_signals();
  std::error_code error;
  const fs::path given = arguments.given;
  const bool folder_given = fs::is_directory(given, error);
  IndexOptions options;
  options.base_url = arguments.base_url;
  options.per = arguments.per;
  options.variants = arguments.variants;
  if (!arguments.output.empty())
    options.output = arguments.output;
  else if (folder_given)
    options.output = given / "simple";
  else
    options.output = given.parent_path() / "simple";
  if (folder_given && arguments.base_url.empty()) options.wheels = given;
  if (arguments.port && (!folder_given || !is_below(options.output, given)))
    return report(session,
                  {ErrorKind::usage, "REL021", "--serve serves the wheels' folder, and the pages are not in it", "",
                   "leave -o out, or name a folder below that of the wheels"});
  // Two at once would write the same files.
  std::optional<OutputLock> lock;
  if (folder_given || fs::is_regular_file(given, error)) {
    auto acquired = OutputLock::acquire(options.output, session.console, stop);
    if (!acquired && folder_given && arguments.output.empty() && acquired.error().code == "FIL002")
      acquired.error().hint = "let this user write there, or copy the wheels: each one's METADATA lies beside it, too";
    if (!acquired) return report(session, acquired.error());
    lock.emplace(std::move(*acquired));
  }
  auto release =
      read_given_release(session, given, {.skip = {options.output}, .with_metadata = folder_given, .stop = stop});
  if (!release) return report(session, release.error());
  auto& scan = release->scan;
  options.metadata = std::move(scan.metadata);
  options.yanked = std::move(release->yanked);
  if (!scan.refused.empty()) {
    if (session.global.json) session.console.document(index_json(options.output, scan, {}));
    session.console.say("no index was written");
    return 1;
  }
  const auto made = write_index(scan.release, options);
  if (!made) return report(session, made.error());
  for (const auto& warning : made->warnings) session.console.warn(warning);
  if (!made->variants.empty())
    session.console.say(
        fmt::format("experimental: wheel variants of PEP 825's draft, format {}; uv takes them under "
                    "--preview-features wheel-variants",
                    k_variants_format));
  if (session.global.json)
    session.console.document(index_json(options.output, scan, *made));
  else if (!arguments.port)
    for (const auto& one : made->folders)
      session.console.result((one.empty() ? options.output : options.output / one).string() + "\n");
  session.console.say(fmt::format("{} of {}, {} read; {} written, {} as they were, {} removed",
                                  counted(made->wheels, "wheel", "wheels"),
                                  counted(made->projects, "project", "projects"), scan.read,
                                  counted(made->written, "page", "pages"), made->unchanged, made->removed));
  lock.reset();
  return arguments.port ? serve(session, given, options, *made, *arguments.port, stop) : 0;
}

}  // namespace

std::vector<Verb> index_verbs() {
  return {make_verb<IndexArguments>(
      {.name = "index",
       .what = "Make a package index that pip and uv install from, and serve it on this machine",
       .examples = {"sagekit index dist --serve",
                    "sagekit index dist --per cuda,torch --base-url https://example.org/wheels/",
                    "sagekit index dist --variants --serve", "sagekit index sagekit.release.json -o site/simple"},
       .exits = {{0, "the pages are written"},
                 {1, "a wheel is damaged or contradicts itself, or two have one name: nothing was written"},
                 {3, "the disk is full"},
                 {4, "there is no wheel"}}},
      declare, run)};
}

}  // namespace sagekit::host
