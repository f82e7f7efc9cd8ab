#include "causes/first_cause.hpp"
#include "causes/in_words.hpp"
#include "causes/log_text.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/try.hpp"

#include <fstream>
#include <optional>
#include <utility>

namespace sagekit {

namespace {

constexpr std::size_t k_piece = 1 << 20;

std::string_view ending_word(LogEnding ending) {
  return ending == LogEnding::well ? "well" : ending == LogEnding::failed ? "failed" : "unknown";
}

/// What people give in place of a log: nothing can be told from it, and another verb reads it.
std::optional<Error> no_log(std::string_view first, const std::filesystem::path& log) {
  const bool is_zip = first.starts_with("PK\x03\x04");
  if (!is_zip &&
      !first.starts_with("\x7f"
                         "ELF") &&
      !first.starts_with("MZ\x90"))
    return std::nullopt;
  return Error{ErrorKind::usage, "FIL001",
               is_zip ? "this is no log but a zip archive, as wheels are" : "this is no log but a module or a program",
               log.string(),
               is_zip ? "sagekit verify judges a wheel, sagekit inspect says what is in one"
                      : "sagekit inspect says what is in one"};
}

Json place_json(const LogPlace& place) { return {{"line", place.line}, {"text", place.text}}; }

Json consequences_json(const std::vector<CauseConsequence>& consequences) {
  Json list = Json::array();
  for (const auto& one : consequences)
    list.push_back({{"code", one.code}, {"title", one.title}, {"where", place_json(one.where)}});
  return list;
}

}  // namespace

Result<Explanation> explain_log(const ReadLog& read, const LogFacts& here) {
  LogDecoder decoder;
  LogScan scan(cause_patterns());
  std::string bytes(k_piece, '\0'), text;
  while (true) {
    TRY_ASSIGN(const auto size, read(bytes.data(), bytes.size()));
    if (size == 0) break;
    // Packed bytes become many: in small pieces, so that memory does not grow with them.
    constexpr std::size_t k_fed = 16 << 10;
    for (std::size_t at = 0; at < size; at += k_fed) {
      decoder.feed(std::string_view(bytes).substr(at, std::min(k_fed, size - at)), text);
      if (text.size() < k_piece / 4 && at + k_fed < size) continue;
      scan.add(text);
      text.clear();
    }
  }
  decoder.finish(text);
  scan.add(text);
  scan.finish();
  return first_cause(scan, here);
}

Explanation explain_log_text(std::string_view log, const LogFacts& here) {
  const auto read = [&](char* room, std::size_t size) -> Result<std::size_t> {
    const auto count = log.copy(room, size);
    log.remove_prefix(count);
    return count;
  };
  auto explanation = explain_log(read, here);
  return explanation ? std::move(*explanation) : Explanation();
}

Result<Explanation> explain_log_file(const std::filesystem::path& log, const LogFacts& here) {
  std::ifstream file(log, std::ios::binary);
  if (!file || std::filesystem::is_directory(log)) {
    const bool is_folder = std::filesystem::is_directory(log),
               is_address = log.string().find("://") != std::string::npos;
    std::string why = is_folder ? "it is a folder" : last_os_error();
    auto hint = is_address  ? "a log is not fetched: download it, or pass it on: curl -L URL | sagekit explain -"
                : is_folder ? std::string()
                            : near_files(log);
    if (hint.empty()) hint = "give a file, or - for standard input: echo 'WHAT IT SAID' | sagekit explain -";
    return fail(ErrorKind::usage, "FIL001", "cannot read the log: " + why, std::move(hint), log.string());
  }
  std::string first(4, '\0');
  file.read(first.data(), static_cast<std::streamsize>(first.size()));
  first.resize(static_cast<std::size_t>(file.gcount()));
  if (auto error = no_log(first, log)) return std::unexpected(std::move(*error));
  const auto read = [&](char* room, std::size_t size) -> Result<std::size_t> {
    if (!first.empty()) return std::exchange(first, {}).copy(room, size);  // a pipe is read once
    file.read(room, static_cast<std::streamsize>(size));
    if (file.bad())
      return fail(ErrorKind::usage, "FIL001", "cannot read the log: " + last_os_error(), {}, log.string());
    return static_cast<std::size_t>(file.gcount());
  };
  return explain_log(read, here);
}

Json causes_json(const std::vector<FoundCause>& causes) {
  Json list = Json::array();
  for (const auto& cause : causes) {
    Json fixes = Json::array();
    for (const auto& fix : cause.fix) fixes.push_back({{"command", fix.command}, {"why", fix.why}, {"when", fix.when}});
    list.push_back({{"code", cause.code},
                    {"signatures", cause.signatures},
                    {"title", cause.title},
                    {"stage", cause.stage},
                    {"where", place_json(cause.where)},
                    {"cause", cause.cause},
                    {"is_not", cause.is_not},
                    {"follows_from", consequences_json(cause.follows_from)},
                    {"fix", std::move(fixes)},
                    {"confidence", cause.confidence}});
  }
  return list;
}

std::string explanation_json(const Explanation& explanation) {
  Json json{{"schema", "sagekit.explain/1"}};
  json["causes"] = causes_json(explanation.causes);
  Json& likeliest = json["likeliest"] = Json::array();
  for (const auto& place : explanation.likeliest) likeliest.push_back(place_json(place));
  json["seen"] = consequences_json(explanation.seen);
  json["facts"] = Json(explanation.facts);
  json["ending"] = ending_word(explanation.ending);
  json["lines"] = explanation.lines;
  return json_text(json);
}

}  // namespace sagekit
