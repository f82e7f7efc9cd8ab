#include "release/client_program.hpp"

#include "support/file.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/shell_word.hpp>

#include <algorithm>

namespace sagekit {

namespace {

/// What to do about a refusal: trying again helps only where it was no question of who asks.
std::string_view mend_of(std::string_view program, std::string_view output) {
  constexpr std::string_view k_refusals[] = {"unauthorized", "forbidden", "auth login", "credential", "authentication"};
  const auto said = lower(output);
  if (std::ranges::none_of(k_refusals, [&](auto word) { return said.find(word) != std::string::npos; }))
    return "run the same command again: what is there is not uploaded twice";
  if (program == "gh") return "gh auth login, or GH_TOKEN, of somebody who may write to that repository";
  if (program == "hf") return "hf auth login, or HF_TOKEN, of somebody who may write to that repository";
  return "TWINE_USERNAME and TWINE_PASSWORD, of somebody who may write to that index";
}

}  // namespace

std::string ClientProgram::without_secrets(std::string text) const {
  constexpr std::size_t k_shortest_secret = 4;
  for (const auto& [name, value] : m_options.environment) {
    const bool secret = name.find("TOKEN") != std::string::npos || name.find("PASSWORD") != std::string::npos;
    if (secret && value.size() >= k_shortest_secret) text = replace_all(std::move(text), value, "***");
  }
  return text;
}

Result<CommandResult> ClientProgram::ask(const std::vector<std::string>& argv) {
  Command command;
  command.argv = argv;
  command.environment = m_options.environment;
  auto result = m_runner.run(command, m_options.stop);
  if (!result && result.error().code == "CMD001")
    return fail(ErrorKind::machine, "PUB005", fmt::format("{} cannot be started: {}", argv[0], result.error().message),
                argv[0] == "gh"   ? "apt-get install gh, then gh auth login"
                : argv[0] == "hf" ? "pip install huggingface_hub, then hf auth login"
                                  : "pip install twine");
  return result;
}

std::unexpected<Error> ClientProgram::failed(const std::vector<std::string>& argv, const CommandResult& result) const {
  auto lines = split_words(without_secrets(result.output), "\r\n");
  constexpr std::size_t k_last_lines = 6;
  if (lines.size() > k_last_lines) lines.erase(lines.begin(), lines.end() - k_last_lines);
  return fail(ErrorKind::failed, "PUB006",
              fmt::format("{} failed with exit code {}: {}",
                          join({argv.begin(), argv.begin() + std::min<std::ptrdiff_t>(std::ssize(argv), 3)}, " "),
                          result.exit_code, join(lines, "; ")),
              std::string(mend_of(argv.front(), result.output)));
}

Status ClientProgram::change(const std::vector<std::string>& argv, PublishReport& report) {
  report.commands.push_back(argv);
  if (m_options.say) m_options.say((m_options.dry_run ? "would run: " : "") + shell_line(argv));
  if (m_options.dry_run) return {};
  TRY_ASSIGN(const auto result, ask(argv));
  if (!result.ok()) return failed(argv, result);
  return {};
}

Status check_verdicts(const Release& release) {
  for (const auto& wheel : release.wheels)
    if (wheel.verdict != WheelVerdict::pass)
      return fail(ErrorKind::failed, "PUB002",
                  fmt::format("{} {}", wheel.file,
                              wheel.verdict == WheelVerdict::fail ? "fails its judgement" : "was not judged"),
                  "sagekit verify says why; take it out of the folder, and make the manifest again", wheel.file);
  return {};
}

std::unexpected<Error> other_file_there(const std::string& file, const std::string& where, const std::string& why) {
  return fail(ErrorKind::failed, "PUB004",
              fmt::format("{} is at {} already and is another file: {}; nothing was changed", file, where, why),
              "installers and lock files hold a wheel to its hash: give the new wheel a new version", file);
}

Result<Release> merged(const Release& ours, const Release& theirs) {
  Release all = ours;
  for (const auto& wheel : theirs.wheels) {
    const auto here = std::ranges::find(ours.wheels, wheel.file, &ReleasedWheel::file);
    if (here == ours.wheels.end())
      all.wheels.push_back(wheel);
    else if (here->sha256 != wheel.sha256)
      return other_file_there(wheel.file, "the release",
                              fmt::format("sha256 {} there, {} here", wheel.sha256, here->sha256));
  }
  if (theirs.plugin != ours.plugin || theirs.plugin_sha256 != ours.plugin_sha256) all.plugin_sha256.clear();
  std::ranges::sort(all.wheels, {}, &ReleasedWheel::file);
  return all;
}

Result<std::vector<std::filesystem::path>> write_release_files(const Release& release,
                                                               const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& [name, text] : {std::pair{k_checksums_file, checksums_text(release)},
                                   {k_statement_file, provenance_statement(release)},
                                   {k_manifest_file, release_json(release)}}) {
    files.push_back(folder / name);
    TRY(write_file(files.back(), text));
  }
  return files;
}

std::string publish_json(const std::string& target, bool dry_run, const PublishReport& report) {
  Json json{{"schema", "sagekit.publish/1"}, {"target", target}, {"dry_run", dry_run}};
  json["uploaded"] = report.uploaded;
  json["already_there"] = report.already_there;
  json["commands"] = report.commands;
  json["notes"] = report.notes;
  return json_text(json);
}

}  // namespace sagekit
