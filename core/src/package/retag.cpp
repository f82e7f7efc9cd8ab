#include "archive/wheel_archive.hpp"
#include "archive/zip_splice.hpp"
#include "inspect/name_of_file.hpp"
#include "inspect/provenance.hpp"
#include "inspect/wheel_reader.hpp"
#include "package/dist_info_edit.hpp"
#include "package/metadata_text.hpp"
#include "package/place_file.hpp"
#include "package/retag_names.hpp"
#include "package/variant_text.hpp"
#include "pypa/metadata_reader.hpp"
#include "pypa/wheel_paths.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/run_owner.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/retag.hpp>
#include <sagekit/version.hpp>

#include <algorithm>
#include <map>

namespace sagekit {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_dist_info = ".dist-info";

std::unexpected<Error> damaged(const fs::path& wheel, std::string_view why) {
  return fail(ErrorKind::failed, "RTG002", fmt::format("the wheel is not right as it is: {}", why),
              "sagekit verify says all that is wrong with it; a file that was renamed gets its old name back first",
              wheel.string());
}

const Diagnostic* first_error(const Diagnostics& problems) {
  const auto found = std::ranges::find(problems, Severity::error, &Diagnostic::severity);
  return found == problems.end() ? nullptr : &*found;
}

/// The framing and the texts of a wheel against the name it has or will have; no content is inflated for it.
Status judge_texts(const WheelArchive& archive, const std::string& file_name) {
  if (const auto* problem = first_error(archive.problems())) return damaged(archive.path(), problem->message);
  DistInfoTexts texts;
  texts.folders = archive.dist_info_folders();
  if (texts.folders.size() == 1) texts.folder = texts.folders.front();
  const auto text_of = [&](std::string_view name) -> std::optional<std::string> {
    auto text = archive.read(texts.folder + '/' + std::string(name));
    return text ? std::optional(std::move(*text)) : std::nullopt;
  };
  texts.metadata = text_of("METADATA");
  texts.wheel = text_of("WHEEL");
  texts.record = text_of("RECORD");
  std::vector<MemberFacts> members;
  for (const auto& member : archive.members()) {
    if (member.is_folder()) continue;
    auto& facts = members.emplace_back();
    facts.path = member.name;
    facts.size_bytes = member.size;
  }
  WheelFacts facts;
  judge_dist_info(texts, file_name, members, facts);
  if (const auto* problem = first_error(facts.problems)) return damaged(archive.path(), problem->message);
  return {};
}

/// One wheel on its way to another name.
class Retag {
 public:
  Retag(const fs::path& wheel, const WheelArchive& archive, const RetagRequest& request, const RetagOptions& options,
        CommandRunner& runner)
      : m_wheel(wheel), m_archive(archive), m_request(request), m_options(options), m_runner(runner) {}

  Result<RetaggedWheel> run() {
    TRY(check_stop());
    TRY(read());
    TRY(choose_name());
    TRY(note_changes());
    TRY(make_texts());
    return write();
  }

  Result<WheelName> name() {
    TRY(read());
    const auto known = what_is_known();
    TRY_ASSIGN(auto after, retagged_name(m_before, m_request, known));
    TRY(check_new_name(m_before, after, known, m_options.verify.schemes));
    return after;
  }

 private:
  KnownFacts what_is_known() const {
    return known_facts(m_before, m_provenance, m_requirements, m_options.verify.schemes);
  }

  Status check_stop() const {
    if (!m_options.stop.stop_requested()) return {};
    return fail(ErrorKind::interrupted, "BLD006", "stopped; wheels that have their new names keep them",
                "run it again to go on", m_wheel.string());
  }

  Status read() {
    TRY_ASSIGN(m_before, name_of_file(m_wheel));
    TRY(judge_texts(m_archive, m_before.file_name()));
    m_folder = m_archive.dist_info_folders().front();
    for (const auto* signature : {"RECORD.jws", "RECORD.p7s"})
      if (m_archive.find(m_folder + '/' + signature) != nullptr)
        return fail(ErrorKind::failed, "RTG003", fmt::format("the wheel is signed: {} would no longer hold", signature),
                    "retag it before it is signed", m_wheel.string());
    TRY_ASSIGN(m_metadata, m_archive.read(m_folder + "/METADATA"));
    TRY_ASSIGN(m_wheel_text, m_archive.read(m_folder + "/WHEEL"));
    const auto headers = read_headers(m_metadata);
    m_requirements = headers.all("Requires-Dist");
    m_requires_python = headers.one("Requires-Python").value_or("");
    if (const auto* member = m_archive.find(provenance_path())) {
      TRY_ASSIGN(m_provenance, m_archive.read(*member));
    }
    return {};
  }

