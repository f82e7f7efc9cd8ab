#include "output_file.hpp"
#include "releasing.hpp"
#include "render/text.hpp"
#include "session.hpp"
#include "verb.hpp"

#include <sagekit/release_report.hpp>

#include <fmt/format.h>

namespace sagekit::host {

namespace {

namespace fs = std::filesystem;

struct ReportArguments {
  std::string given, output, timeline;
};

void declare(Flags& flags, ReportArguments& arguments) {
  flags.argument("dir", arguments.given,
                 "A folder of wheels, which are judged, or a sagekit.release.json, whose word is taken");
  flags.value("-o,--output", "FILE", arguments.output,
              "The page, - is stdout; without it report.html beside the wheels or the manifest");
  flags.value("--timeline", "FILE", arguments.timeline,
              "What build --timeline wrote: the page shows how the build went");
  flags.reads("SAGEKIT_STORE", "Where facts of wheels and fetched torches are");
}

int run(Session& session, const ReportArguments& arguments) {
  auto given = read_given_release(session, arguments.given);
  if (!given) return report(session, given.error());
  if (!given->scan.refused.empty()) {
    session.console.say("no report was written");
    return 1;
  }
  if (!given->folder.empty())
    if (const auto judged = judge_given(session, *given); !judged) return report(session, judged.error());
  const fs::path beside = given->folder.empty() ? fs::path(arguments.given).parent_path() : given->folder;
  const fs::path output = arguments.output.empty() ? beside / "report.html" : fs::path(arguments.output);
  if (const auto free = check_output(output, OutputKind::page, {arguments.given, arguments.timeline}); !free)
    return report(session, free.error());
  std::vector<TimelineSpan> timeline;
  if (!arguments.timeline.empty()) {
    const auto text = file_text(arguments.timeline);
    if (!text)
      return report(session, read_error(arguments.timeline, "FIL001", "sagekit build --timeline FILE writes one"));
    auto read = read_timeline(*text, arguments.timeline);
    if (!read) return report(session, read.error());
    timeline = std::move(*read);
  }
  const auto page = report_html(given->scan.release, timeline);
  if (output == "-") {
    if (session.global.json)
      return report(
          session, {ErrorKind::usage, "CLI001", "-o - and --json both want stdout", "", "name a file: -o report.html"});
    return session.console.document(page), 0;
  }
  if (const auto written = write_output(output, OutputKind::page, page); !written)
    return report(session, written.error());
  if (session.global.json)
    session.console.document(release_json(given->scan.release));
  else
    session.console.result(output.string() + "\n");
  session.console.say(
      fmt::format("{}, {}", counted(given->scan.release.wheels.size(), "wheel", "wheels"), human_bytes(page.size())));
  return 0;
}

}  // namespace

std::vector<Verb> report_verbs() {
  return {make_verb<ReportArguments>(
      {.name = "report",
       .what = "One HTML page for a release: wheels against GPUs with reasons, filters, install lines",
       .examples = {"sagekit report dist", "sagekit report dist --timeline build.json",
                    "sagekit report sagekit.release.json -o public/index.html"},
       .exits = {{0, "the page is written, whatever the wheels' verdicts"},
                 {1, "a wheel is damaged, contradicts itself or shares its name"},
                 {4, "there is no wheel"}}},
      declare, run)};
}

}  // namespace sagekit::host