  Status choose_name() {
    const auto known = what_is_known();
    TRY_ASSIGN(m_after, retagged_name(m_before, m_request, known));
    const bool auto_variant = m_request.variant == "auto";
    FileFacts facts;
    if (m_request.platform == "auto" || m_request.variant)
      facts = read_wheel(m_archive, {.file_hash = false, .member_hashes = false});
    if (m_request.platform == "auto") {
      TRY_ASSIGN(auto tag, platform_of_symbols(facts.members));
      m_after.platform = {std::move(tag)};
    }
    if (m_request.variant) {
      TRY(judge_before());
      TRY_ASSIGN(m_variant, variant_of(*m_report, facts.members, auto_variant ? "" : *m_request.variant));
      m_after.variant = m_variant.label;
    }
    TRY(check_new_name(m_before, m_after, known, m_options.verify.schemes));
    if (m_before.python != m_after.python && !m_requires_python.empty()) TRY(check_python(m_after, m_requires_python));
    TRY_ASSIGN(m_new_requirements, with_requirements(m_requirements, m_request.requirements));
    return {};
  }

  Status note_changes() {
    const auto note = [&](const char* field, const std::string& before, const std::string& after) {
      if (before != after) m_changes.push_back({field, before, after});
    };
    note("version", m_before.version, m_after.version);
    note("build", m_before.build, m_after.build);
    note("python", join(m_before.python, "."), join(m_after.python, "."));
    note("abi", join(m_before.abi, "."), join(m_after.abi, "."));
    note("platform", join(m_before.platform, "."), join(m_after.platform, "."));
    note("requires_dist", join(m_requirements, ", "), join(m_new_requirements, ", "));
    note("variant", m_before.variant, m_after.variant);
    if (!m_changes.empty()) return {};
    return fail(ErrorKind::usage, "RTG001", fmt::format("nothing would change in {}", m_before.file_name()),
                "--build, --local, --platform, --python, --abi, --requires, --naming or --variant", m_wheel.string());
  }

  std::string provenance_path() const { return fmt::format("{}/{}", m_folder, k_provenance_file); }

  /// A member's path under the new name: of the two folders that have the version in their name.
  std::string moved(const std::string& path) const {
    const auto stem = fmt::format("{}-{}", m_after.distribution, m_after.version);
    if (path.starts_with(m_folder + '/')) return stem + std::string(k_dist_info) + path.substr(m_folder.size());
    const auto data = m_folder.substr(0, m_folder.size() - k_dist_info.size()) + ".data/";
    return path.starts_with(data) ? stem + ".data/" + path.substr(data.size()) : path;
  }

  /// What was changed, added to what the wheel says of itself. What it requires is what it requires now.
  std::string new_provenance() const {
    Json json = parse_json(m_provenance);
    if (!json.is_object()) return m_provenance;
    Json changes = Json::object();
    for (const auto& change : m_changes) changes[change.field] = {{"before", change.before}, {"after", change.after}};
    auto& rows = json["retagged"];
    if (!rows.is_array()) rows = Json::array();
    rows.push_back({{"sagekit", SAGEKIT_VERSION}, {"was", m_before.file_name()}, {"changes", std::move(changes)}});
    if (json.contains("requires_dist")) json["requires_dist"] = m_new_requirements;
    return json_text(json);
  }

  Status make_texts() {
    auto metadata = m_metadata;
    if (m_before.version != m_after.version) metadata = with_headers(metadata, "Version", {m_after.version});
    if (m_requirements != m_new_requirements) metadata = with_headers(metadata, "Requires-Dist", m_new_requirements);
    auto wheel = with_headers(m_wheel_text, "Tag", m_after.tags());
    wheel =
        with_headers(wheel, "Build", m_after.build.empty() ? std::vector<std::string>{} : std::vector{m_after.build});
    if (metadata != m_metadata) add_text("METADATA", std::move(metadata));
    if (wheel != m_wheel_text) add_text("WHEEL", std::move(wheel));
    if (!m_provenance.empty()) add_text(std::string(k_provenance_file), new_provenance());
    if (!m_variant.text.empty()) add_text(std::string(k_variant_file), m_variant.text);
    const auto record_path = m_folder + "/RECORD";
    TRY_ASSIGN(const std::string old_record, m_archive.read(record_path));
    TRY_ASSIGN(std::string record, with_members(old_record, [&](const std::string& path) {
                 const auto text = m_texts.find(path);
                 return RecordChange{moved(path), text == m_texts.end() ? nullptr : &text->second};
               }));
    for (const auto& [path, text] : m_texts)  // new members
      if (m_archive.find(path) == nullptr) record = new_row(path, text) + record;
    m_texts[record_path] = std::move(record);
    return {};
  }

  std::string new_row(const std::string& path, const std::string& text) const {
    return record_text(std::vector<RecordRow>{{moved(path), sha256_record(text), fmt::format("{}", text.size())}});
  }

  void add_text(const std::string& name, std::string text) { m_texts[m_folder + '/' + name] = std::move(text); }

  /// Where the members begin of which something changes; 0 when all are written anew.
  std::uint64_t unchanged_front() const {
    if (m_archive.bytes().size() > k_spliced_bytes || m_archive.members().size() > k_spliced_members) return 0;
    std::uint64_t end = m_archive.bytes().size();
    for (const auto& member : m_archive.members())
      if (member.is_folder() || m_texts.contains(member.name) || moved(member.name) != member.name)
        end = std::min(end, member.header_offset);
    return end;
  }

  /// In the old archive's order from `front` on, new members before RECORD; folders have no bytes and are left out.
  std::vector<ZipEntry> entries(std::uint64_t front) const {
    auto members = m_archive.members();
    std::ranges::sort(members, {}, &ZipMember::header_offset);
    std::vector<ZipEntry> entries;
    const auto bytes = m_archive.bytes();
    for (const auto& member : members) {
      if (member.is_folder() || member.header_offset < front) continue;
      if (member.name == m_folder + "/RECORD")
        for (const auto& [path, text] : m_texts)
          if (m_archive.find(path) == nullptr) entries.push_back({moved(path), text, {}});
      const auto text = m_texts.find(member.name);
      if (text != m_texts.end())
        entries.push_back({moved(member.name), text->second, {}});
      else
        entries.push_back(
            {moved(member.name), bytes.substr(member.data_offset, member.compressed_size),
             CopiedMember{member.method, member.size, member.crc32, {member.date, member.time}, member.mode}});
    }
    return entries;
  }

  /// The time of the text that was METADATA, for those that take its place.
  DosTime text_time() const {
    const auto* member = m_archive.find(m_folder + "/METADATA");
    return member == nullptr ? DosTime{} : DosTime{member->date, member->time};
  }

  /// What verify says of the wheel as it is.
  Status judge_before() {
    if (m_report) return {};
    TRY_ASSIGN(m_report, verify_wheel(m_wheel, "", m_options.plugins, m_options.verify, m_runner));
    return {};
  }

  /// All of verify on both: what the new wheel fails by its tags, or alone, is refused.
  Status judge_whole(const fs::path& made) {
    TRY(judge_before());
    TRY_ASSIGN(const auto after,
               verify_wheel(made, m_after.file_name(), m_options.plugins, m_options.verify, m_runner));
    // What another maker's wheel is only warned about is refused in a tag that is given here.
    static const std::vector<std::string> k_about_tags = {"LBC", "PYA", "TAG"};
    static const std::vector<std::string> k_about_names = {"NAM", "INF", "TRU", "VAR"};
    for (const auto& finding : after.findings) {
      const auto family = finding.code.substr(0, 3);
      const bool failed = finding.result == FindingResult::fail;
      const bool lies = contains(k_about_tags, family) && (failed || finding.result == FindingResult::warn);
      const bool was_there = std::ranges::any_of(m_report->findings, [&](const Finding& one) {
        return one.result == FindingResult::fail && one.code == finding.code &&
               base_name(one.where) == base_name(finding.where);
      });
      if (!lies && (!failed || (was_there && !contains(k_about_names, family)))) continue;
      const bool of_member = m_archive.find(finding.where) != nullptr &&
                             finding.message.find(base_name(finding.where)) == std::string::npos;
      return fail(ErrorKind::failed, "RTG006",
                  fmt::format("{} would not be true: {} {}{}", m_after.file_name(), finding.code,
                              of_member ? finding.where + ": " : "", finding.message),
                  finding.hint.empty() ? "sagekit verify --explain " + finding.code : finding.hint);
    }
    return {};
  }

  Result<RetaggedWheel> write() {
    const auto folder = m_options.output_folder.empty() ? m_wheel.parent_path() : m_options.output_folder;
    if (!m_options.output_folder.empty()) TRY(make_directories(folder));
    TRY_ASSIGN(const auto temporary, own_temporary(folder.empty() ? "." : folder, ".sagekit"));
    const auto made = temporary.path() / "wheel.tmp";
    if (const auto front = unchanged_front(); front != 0)
      TRY(write_zip_after(made, m_archive, front, entries(front), text_time()));
    else
      TRY(write_zip(made, entries(0), text_time()));
    std::error_code ignored;
    fs::permissions(made, fs::perms(0644), ignored);
    {
      TRY_ASSIGN(const auto archive, WheelArchive::open(made));
      TRY(judge_texts(archive, m_after.file_name()));
    }
    const bool other_promises = std::ranges::any_of(
        m_changes, [](const RetagChange& change) { return change.field != "version" && change.field != "build"; });
    if (other_promises) TRY(judge_whole(made));
    TRY(check_stop());
    RetaggedWheel result{folder / m_after.file_name(), 0, false, m_changes, m_variant.notes};
    result.size_bytes = fs::file_size(made, ignored);
    TRY_ASSIGN(const bool placed, place_file(made, result.path, true));
    result.unchanged = !placed;
    return result;
  }

  const fs::path& m_wheel;
  const WheelArchive& m_archive;
  const RetagRequest& m_request;
  const RetagOptions& m_options;
  CommandRunner& m_runner;
  WheelName m_before, m_after;
  std::string m_folder, m_metadata, m_wheel_text, m_provenance, m_requires_python;
  std::vector<std::string> m_requirements, m_new_requirements;
  VariantMade m_variant;
  std::optional<WheelReport> m_report;  ///< of the wheel as it is
  std::vector<RetagChange> m_changes;
  std::map<std::string, std::string> m_texts;  ///< by old path
};

}  // namespace

Result<WheelName> retagged_name(const fs::path& wheel, const RetagRequest& request, const RetagOptions& options,
                                CommandRunner& runner) {
  TRY_ASSIGN(const auto archive, WheelArchive::open(wheel));
  return Retag(wheel, archive, request, options, runner).name();
}

Result<RetaggedWheel> retag_wheel(const fs::path& wheel, const RetagRequest& request, const RetagOptions& options,
                                  CommandRunner& runner) {
  TRY_ASSIGN(const auto archive, WheelArchive::open(wheel));
  std::error_code error;
  const bool folder_was_there = options.output_folder.empty() || fs::exists(options.output_folder, error);
  auto retagged = Retag(wheel, archive, request, options, runner).run();
  if (!retagged && !folder_was_there) fs::remove(options.output_folder, error);  // only when it is empty
  // A flag's value is wrong for every wheel; all else is one wheel's.
  if (!retagged && retagged.error().where.empty() && retagged.error().code != "RTG007")
    retagged.error().where = wheel.string();
  return retagged;
}

std::string retag_json(const std::vector<RetaggedWheel>& wheels, const std::vector<Error>& errors) {
  Json json{{"schema", "sagekit.retag/1"}};
  Json& list = json["wheels"] = Json::array();
  for (const auto& wheel : wheels) {
    Json changes = Json::array();
    for (const auto& change : wheel.changes)
      changes.push_back({{"field", change.field}, {"before", change.before}, {"after", change.after}});
    list.push_back({{"path", wheel.path.string()},
                    {"size_bytes", wheel.size_bytes},
                    {"unchanged", wheel.unchanged},
                    {"changes", std::move(changes)},
                    {"notes", wheel.notes}});
  }
  Json& failed = json["errors"] = Json::array();
  for (const auto& error : errors)
    failed.push_back({{"code", error.code}, {"message", error.message}, {"where", error.where}, {"hint", error.hint}});
  return json_text(json);
}

}  // namespace sagekit
